"""Takes the pictures of docs/images/ from the demo's reports in a headless Chromium: `make images`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):  # run as a script: make the sibling modules importable as a package
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.console_blocks import ROOT, reader_folders

# Page of the demo -> the height that shows its answer and its first figures, in CSS pixels.
PICTURES = {"roofline": 1180, "compare": 1180}
WIDTH = 1280


def main() -> int:
    """Write one PNG for each page; says so and fails where there is no Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("error: no chromium on the PATH\nhint: install it (Debian: chromium)", file=sys.stderr)
        return 1
    with reader_folders() as new_folder, tempfile.TemporaryDirectory() as profile:
        pages = new_folder() / "demo_out"
        for name, height in PICTURES.items():
            picture = ROOT / "docs" / "images" / f"{name}.png"
            picture.parent.mkdir(exist_ok=True)
            command = [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
                *("--hide-scrollbars", f"--user-data-dir={profile}", f"--window-size={WIDTH},{height}"),
                *(
                    "--virtual-time-budget=10000",
                    f"--screenshot={picture}",
                    (pages / f"{name}.html").as_uri(),
                ),
            ]
            subprocess.run(command, check=True, capture_output=True)
            print(f"wrote {picture.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

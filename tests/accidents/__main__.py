"""`python -m tests.accidents [KILLS] [SEED]`: ingests killed at random, and what became of their runs."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from npu_roofline.sample_profiles.generate import write_samples

from tests.accidents.processes import SECONDS, Place, kill_at, runs_by_table, state_after

KILLS = 50


def main() -> int:
    """Kill that many ingests: half at any moment, half while they land; 1 when one did harm."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    random = Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        profiles = write_samples(home / "profiles")
        whole = Place(home / "whole.duckdb", home / "scratch")
        assert whole.run("ingest", str(profiles["dense_decode"]), "--run", "first")[0] == 0
        shutil.copy(whole.database, home / "first.duckdb")
        begin = time.monotonic()
        process = whole.start("ingest", str(profiles["moe_decode_before"]), "--run", "killed")
        assert process.wait(SECONDS) == 0
        seconds = time.monotonic() - begin
        expected = runs_by_table(whole.database)
        print(f"one ingest takes {seconds:.1f} s; {kills} are killed", flush=True)
        found, harm = Counter[str](), 0
        for number in range(kills):
            place = Place(home / f"kill_{number}" / "runs.duckdb", home / "scratch")
            place.database.parent.mkdir()
            fresh = number % 4 == 3
            if not fresh:
                shutil.copy(home / "first.duckdb", place.database)
            moment = random.uniform(0, seconds * 1.1) if number % 2 else None
            ended = kill_at(place, profiles["moe_decode_before"], moment, random)
            try:
                state = state_after(place, {"killed": expected["killed"]} if fresh else expected, "killed")
            except Exception as fault:
                harm += 1
                print(f"kill {number} ({ended} at {moment}): {type(fault).__name__}: {fault}", flush=True)
                continue
            found[f"{ended}, run {state}"] += 1
        code, _, _ = whole.run("ingest", str(profiles["moe_decode_before"]), "--replace")
        left = whole.left()
    print(
        f"{dict(sorted(found.items()))}; {harm} databases hurt; then ingest ended with {code} and left {left}"
    )
    return 1 if harm or code or left else 0


if __name__ == "__main__":
    sys.exit(main())

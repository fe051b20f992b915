"""A browser driven over the W3C WebDriver protocol: JSON over loopback HTTP, no package needed for that."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

ELEMENT_KEY = "element-6066-11e4-a52e-4f735466cecf"  # fixed by the W3C specification
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)
STARTUP_SECONDS = 60.0


def browser_missing() -> str:
    """Why no browser can be driven here; empty when one can."""
    names = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(names)}" if names else ""


class Browser:
    """One open browser window."""

    def __init__(self, base: str, capabilities: dict[str, Any]) -> None:
        created = call("POST", f"{base}/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"{base}/session/{created['sessionId']}"

    def open(self, address: str) -> None:
        """Load a page and wait for its load event."""
        call("POST", f"{self.session}/url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns in the page."""
        return call("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector: str) -> dict[str, str]:
        """The first element that a CSS selector matches."""
        return call("POST", f"{self.session}/element", {"using": "css selector", "value": selector})

    def click(self, selector: str) -> None:
        """Click as a person would: the element must be visible and nothing may cover it."""
        call("POST", f"{self.session}/element/{self.find(selector)[ELEMENT_KEY]}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Type text into an input."""
        call("POST", f"{self.session}/element/{self.find(selector)[ELEMENT_KEY]}/value", {"text": text})

    def errors(self) -> list[str]:
        """What the page wrote to the console as an error or warning since the last call."""
        entries = call("POST", f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def wait_for(self, script: str, seconds: float = 10.0) -> bool:
        """Whether a script comes to return something true within the time; figures follow a resize late."""
        until = time.monotonic() + seconds
        while not (reached := bool(self.run(script))) and time.monotonic() < until:
            time.sleep(0.05)
        return reached

    def resize(self, width: int, height: int) -> None:
        """Set the window's outer size."""
        call("POST", f"{self.session}/window/rect", {"width": width, "height": height})

    def quit(self) -> None:
        """Close the window and end the browser."""
        call("DELETE", self.session)


def call(method: str, address: str, body: dict[str, Any] | None = None) -> Any:
    """One command of the protocol; a refused one raises RuntimeError with the driver's words."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    # No proxy: the driver is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as refused:
        raise RuntimeError(json.load(refused)["value"]["message"]) from None


@contextlib.contextmanager
def browser(dark: bool = False) -> Iterator[Browser]:
    """A fresh browser with an empty profile of its own; ends with the driver that started it."""
    with tempfile.TemporaryDirectory() as profile:
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            opened = Browser(f"http://127.0.0.1:{_port(driver)}", _capabilities(profile, dark))
            try:
                yield opened
            finally:
                opened.quit()
        finally:
            driver.terminate()
            driver.wait(timeout=30)


def _capabilities(profile: str, dark: bool) -> dict[str, Any]:
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    return {
        "goog:chromeOptions": {
            "binary": shutil.which("chromium"),
            "args": [*CHROMIUM_FLAGS, scheme, f"--user-data-dir={profile}", "--window-size=1400,1000"],
        },
        "goog:loggingPrefs": {"browser": "ALL"},
    }


def _port(driver: subprocess.Popen[str]) -> int:
    """The port that the driver chose, from the line in which it says so."""
    assert driver.stdout is not None
    until = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < until:
        line = driver.stdout.readline()
        if "successfully on port " in line:  # an earlier line repeats the port asked for, 0
            return int(line.rsplit("on port ", 1)[1].strip().rstrip("."))
        if not line:
            break
    raise RuntimeError("chromedriver ended before it said on which port it listens")

"""The hardware table: one TOML file per SoC, or per group of SoCs that share their numbers.

Top-level keys of a file hold for every SoC in it; each `[[soc]]` entry adds the name and what differs.
A file without `[[soc]]` describes one device, which is also the form of a user's own file.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..errors import UnknownDevice
from .device_model import Device, Quantity, Support, refuse_placeholder

__all__ = [
    "Device",
    "Quantity",
    "Support",
    "all_devices",
    "device_sources",
    "find_devices",
    "load_device",
    "load_device_text",
]

DEVICE_FOLDER = Path(__file__).with_name("devices")
_HINT = "see `npu-roofline devices show 910B3` for a complete description"
_SOURCE_ID = re.compile(r"S\d+")
_ADAPTER = TypeAdapter(Device)


@lru_cache(maxsize=1)
def all_devices() -> tuple[Device, ...]:
    """Every SoC of the hardware table, in order of file name and then of the file."""
    devices: list[Device] = []
    for path in sorted(DEVICE_FOLDER.glob("*.toml")):
        devices.extend(_devices_of(_table(path.read_text(encoding="utf-8"), path.name), path.name))
    return tuple(devices)


@lru_cache(maxsize=1)
def device_sources() -> Mapping[str, str]:
    """Source id -> what it is, for every id that the hardware table cites."""
    text = Path(__file__).with_name("sources.toml").read_text(encoding="utf-8")
    return {name: refuse_placeholder(entry["title"]) for name, entry in tomllib.loads(text).items()}


def load_device(path_or_soc: str | Path) -> Device:
    """The device of a SoC name, an alias, or a TOML file.

    Raises UnknownDevice for a name that is not known or stands for several SoCs, and for a file that
    does not describe exactly one device.
    """
    text = str(path_or_soc)
    found = find_devices(text)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(device.soc for device in found)
        raise UnknownDevice(f"{text!r} stands for several devices", f"say which one: {names}")
    if text.endswith(".toml"):
        try:
            return load_device_text(Path(text).read_text(encoding="utf-8"), text)
        except (OSError, UnicodeDecodeError) as error:
            raise UnknownDevice(f"cannot read the device file {text}: {error}", _HINT) from error
    raise UnknownDevice(
        f"no device is called {text!r}",
        "`npu-roofline devices list` shows the names; or give a TOML file of your own",
    )


def find_devices(name: str) -> tuple[Device, ...]:
    """The SoCs that a name stands for: an exact SoC name first, otherwise every SoC with that alias."""
    wanted = _spelling(name)
    exact = tuple(device for device in all_devices() if _spelling(device.soc) == wanted)
    if exact:
        return exact
    return tuple(
        device
        for device in all_devices()
        if any(fnmatch.fnmatchcase(wanted, _spelling(alias)) for alias in device.aliases)
    )


def load_device_text(toml_text: str, where: str = "the device file") -> Device:
    """The one device that a TOML text describes; raises UnknownDevice naming the field that is wrong."""
    devices = _devices_of(_table(toml_text, where), where)
    if len(devices) != 1:
        raise UnknownDevice(
            f"{where} describes {len(devices)} devices", "keep the one [[soc]] that the run used"
        )
    return devices[0]


def _spelling(name: str) -> str:
    """`Ascend 910B3`, `ascend910b3` and `910B3` are one name."""
    return re.sub(r"[\s_-]+", "", name).lower().removeprefix("ascend")


def _table(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnknownDevice(f"{where} is not valid TOML: {error}", _HINT) from error


def _devices_of(table: dict[str, Any], where: str) -> list[Device]:
    members = table.pop("soc", [{}])
    if isinstance(members, str):  # a file of one device names it at the top
        members = [{"soc": members}]
    elif isinstance(members, list) and all(isinstance(member, dict) for member in members):
        members = [{**member, "soc": member.get("name", "")} for member in members]
    else:
        raise UnknownDevice(f"{where}: soc is neither a name nor a list of [[soc]] tables", _HINT)
    return [_device(table, member, where) for member in members]


def _device(shared: dict[str, Any], member: dict[str, Any], where: str) -> Device:
    own = {name: value for name, value in member.items() if name != "name"}
    merged = {**shared, **own}
    # A SoC's own [absent] adds to that of the file; a number of its own lifts an absence of the file.
    absent = {**shared.get("absent", {}), **own.get("absent", {})}
    merged["absent"] = {name: why for name, why in absent.items() if name not in own}
    for name in own.get("absent", {}):
        merged.pop(name, None)
    try:
        device = _ADAPTER.validate_python(merged)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "device"
        message = first["msg"].removeprefix("Value error, ")
        raise UnknownDevice(f"{where}: {merged.get('soc', '')}: {field}: {message}", _HINT) from error
    _check_sources(device, where)
    return device


def _check_sources(device: Device, where: str) -> None:
    """An id such as S4 must be in sources.toml; free text ("measured on our host") is a user's own
    source.
    """
    known = device_sources()
    for name, quantity in device.quantities():
        for part in quantity.source.split(","):
            if _SOURCE_ID.fullmatch(part.strip()) and part.strip() not in known:
                raise UnknownDevice(
                    f"{where}: {device.soc}: {name}: no source {part.strip()} in sources.toml", _HINT
                )

"""A torch and a torch_npu that record what generated code asks of them, with the rules of each mode."""

from __future__ import annotations

import sys
import types
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


class Tensor:
    """A tensor of so many bytes."""

    def __init__(self, name: str, size: int = 2**30) -> None:
        self.name, self.size = name, size


@dataclass
class Stream:
    """A stream; it notes what was put on it, in order."""

    name: str
    calls: list[tuple[Any, ...]]

    def wait_stream(self, other: Stream) -> None:
        """Wait for everything put on the other stream so far."""
        self.calls.append(("wait_stream", self.name, other.name))

    def record_event(self) -> Event:
        """An event that marks this point."""
        event = Event(self.calls)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Wait for an event that must have been recorded."""
        assert event.recorded is not None, "an event that nobody recorded is waited for"
        self.calls.append(("wait_event", self.name, event.recorded))


@dataclass
class Event:
    """An event; recorded on one stream."""

    calls: list[tuple[Any, ...]]
    recorded: str | None = None

    def record(self, stream: Stream) -> None:
        """Mark this point of the stream."""
        self.recorded = stream.name
        self.calls.append(("record", stream.name))


@dataclass
class FakeNpu:
    """The modules, and the calls made so far: (what, stream, ...)."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    streams: int = 0

    def __post_init__(self) -> None:
        self.main = Stream("main", self.calls)
        self._current = self.main
        npu = types.SimpleNamespace(
            Stream=self._stream,
            Event=lambda: Event(self.calls),
            current_stream=lambda: self._current,
            stream=self._on,
        )
        self.torch = types.ModuleType("torch")
        self.torch.Tensor = Tensor  # type: ignore[attr-defined]
        self.torch.npu = npu  # type: ignore[attr-defined]
        self.torch_npu = types.ModuleType("torch_npu")
        self.torch_npu.npu_prefetch = self._prefetch  # type: ignore[attr-defined]

    def _stream(self) -> Stream:
        self.streams += 1
        return Stream(f"side{self.streams}", self.calls)

    @contextmanager
    def _on(self, stream: Stream):
        before, self._current = self._current, stream
        try:
            yield
        finally:
            self._current = before

    def _prefetch(self, weight: Tensor, dependency: Tensor | None, max_size: int, offset: int = 0) -> None:
        if max_size <= 0 or offset < 0:
            raise ValueError(f"max_size {max_size}, offset {offset}")
        self.calls.append(
            ("prefetch", self._current.name, weight.name, dependency and dependency.name, max_size)
        )

    def load(self, source: str) -> dict[str, Any]:
        """Run a generated module with these modules in place, and return its names."""
        saved = {name: sys.modules.get(name) for name in ("torch", "torch_npu")}
        sys.modules.update(torch=self.torch, torch_npu=self.torch_npu)
        names: dict[str, Any] = {"__name__": "prefetch_plan"}
        module = types.ModuleType("prefetch_plan")
        sys.modules["prefetch_plan"] = module
        try:
            exec(compile(source, "prefetch_plan.py", "exec"), module.__dict__)
        finally:
            for name, old in saved.items():
                if old is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = old
            del sys.modules["prefetch_plan"]
        names.update(module.__dict__)
        return names

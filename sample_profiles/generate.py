"""Writes the sample profiles: the same bytes every time, on every machine.

The right answers, worked by hand, stand in ANSWERS.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import WrongUsage
from .damage import damaged
from .exporter import OUTPUT, export
from .scenario import load_scenario

KERNELS = f"{OUTPUT}/kernel_details.csv"
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Sample:
    """One profile directory: which scenario makes it, and what it is there to show."""

    scenario: str
    variant: str
    shows: str
    alter: Callable[[Texts], Texts] = dict


def _with_damage(texts: Texts) -> Texts:
    return {**texts, KERNELS: damaged(texts[KERNELS])}


def _header_only(texts: Texts) -> Texts:
    """The profiler was stopped before any kernel ran."""
    return {**texts, KERNELS: texts[KERNELS].splitlines(keepends=True)[0]}


def _without_kernels(texts: Texts) -> Texts:
    """A rank of which only the step trace was collected."""
    return {path: text for path, text in texts.items() if path not in (KERNELS, f"{OUTPUT}/op_statistic.csv")}


SAMPLES: Mapping[str, Sample] = {
    "moe_decode_before": Sample(
        "moe_decode.toml", "moe_decode_before", "W8A8 MoE decode, nothing prefetched"
    ),
    "moe_decode_after": Sample(
        "moe_decode.toml", "moe_decode_after", "the same with one prefetch that helped"
    ),
    "dense_decode": Sample(
        "dense_decode.toml", "dense_decode", "bf16 dense decode; one step waits for the host"
    ),
    "prefill": Sample("prefill.toml", "prefill", "4096 tokens: compute-bound products, nothing to prefetch"),
    "level0": Sample(
        "dense_decode.toml", "dense_level0", "profiler level 0: names and times, no shapes, no counters"
    ),
    "broken_rows": Sample("dense_decode.toml", "broken_rows", "damaged rows and a cut end", _with_damage),
    "header_only": Sample("dense_decode.toml", "broken_rows", "a kernel table without rows", _header_only),
    "no_kernels": Sample(
        "dense_decode.toml", "broken_rows", "a rank that holds no kernel table", _without_kernels
    ),
}


def write_samples(folder: Path, names: Iterable[str] | None = None) -> dict[str, Path]:
    """Writes the samples `names` (default: all) into `folder` and returns name -> profile directory.

    Each becomes `<name>_ascend_pt/` in the layout of torch_npu's profiler, over what is there.
    Raises WrongUsage for a name that is not a sample.
    """
    written: dict[str, Path] = {}
    for name in SAMPLES if names is None else names:
        directory = folder / f"{name}_ascend_pt"
        for path, text in sample_texts(name).items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            # Bytes, because text mode would turn line ends into the platform's.
            target.write_bytes(text.encode())
        written[name] = directory
    return written


def sample_texts(name: str) -> dict[str, str]:
    """Path inside the profile directory -> text, for one sample."""
    if name not in SAMPLES:
        raise WrongUsage(f"no sample profile is called {name!r}", f"the samples are: {', '.join(SAMPLES)}")
    sample = SAMPLES[name]
    return dict(sample.alter(export(load_scenario(sample.scenario, sample.variant))))

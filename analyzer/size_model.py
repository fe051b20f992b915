"""The weights of a model from its config.json: matrices by the role rules, storage bytes with NZ padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import WrongUsage
from ..ingest.shapes import Tensor, dtype_info
from ..units import format_bytes
from .model_config import ModelConfig
from .roles import ParallelSizes, Role, rules, symbols_of


@dataclass(frozen=True)
class Stored:
    """A weight as it lies in memory."""

    tensor: Tensor

    @property
    def bytes(self) -> int:
        """Storage bytes, NZ padding included."""
        return self.tensor.storage_bytes or 0

    @property
    def arithmetic(self) -> str:
        """'6144 x 1536 x 2 B, stored as FRACTAL_NZ = 18,874,368 B'."""
        exact = " x ".join(str(dim) for dim in self.tensor.dims)
        padding = f", stored as {self.tensor.format}" if self.tensor.is_nz else ""
        return f"{exact} x {self.tensor.element_bytes:g} B{padding} = {self.bytes:,} B"


def listed_weights(config: ModelConfig, parallel: ParallelSizes, quantised: bool) -> list[tuple[str, Stored]]:
    """Every weight that the config gives, by role, in the order of roles.toml.

    Raises WrongUsage when a dimension does not divide over the ranks that were given.
    """
    symbols = symbols_of(config)
    numbers = {**symbols, **parallel.complete()}
    found: list[tuple[str, Stored]] = []
    for role in rules().roles:
        if not role.listed:
            continue
        matrix = role.matrix(numbers)
        if matrix is None:
            _check_division(role, symbols, parallel)
            continue
        batch, k, n = matrix
        kind = dtype_info(role.dtypes["w8a8" if quantised else "none"])
        assert kind is not None  # roles.toml names known dtypes, held by a test
        dims = (k, n) if batch is None else (batch, k, n)
        found.append((role.name, Stored(Tensor(dims, kind.name, role.format, kind.element_bytes))))
    return found


def _check_division(role: Role, symbols: dict[str, int], parallel: ParallelSizes) -> None:
    """A role that exists on one rank but not on the ranks given does not divide: it is named."""
    ones = dict.fromkeys(rules().sizes, 1)
    if role.matrix({**symbols, **ones}) is None:
        return
    sizes = ", ".join(
        f"{rules().sizes[name]['flag']} {parallel.complete()[name]}" for name in sorted(role.sizes)
    )
    raise WrongUsage(
        f"{role.name} ({role.k.text} x {role.n.text}) does not divide over {sizes}", "check the sizes"
    )


def experts_of(config: ModelConfig, parallel: ParallelSizes) -> tuple[int, int, int, int] | None:
    """Hidden size, intermediate size, experts per rank and tensor parallel size of the experts; None for a
    model without.
    """
    symbols, sizes = symbols_of(config), parallel.complete()
    if not {"hidden", "moe_inter", "routed"} <= symbols.keys():
        return None
    return symbols["hidden"], symbols["moe_inter"], symbols["routed"] // sizes["ep"], sizes["moe_tp"]


def equal_bytes(weights: Sequence[tuple[str, Stored]]) -> list[str]:
    """One sentence per group of weights that have the same bytes: a size alone does not tell them apart."""
    by_bytes: dict[int, list[str]] = {}
    for name, stored in weights:
        by_bytes.setdefault(stored.bytes, []).append(name)
    return [
        f"{', '.join(names)} all have {format_bytes(size, 2)}: K, N and dtype tell them apart, bytes do not."
        for size, names in by_bytes.items()
        if len(names) > 1
    ]

"""How many bytes to ask for: max_size as the minimum of four terms, each shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import WrongUsage
from .answer import MaxSizeTerms
from .options import AnalysisOptions

MIB = 2**20


@dataclass(frozen=True)
class Size:
    """max_size in bytes, aligned and over all calls of a target, with the terms it is the minimum of."""

    max_size: int
    terms: MaxSizeTerms


@dataclass(frozen=True)
class Taken:
    """What the other calls of a plan take from one: window bytes copied before it, L2 bytes that wait."""

    window_bytes: float
    l2_bytes: float


NOTHING_TAKEN = Taken(0.0, 0.0)


def window_bytes(
    spare_bytes: float,
    duration_us: float,
    eta: float,
    options: AnalysisOptions,
    cmo_gb_s: float | None = None,
) -> int:
    """Bytes that arrive before the window ends: eta x spare bandwidth x (duration - start latency).

    spare_bytes: spare bandwidth x duration. cmo_gb_s: measured bandwidth of the copy engine, 1e9 B/s, an
    upper limit to what it gets of the spare bandwidth.
    """
    if duration_us <= 0:
        return 0
    rate = eta * max(0.0, spare_bytes) / duration_us
    if cmo_gb_s is not None:
        rate = min(rate, cmo_gb_s * 1e3)  # 1e9 B/s = 1e3 B/us
    return int(rate * max(0.0, duration_us - options.t_lat_us))


def l2_budget_bytes(l2_bytes: float, working_set_bytes: float, options: AnalysisOptions) -> int:
    """Bytes that may wait in L2: alpha x L2 less what the window itself touches, >= 0."""
    return max(0, int(options.alpha * l2_bytes - working_set_bytes))


def check_coefficient(coefficient: float) -> float:
    """Raise WrongUsage unless 0 < coefficient <= 1; the specification's ladder is 0.5, 0.7, 1.0, back to
    0.3, 0.1.
    """
    if not 0.0 < coefficient <= 1.0:
        raise WrongUsage(
            f"--coefficient {coefficient:g} is not a share of the weight", "use 0.5 first, then 0.7 and 1.0"
        )
    return coefficient


def cap_in_bytes(cap_mib: float | None) -> int | None:
    """The user's cap in bytes; None = no cap. Raises WrongUsage below zero."""
    if cap_mib is None:
        return None
    if not cap_mib > 0:
        raise WrongUsage(f"--cap-mib {cap_mib:g} leaves nothing to prefetch", "give a size above 0, in MiB")
    return int(cap_mib * MIB)


def max_size(
    weight_bytes: int,
    coefficient: float,
    window: int | None,
    l2: int | None,
    cap: int | None,
    options: AnalysisOptions,
) -> Size:
    """Take the smallest of weight x coefficient, window, L2 budget and cap, and align it down.

    weight_bytes: storage bytes, NZ padding included; of a GroupedMatmul the whole weight. window, l2, cap:
    bytes, None where the term does not apply. Of equal terms the first in this order is named.
    """
    terms = {"coefficient": int(weight_bytes * coefficient), "window": window, "l2": l2, "cap": cap}
    known = {name: value for name, value in terms.items() if value is not None}
    limited_by = min(known, key=lambda name: known[name])
    smallest = min(known[limited_by], weight_bytes)
    aligned = smallest - smallest % options.align_bytes
    return Size(aligned, MaxSizeTerms(terms["coefficient"], window, l2, cap, limited_by))


def share_out(budget: int, weights: Sequence[int], options: AnalysisOptions) -> tuple[int, ...]:
    """Split a budget over the weights of one kernel, in the order in which they are read.

    Each weight is filled before the next gets anything: the first load is the one the kernel waits for. A
    share that is too small to be worth a call (256 KiB or less) is left out, so the shares may sum to less
    than the budget.
    """
    shares = []
    left = budget
    for weight in weights:
        share = min(weight, left)
        share -= share % options.align_bytes
        if share <= options.refuse_weight_bytes:
            share = 0
        shares.append(share)
        left -= share
    return tuple(shares)

"""Before and after: which kernels changed, by how much, how sure, and where the step's time went."""

from .difference import compare
from .roofline_moves import RooflineMove, RooflineMoves
from .sentence import regressions
from .sides import Side, open_side

__all__ = ["RooflineMove", "RooflineMoves", "Side", "compare", "open_side", "regressions"]

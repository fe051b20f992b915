"""Before and after: which kernels changed, by how much, how sure, and where the step's time went."""

from .difference import compare
from .sentence import regressions
from .sides import Side, open_side

__all__ = ["Side", "compare", "open_side", "regressions"]

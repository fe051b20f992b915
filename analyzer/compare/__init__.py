"""Before and after: which kernels changed, by how much, how sure, and where the step's time went."""

from .difference import compare
from .document import OptimisationReport, optimisation_report
from .outputs import OutputsComparison, compare_outputs
from .roofline_moves import RooflineMove, RooflineMoves
from .sentence import regressions
from .sides import Side, open_side

__all__ = [
    "OptimisationReport",
    "OutputsComparison",
    "RooflineMove",
    "RooflineMoves",
    "Side",
    "compare",
    "compare_outputs",
    "open_side",
    "optimisation_report",
    "regressions",
]

"""The search for one prefetch as a ledger of experiments: what was tried, what it gave, what to try next."""

from .answers import tune_history, tune_next
from .ledger import experiments_naming
from .record import record_gain, record_pair
from .start import Start, start_tuning

__all__ = [
    "Start",
    "experiments_naming",
    "record_gain",
    "record_pair",
    "start_tuning",
    "tune_history",
    "tune_next",
]

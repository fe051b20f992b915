"""What a kernel has to do, told from its type and operands."""

from __future__ import annotations

from .model import Signature, Weight, Work

__all__ = ["Signature", "Weight", "Work", "work_of"]


def work_of(signature: Signature) -> Work:
    """The work of one occurrence of `signature`, by the model that operators.toml names for its type."""
    raise NotImplementedError

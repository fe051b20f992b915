"""Fused operators: sequences in a capture, and the operators' documentation."""

from .scan import fuse_rules, fuse_scan, scan_rows

__all__ = ["fuse_rules", "fuse_scan", "scan_rows"]

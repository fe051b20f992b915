"""npu-roofline: what limits each kernel of an Ascend NPU profile, and what to do about it."""

__version__ = "0.1.0"

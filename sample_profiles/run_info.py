"""The two JSON files beside the tables: what the profiler was told, and how the run was distributed."""

from __future__ import annotations

from collections.abc import Sequence

from .scenario import Capture
from .timeline import Row


def profiler_info(capture: Capture, rows: Sequence[Row]) -> dict:
    """profiler_info_0.json: what was recorded; `freq` is the system counter, not the core clock."""
    end_ns = max((row.end_ns for row in rows), default=capture.start_ns)
    versions = {"torch_npu_version": capture.torch_npu_version, "cann_version": capture.cann_version}
    return {
        "config": {"common_config": _common(capture), "experimental_config": _experimental(capture)},
        "start_info": {
            "syscnt_enable": True,
            "freq": 100,
            "start_cnt": 470002538790308,
            "start_monotonic": 4699801002845430,
        },
        "end_info": {"collectionTimeEnd": end_ns + 1_000_000, "MonotonicTimeEnd": 4699802061975030},
        **{key: value for key, value in versions.items() if value},
        "rank_id": "0",
    }


def _common(capture: Capture) -> dict:
    schedule = {"wait": 0, "active": capture.steps, "warmup": 1, "repeat": 1}
    return {
        "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
        "schedule": schedule | {"skip_first": capture.first_step - 1},
        "record_shapes": True,
        "profile_memory": False,
        "with_stack": False,
        "with_flops": False,
        "with_modules": False,
    }


def _experimental(capture: Capture) -> dict:
    metrics = "ACL_AICORE_NONE" if capture.level == "Level0" else "ACL_AICORE_PIPE_UTILIZATION"
    return {
        "_profiler_level": capture.level,
        "_aic_metrics": metrics,
        "_l2_cache": False,
        "_msprof_tx": False,
        "_data_simplification": True,
        "record_op_args": False,
        "_export_type": ["text"],
        "_op_attr": False,
        "_gc_detect_threshold": None,
    }


def profiler_metadata(capture: Capture) -> dict:
    """profiler_metadata.json: environment, and parallel sizes where the run was distributed."""
    environment = {"ASCEND_GLOBAL_LOG_LEVEL": "3", "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"}
    if not capture.parallel:
        return {"ENV_VARIABLES": environment}
    return {"distributed_args": {**capture.parallel, "rank": 0}, "ENV_VARIABLES": environment}

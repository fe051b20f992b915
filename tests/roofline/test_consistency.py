"""What all kernels of a run together say about the device."""

from __future__ import annotations

from npu_roofline.roofline.classify import classify
from npu_roofline.roofline.consistency import device_hints
from npu_roofline.roofline.device import load_device
from npu_roofline.roofline.options import RooflineOptions

from tests.roofline.operands import measured, work

OPTIONS = RooflineOptions()


def test_matmuls_above_the_roof_point_to_the_faster_sister() -> None:
    """Two decode matmuls of 178 MB at 1.2 TB/s cannot be a 910B4 of 0.8 TB/s: its B4-1 is likely."""
    b4 = load_device("910B4")
    found = work("MatMul", "1,5120;5120,17408", "1,17408")  # 178.3 MB, more than 1.25 x 96 MiB
    measurement = measured(150.0, 20)
    triple = (found, measurement, classify(found, measurement, b4, OPTIONS))
    assert device_hints(b4, [triple], OPTIONS) == ()
    assert "910B4-1 likely" in device_hints(b4, [triple, triple], OPTIONS)[0]
    b3 = load_device("910B3")
    assert device_hints(b3, [triple, triple], OPTIONS) == ()


def test_contradicted_cubes_are_counted() -> None:
    """Kernels that compute more than their cube was busy put the device in doubt."""
    b4 = load_device("910B4")
    found = work("MatMulV3", "4096,1024;1024,2048", "4096,2048")
    measurement = measured(79.1, 20, core_us=75.0, occupancy=96.4, aic_mac=0.40, aic_mte2=0.83)
    triple = (found, measurement, classify(found, measurement, b4, OPTIONS))
    assert "1 kernel reaches more" in device_hints(b4, [triple], OPTIONS)[0]

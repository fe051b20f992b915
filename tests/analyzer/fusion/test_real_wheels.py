"""`ops` on real torch_npu wheels, which `make wheels` downloads; skipped where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from npu_roofline.analyzer.fusion.opindex import OperatorIndex, build_index
from npu_roofline.analyzer.fusion.ops import ops_search
from npu_roofline.analyzer.fusion.opsource import operator_source
from npu_roofline.analyzer.fusion.rules import rule_book

FOLDER = Path(os.environ.get("NPU_ROOFLINE_WHEELS", Path.home() / ".cache" / "npu-roofline" / "wheels"))
# Version: names with a docstring, npu_ functions without one that are no gradients. A count that leaves out
# only
# names ending in _grad says 80 and 38; _grad_v2 and the bk of old pooling gradients are left out here too.
EXPECTED = {"2.14.0": (217, 74), "2.1.0.post8": (90, 36)}


@pytest.fixture(params=list(EXPECTED))
def real(request: pytest.FixtureRequest) -> OperatorIndex:
    """The index of one real wheel."""
    found = sorted(FOLDER.glob(f"torch_npu-{request.param}-*.whl"))
    if not found:
        pytest.skip(f"torch_npu {request.param} is not in {FOLDER.name} (make wheels)")
    return build_index(operator_source(found[0]))


def test_every_docstring_of_a_real_wheel_is_read(real: OperatorIndex) -> None:
    """No failure in any text, and the number of documented names that an independent count gives."""
    assert real.version is not None
    assert [note for note in real.notes if "parsed" in note or "no " in note] == []
    without = sum(each.status == "schema_only" and not each.is_gradient for each in real.operators.values())
    assert (real.documented, without) == EXPECTED[real.version]


def test_nearly_every_docstring_has_a_description_and_parameters(real: OperatorIndex) -> None:
    """Sections are found in at least nine of ten docstrings, whatever the order of their headings."""
    documented = [each for each in real.operators.values() if each.documented and each.text]
    for kind in ("description", "parameters", "examples"):
        assert sum(kind in each.sections for each in documented) > 0.85 * len(documented), kind


def test_the_calls_of_the_rules_are_functions_of_the_newest_wheel(real: OperatorIndex) -> None:
    """Every call that a rule proposes exists in 2.14.0, by docstring or signature."""
    if real.version != "2.14.0":
        pytest.skip("older wheels lack calls of the rules")
    calls = {call.split(" ")[0] for rule in rule_book().rules for call in (rule.api, *rule.also)}
    assert [call for call in sorted(calls) if call.startswith("npu_") and call not in real.operators] == []


def test_a_search_finds_chinese_text_by_english_words(real: OperatorIndex) -> None:
    """'rotary' is in the name, 'position encoding' in Chinese only: both find npu_rotary_mul, by either
    word.
    """
    for query in ("rope mul", "旋转位置编码 mul"):
        assert "npu_rotary_mul" in [row.name for row in ops_search([real], query).rows], query

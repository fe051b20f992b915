"""Settings of frameworks: no ratio that is read as the whole weight, no setting where none is read."""

from __future__ import annotations

import json
import shlex

import pytest
from npu_roofline.analyzer.plan_settings import setting_rules, settings
from npu_roofline.errors import WrongUsage

from tests.plan.conftest import Planned


def _config(text: str) -> dict:
    words = shlex.split(text.splitlines()[0])
    assert words[0] == "--additional-config"
    return json.loads(words[1])["weight_prefetch_config"]


def _of(found, framework: str):
    return [each for each in found if each.framework == framework]


def test_a_module_has_every_key_and_no_zero_beside_an_active_one(planned: Planned):
    """The zero-ratio trap: in an active module 0 or a missing key fetches all of that weight, uncapped."""
    calls = [call for call in planned().rows if call.role in ("o_proj", "experts.w13")]
    for version in ("0.11.0", "0.13.0", "v0.18.0", "0.23.0"):
        (found,) = _of(settings(calls, version), "vllm-ascend")
        config = _config(found.text)
        modules = config["prefetch_ratio"]
        assert config["enabled"] is True
        assert modules["attn"].keys() == {"qkv", "o"}
        assert modules["attn"]["qkv"] == setting_rules()["silent_ratio"]
        assert 0 < modules["attn"]["o"] <= 1
        # 53,175,808 of 201,326,592 bytes = 0.2641, rounded down
        assert modules["moe"] == {"gate_up": 0.2641}
        for module in modules.values():
            assert all(value == 0 for value in module.values()) or all(
                0 < value <= 1 for value in module.values()
            )


def test_dense_layers_are_set_by_ratio_or_by_environment(planned: Planned):
    """From 0.18 a ratio of gate_up and down; before, bytes in the environment, at most 18 MiB, never 0."""
    calls = [call for call in planned().rows if call.role == "down_proj"]
    new = _config(_of(settings(calls, "0.18.0"), "vllm-ascend")[0].text)["prefetch_ratio"]["mlp"]
    # both places get the smaller of 4,909,568 and 4,862,464 of 20,971,520 bytes
    assert new == {"gate_up": 0.0001, "down": 0.2318}
    old = _of(settings(calls, "0.13.0"), "vllm-ascend")[0].text
    assert "export VLLM_ASCEND_ENABLE_PREFETCH_MLP=1" in old
    assert "export VLLM_ASCEND_MLP_DOWN_PREFETCH_SIZE=4862464" in old
    assert "export VLLM_ASCEND_MLP_GATE_UP_PREFETCH_SIZE=1\n" in old
    assert "mlp" not in _config(old)["prefetch_ratio"]


def test_nothing_planned_turns_everything_off():
    """Without a call every ratio is 0, which is off, and so is the switch."""
    (found,) = _of(settings([], "0.23.0"), "vllm-ascend")
    config = _config(found.text)
    assert config["enabled"] is False
    assert {value for module in config["prefetch_ratio"].values() for value in module.values()} == {0.0}


@pytest.mark.parametrize("version", ["0.24.0", "0.26.0rc1", "main", "0.9.1"])
def test_versions_without_the_feature_get_no_setting(version: str, planned: Planned):
    """From 0.24 the key is ignored, so nothing is written and the reason stands there."""
    (found,) = _of(settings(planned().rows, version), "vllm-ascend")
    assert (found.supported, found.text) == (False, "")
    assert "removed" in found.note or "no setting" in found.note


def test_an_unknown_version_is_refused(planned: Planned):
    """0.2 must not pass for 0.20, nor 0.11 for 0.1: the versions that are known are named."""
    for version in ("0.2", "0.1.1", "1.0"):
        with pytest.raises(WrongUsage, match=r"not known here"):
            settings(planned().rows, version)


def test_the_other_frameworks(planned: Planned):
    """The recipes' switch with multi-streams, omni-npu in whole MB, sglang upstream without a setting."""
    found = settings(planned().rows)
    (recipes,) = _of(found, "cann-recipes-infer")
    assert "enable_multi_streams: 1" in recipes.text
    assert "enable_single_stream" in recipes.note
    (omni,) = _of(found, "omni-npu")
    values = json.loads(omni.text)["operator_opt_config"]
    assert values["expert_gate_up_prefetch"] == 53_175_808 // 2**20
    assert values["shared_expert_gate_up_prefetch"] == 0
    upstream, fork = _of(found, "sglang")
    assert not upstream.supported
    assert "SGLANG_NPU_MOE_PREFETCH_OPS=gmm1,gmm2" in fork.text

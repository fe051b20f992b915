"""Plans: which calls, in which order, for which weights, and what is refused."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.model_config import model_config
from npu_roofline.analyzer.plan import MODES, code_of
from npu_roofline.analyzer.roles import rules
from npu_roofline.analyzer.roles_match import RoleRequest
from npu_roofline.analyzer.roles_user import is_attribute
from npu_roofline.errors import WrongUsage

from tests.plan.conftest import Planned


def test_calls_come_in_the_order_of_a_step(planned: Planned):
    """Twelve candidates of the sample are twelve calls, the earliest dependency first, names unique."""
    answer = planned()
    assert len(answer.rows) == 12
    assert [call.order for call in answer.rows] == list(range(12))
    assert len({call.name for call in answer.rows}) == 12
    issued = [call.row.issue_order for call in answer.rows]
    assert issued == sorted(issued)
    scopes = {call.name: call.scope for call in answer.rows}
    assert scopes["mla_prolog@0"] == "first_layer"  # behind what runs before the layers
    assert scopes["mla_prolog@21"] == "same_layer"
    assert scopes["mla_prolog@0-2"] == "next_layer"  # behind the last product of the layer before
    assert scopes["lm_head@0"] == "last_layer"


def test_some_ids_keep_the_sizes_of_the_whole_plan(planned: Planned):
    """Gate-up behind the MoE alone: 20,971,520 bytes, half of 41,943,040, as `candidates` says."""
    best = max(planned().rows, key=lambda call: call.predicted_saving_step_us)
    answer = planned(best.id[:13])
    assert [call.id for call in answer.rows] == [best.id]
    assert answer.rows[0].max_size == 20_971_520
    assert answer.rows[0].name == "gate_up_proj@17"
    assert answer.rows[0].dependency_role == "experts.w2"


def test_three_views_of_each_call(planned: Planned):
    """Strict has no collective inside, the second may, the third carries at least as much as both."""
    answer = planned()
    for call in answer.rows:
        strict, comm, unsafe = (view for view in answer.extras["views"] if view.name == call.name)
        assert (strict.view, comm.view, unsafe.view) == ("strict", "comm_allowed", "unsafe")
        assert not any("collective" in hazard for hazard in strict.hazards)
        assert (unsafe.max_size or 0) >= max(strict.max_size or 0, comm.max_size or 0)


def test_eager_takes_only_windows_that_are_worth_a_host_call(planned: Planned):
    """Of the sample's windows only those of the MoE last 15 us (42.7 and 68.5 us): two calls."""
    answer = planned(mode="eager")
    assert {call.role for call in answer.rows} == {"gate_up_proj", "experts.w13"}
    assert all(call.row.window.duration_us >= 15 for call in answer.rows)


def test_a_weight_is_named_only_where_it_is_the_only_one(planned: Planned):
    """Two gate_up_proj stand in a layer, so the code must say which; the experts are one."""
    answer = planned()
    named = {call.role: {weight.expression for weight in call.weights} for call in answer.rows}
    assert named["gate_up_proj"] == {None}
    assert named["experts.w13"] == {"layer.mlp.experts.w13_weight"}


def test_nothing_is_planned_for_prefill_and_that_is_said(planned: Planned):
    """The prefill sample has no decode step: no calls, no code, the reason in words."""
    answer = planned(run="prefill")
    assert answer.rows == ()
    assert "prefill" in answer.extras["stopped"]
    with pytest.raises(WrongUsage, match="nothing is proposed"):
        planned("c-12345678", run="prefill")


def test_what_is_no_candidate_is_refused(planned: Planned):
    """An unknown id, mode, language or version: usage errors that name what there is."""
    for wishes in ({"mode": "graph"}, {"lang": "de"}, {"vllm_ascend": "0.1"}):
        with pytest.raises(WrongUsage):
            planned(**wishes)
    with pytest.raises(WrongUsage, match="no row of candidates"):
        planned("c-zzzz")


def test_code_names_of_the_rules_are_attributes():
    """What roles.toml proposes as code is a chain of attributes: it can stand in generated source."""
    for role in rules().roles:
        assert role.code is None or is_attribute(role.code), role.name
    assert code_of("lm_head") == "model.lm_head.weight"
    assert code_of("nobody") is None
    assert MODES == ("eager", "ge_graph", "npugraph_ex")


def test_a_dense_decode_is_planned_as_serving_frameworks_do(planned: Planned):
    """Qwen3-4B sizes: gate_up behind o_proj while the norm runs, down behind gate_up while SwiGLU runs.

    32 + 2 x 8 heads of 128 make the 6144 columns of qkv_proj, behind the down of the layer before.
    """
    config = model_config(
        {
            "hidden_size": 2560,
            "intermediate_size": 9728,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "vocab_size": 151936,
        },
        "config.json",
    )
    answer = planned(run="dense_decode", roles=RoleRequest(config))
    behind = {
        (call.role, call.scope): (call.dependency_role, [each.type for each in call.row.window.kernels])
        for call in answer.rows
    }
    assert behind["gate_up_proj", "same_layer"] == ("o_proj", ["AddRmsNorm"])
    assert behind["down_proj", "same_layer"] == ("gate_up_proj", ["SwiGlu"])
    assert behind["qkv_proj", "next_layer"] == ("down_proj", ["AddRmsNorm"])
    assert {weight.expression for call in answer.rows for weight in call.weights} == {
        "layer.mlp.gate_up_proj.weight",
        "layer.mlp.down_proj.weight",
        "layer.self_attn.qkv_proj.weight",
        "model.lm_head.weight",
    }
    assert [row.role for row in answer.extras["no_window"]] == ["o_proj"]

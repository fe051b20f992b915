"""A real decode capture and a model file of its style: calls of the plan at the lines of the code."""

from __future__ import annotations

from npu_roofline.analyzer.plan import CodeRequest, plan
from npu_roofline.analyzer.roles_match import RoleRequest

from tests.analyzer.test_roles_match import LONGCAT
from tests.plan.model_cases import RECIPE, sites_of


def test_the_real_capture_is_tied(real_session):
    """Longcat with its config: of 12 calls 10 have a line, by order and sizes; two have a reason."""
    with real_session("longcat_910c_decode") as session:
        answer = plan(session, roles=RoleRequest(LONGCAT), code=CodeRequest((RECIPE.file,)))
    sites = sites_of(answer)
    ready = {name for name, site in sites.items() if site.status == "ready"}
    assert ready == {
        "o_proj@4", "router.classifier@8", "experts.w13@12", "experts.w2@14", "down_proj@19", "mla_prolog@21",
        "o_proj@25", "gate_up_proj@28", "down_proj@30", "mla_prolog@0",
    }  # fmt: skip
    assert all(sites[name].reason.startswith("tied by order and sizes") for name in ready)
    assert sites["mla_prolog@0"].weight == "next_layer.self_attn[0].q_a_proj.weight"
    assert sites["router.classifier@8"].guard == "not is_prefill"

"""Calls tied to lines: which line, weight and tensor; and what the code does not tell, with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.modelcode.codebase import read_code
from npu_roofline.analyzer.modelcode.trace import trace_layer
from npu_roofline.analyzer.modelcode.tree import layers_of

from tests.analyzer.test_roles_match import LONGCAT
from tests.plan.conftest import Planned
from tests.plan.model_cases import RECIPE, VLLM, applied, line_of, sites_of

RANKS = {"attn_tp": 8, "dense_tp": 1, "ep": 8, "moe_tp": 1, "head_tp": 8}


def _weights(file: Path, numbers: dict[str, int], ranks: dict[str, int]):
    base = read_code([file])
    (layer,) = layers_of(base, numbers, ranks)
    return {
        weight.path: (weight.batch, weight.k, weight.n)
        for op in trace_layer(base, layer, ranks, numbers).ops
        for weight in op.uses
    }


def test_sizes_come_from_the_config_and_the_ranks():
    """Longcat over 8: o_proj 64 x 128 / 8 = 1024 rows, q_b 64 x 192 / 8 = 1536 columns, 256 / 8 experts."""
    found = _weights(RECIPE.file, dict(LONGCAT.numbers), RANKS)
    assert found["self_attn[1].o_proj.weight"] == (None, 1024, 3072)
    assert found["self_attn[0].q_b_proj.weight"] == (None, 1536, 1536)
    assert found["self_attn[0].kv_a_proj_with_mqa.weight"] == (None, 3072, 576)
    assert found["mlps[1].gate_up_proj.weight"] == (None, 3072, 12288)
    assert found["mlp.router.classifier.weight"] == (None, 3072, 384)
    assert found["mlp.w13"] == (32, 3072, 2048)
    assert found["mlp.w2"] == (32, 1024, 3072)


def test_sizes_are_passed_through_constructors():
    """vLLM hands numbers on: qkv (32 + 2 x 8) / 4 x 128 = 1536 columns, down 9728 / 4 rows."""
    found = _weights(VLLM.file, VLLM.config, {"attn_tp": 4, "dense_tp": 4})
    assert found["self_attn.qkv_proj.weight"] == (None, 2560, 1536)
    assert found["mlp.down_proj.weight"] == (None, 2432, 2560)
    assert found["mlp.gate_up_proj.weight"] == (None, 2560, 4864)


def test_what_no_config_says_is_not_known():
    """Without numbers there are weights, and no sizes: none is taken from a default."""
    found = _weights(RECIPE.file, {}, {})
    assert found["mlps[0].down_proj.weight"] == (None, None, None)


def test_calls_are_tied_to_their_lines(planned: Planned):
    """The weight, where it is made and used, the dependency and its tensor, by hand from the files."""
    file = RECIPE.file
    sites = sites_of(RECIPE.plan(planned))
    down = sites["down_proj@19"]
    assert (down.status, down.weight, down.tensor) == ("ready", "self.down_proj.weight", "merged_x")
    assert down.place == down.dependency == line_of(file, "merged_x, pertoken_scale = self.gate_up_proj")
    assert down.made_at == line_of(file, "self.down_proj = RowParallelLinear")
    assert down.target == line_of(file, "down_out = self.down_proj(")
    # o_proj's all-reduce is what the attention returns: its output has a name in the layer.
    second = sites["gate_up_proj@28"]
    assert (second.weight, second.tensor) == ("self.mlps[1].gate_up_proj.weight", "hidden_states")
    assert second.place == line_of(file, "hidden_states = self.self_attn[1](")
    assert second.dependency == line_of(file, "dist.all_reduce(output)")
    assert (second.guard, down.guard) == ("not is_prefill", "not is_prefill")
    assert sites["experts.w2@14"].guard == "the branch around it"


def test_a_line_that_serves_two_places_takes_the_smaller_size(planned: Planned):
    """Both MLPs run the same line: it asks for the smaller of the two planned sizes, and says so."""
    answer = RECIPE.plan(planned)
    sites = sites_of(answer)
    planned_sizes = [call.max_size for call in answer.rows if call.role == "down_proj"]
    assert len(set(planned_sizes)) == 2
    assert {sites[name].max_size for name in ("down_proj@19", "down_proj@30")} == {min(planned_sizes)}
    assert "serves down_proj@30 too" in sites["down_proj@19"].reason


def test_a_line_that_also_runs_elsewhere_says_so(planned: Planned):
    """One call of the plan alone: its line runs for the other MLP as well, for which nothing is planned."""
    one = next(call.id for call in RECIPE.plan(planned).rows if call.name == "down_proj@19")
    answer = RECIPE.plan(planned, ids=(one,))
    (site,) = answer.extras["code"]
    assert "also runs for self.mlps[1], for which this plan has no call" in site.reason


@pytest.mark.parametrize(
    ("name", "reason", "at"),
    [
        (
            "gate_up_proj@17",
            "followed by torch_npu.npu_moe_distribute_combine_v2",
            "out = torch_npu.npu_moe_dist",
        ),
        ("mla_prolog@0", "the dependency runs before the layers", "class SketchDecoderLayer"),
        ("lm_head@0", "the target runs behind the layers", "class SketchDecoderLayer"),
    ],
)
def test_what_is_not_told_has_its_line_and_reason(name: str, reason: str, at: str, planned: Planned):
    """A dependency in another function, a target outside of the layers: listed, no call is written."""
    site = sites_of(RECIPE.plan(planned))[name]
    assert site.status == "unresolved"
    assert reason in site.reason
    assert site.place == line_of(RECIPE.file, at)
    assert site.tensor is None


def test_one_module_or_another_is_told_by_the_kernels(planned: Planned, tmp_path: Path):
    """Experts or a dense MLP, by the number of the layer: both are read, and the kernels show experts."""
    old = "        self.mlp = SketchMoE(config, infer_config)\n"
    either = (
        "        if layer_idx < config.first_dense:\n            self.mlp = SketchMLP(config, infer_config)\n"
        "        else:\n    " + old
    )
    sites = sites_of(RECIPE.plan(planned, RECIPE.copied(tmp_path, **{old: either})))
    assert sites["experts.w2@14"].weight == "self.w2"
    assert sites["experts.w2@14"].status == "ready"
    inline = "        self.mlp = (SketchMoE if layer_idx else SketchMLP)(config, infer_config)\n"
    (tmp_path / "inline").mkdir()
    sites = sites_of(RECIPE.plan(planned, RECIPE.copied(tmp_path / "inline", **{old: inline})))
    assert (
        sites["experts.w2@14"].status == "unresolved"
    )  # a class that is chosen while it runs is not followed


CHANGES = {
    "a branch that nothing decides": (
        RECIPE, {"        merged_x, pertoken_scale = self.gate_up_proj(x, out_dtype=torch.int32)\n":
                 "        if self.fancy:\n            merged_x, pertoken_scale = self.gate_up_proj(x, 1)\n"
                 "        else:\n            merged_x, pertoken_scale = self.gate_up_proj(x, 2)\n"},
        "down_proj@19", "several ways",
    ),
    "an output without a name": (
        VLLM, {"        gate_up, _ = self.gate_up_proj(x)\n        x = self.act_fn(gate_up)\n":
               "        x = self.act_fn(self.gate_up_proj(x)[0])\n"},
        "down_proj@11", "has no name",
    ),
    "one statement": (
        VLLM, {"        gate_up, _ = self.gate_up_proj(x)\n        x = self.act_fn(gate_up)\n"
               "        x, _ = self.down_proj(x)\n":
               "        x, _ = self.down_proj(self.act_fn(self.gate_up_proj(x)[0]))\n"},
        "down_proj@11", "stand in one statement",
    ),
    "another size": (
        VLLM, {"Linear(\n            intermediate_size,": "Linear(\n            2 * intermediate_size,"},
        "down_proj@11", "19456 x 2560 by the code",
    ),
    "two weights of a role": (
        VLLM, {"        x, _ = self.down_proj(x)\n": "        x, _ = self.down_proj(x)\n" * 2},
        "down_proj@11", "weights are a down_proj",
    ),
    "no word for decode": (
        RECIPE, {"def forward(self, x, is_prefill=False):": "def forward(self, x, phase=None):"},
        "down_proj@19", "whether it is decode",
    ),
    "no config for the switch": (
        VLLM, {"def __init__(self, config, cache": "def __init__(self, numbers, cache",
               "config.hidden_size": "numbers.hidden_size"},
        "gate_up_proj@9", "no config reaches",
    ),
    "a class of two meanings": (
        VLLM, {"class OutlineModel": "class OutlineMLP(nn.Module):\n    pass\n\n\nclass OutlineModel"},
        "down_proj@11", "none is known",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_nothing_is_guessed(what: str, planned: Planned, tmp_path: Path):
    """Each change takes one fact away: the call gets a reason with a line, and no place in the patch."""
    case, changes, name, reason = CHANGES[what]
    file = case.copied(tmp_path, **changes)
    answer = case.plan(planned, file)
    site = sites_of(answer)[name]
    assert site.status in ("unresolved", "tied"), site
    assert reason in site.reason
    assert site.place.split(":")[0] == file.name
    patch = answer.extras["patch"]
    assert patch is None or f"prefetch(self.{site.role}.weight" not in patch.text


def test_a_prefetch_of_the_code_is_reported_and_not_repeated(planned: Planned, tmp_path: Path):
    """The weight is fetched by the code already: no second call, its line is named."""
    call = "        torch_npu.npu_prefetch(self.down_proj.weight.data, x, 1024)\n"
    file = RECIPE.copied(tmp_path, **{"        merged_x, p": f"{call}        merged_x, p"})
    answer = RECIPE.plan(planned, file)
    site = sites_of(answer)["down_proj@19"]
    assert (site.status, site.place) == ("prefetched", line_of(file, "npu_prefetch"))
    (found,) = answer.extras["prefetch_calls"]
    assert (found.place, found.weight, found.twice) == (site.place, "self.down_proj.weight.data", ())
    assert "self.down_proj.weight," not in answer.extras["patch"].text


def test_a_wrapper_and_the_next_layer_are_understood(planned: Planned, tmp_path: Path):
    """A recipe's wrapper has the switch first; next_layer.x is x of every layer."""
    old = "        down_proj = self.mlps[1]("
    call = "        npu_prefetch(self.on, next_layer.self_attn[0].q_a_proj.weight.data, x, 1024, 0)\n"
    own = "        super().__init__()\n        self.layer_idx"
    switch = (
        "        super().__init__()\n        self.enable_prefetch = layer_idx > 0\n        self.layer_idx"
    )
    file = RECIPE.copied(tmp_path, **{old: call + old, own: switch})
    answer = RECIPE.plan(planned, file)
    site = sites_of(answer)["mla_prolog@0-2"]
    assert (site.status, site.place) == ("prefetched", line_of(file, "npu_prefetch(self.on"))
    after = applied(file, answer.extras["patch"].text, tmp_path)
    layer = after[after.index("class SketchDecoderLayer") : after.index("class SketchModel")]
    assert layer.count("self.enable_prefetch = ") == 1  # the switch that is there is used
    assert "if self.enable_prefetch and not is_prefill:" in layer


def test_a_weight_fetched_twice_is_named(planned: Planned, tmp_path: Path):
    """Two calls in a row for one weight; one in each arm of a branch is one call a step, and no fault."""
    one = "torch_npu.npu_prefetch(self.down_proj.weight, x, 1024)"
    twice = f"        {one}\n        {one}  # again\n"
    file = RECIPE.copied(tmp_path, **{"        merged_x, p": f"{twice}        merged_x, p"})
    first, second = RECIPE.plan(planned, file).extras["prefetch_calls"]
    assert first.twice == (line_of(file, "# again"),)
    assert second.twice == ()
    arms = f"        if self.fancy:\n            {one}\n        else:\n            {one}\n"
    (tmp_path / "arms").mkdir()
    file = RECIPE.copied(tmp_path / "arms", **{"        merged_x, p": f"{arms}        merged_x, p"})
    assert [each.twice for each in RECIPE.plan(planned, file).extras["prefetch_calls"]] == [(), ()]


def test_without_a_config_the_order_alone_ties(planned: Planned):
    """No config: roles by neighbours, no sizes; what is tied says that the sizes are not told."""
    answer = VLLM.plan(planned, config=False)
    site = sites_of(answer)["down_proj@11"]
    assert (site.status, site.reason.split("; ")[1]) == ("ready", "sizes are not told")
    assert any("without --model-config" in note for note in answer.notes)

"""Roles by ranges and call stacks: which text names which role, and what the matrix says to it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.labels import labelled_groups, labelled_positions
from npu_roofline.analyzer.model_config import model_config
from npu_roofline.analyzer.role_names import NO_NAMES, TraceName, TraceNames, name_rules, named, trace_names
from npu_roofline.analyzer.roles import ParallelSizes, rules
from npu_roofline.analyzer.roles_match import RoleRequest, name_roles
from npu_roofline.analyzer.roles_user import UserRole

from .kernels import back_to_back, kernel, sequence
from .tiny_run import Kernel, session_of

# hidden 4096, 12288 inner, 32 heads, 8 KV heads of 128; over 4 ranks o_proj is 1024 x 4096, down 3072 x 4096
QWEN = model_config(
    {
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
    },
    "config.json",
)
OVER_4 = RoleRequest(QWEN, ParallelSizes.of(tp=4))


@pytest.mark.parametrize(
    ("column", "text", "roles"),
    [
        ("mstx_range", "model.layers.#.mlp.gate_up_proj", ("gate_up_proj",)),
        ("mstx_range", "layers/#/mlp/down_proj", ("down_proj",)),
        ("mstx_range", "layers.#.mlp.shared_experts.down_proj", ("shared_experts.down_proj",)),
        ("mstx_range", "layers.#.mlp.experts.#.down_proj", ("experts.w2",)),
        ("mstx_range", "layers.#.mlp.experts", ("experts.w13", "experts.w2")),
        ("mstx_range", "layers.#.mlp.gate", ("router.classifier",)),
        ("module", "QKVParallelLinear", ("qkv_proj",)),
        ("module", "AscendFusedMoE", ("experts.w13", "experts.w2")),
        ("module", "DeepseekV3TopkRouter", ("router.classifier",)),
        ("module", "LogitsProcessor", ("lm_head",)),
        ("call_stack", "/a/qwen.py(123): forward self.o_proj\n/a/qwen.py(300): forward", ("o_proj",)),
        ("call_stack", "/a/linear.py(114): forward\n/a/qwen3.py(330): compute_logits", ("lm_head",)),
        ("python_function", "mla.py(50): q_a_proj_and_norm_q_a_proj", None),  # a part of a word is no name
        ("module", "Linear", None),
        ("module", "Qwen3Attention", None),
        ("call_stack", "/o_proj/qwen.py(123): forward", None),  # a folder
        ("mstx_range", "step #", None),
    ],
)
def test_names_of_roles(column: str, text: str, roles: tuple[str, ...] | None):
    """The text on the left names the roles on the right, or nothing."""
    found = named({column: text})
    assert (found and found.roles) == roles


def test_the_best_evidence_goes_first():
    """A range before the stack; one that fits several roles gives way to a stack that names one of them."""
    both = {"mstx_range": "layers.#.self_attn.o_proj", "call_stack": "a.py(1): down_proj"}
    assert named(both) == TraceName(("o_proj",), "module range layers.#.self_attn.o_proj")
    wide = {"module": "RowParallelLinear", "call_stack": "a.py(1): down_proj"}
    assert named(wide) == TraceName(("down_proj",), "call stack a.py(1): down_proj")


def test_every_name_is_one_of_the_roles_and_has_a_source():
    """A misspelt role would contradict every matrix."""
    known = {role.name for role in rules().roles}
    for rule in name_rules():
        assert set(rule.roles) <= known
        assert rule.source
        assert rule.where <= {"range", "stack"}
        assert rule.where


def _matmul(name: str, k: int, n: int):
    made = kernel(name, 10.0, k * n, "matmul", weights=[k * n])
    return replace(made, work=replace(made.work, k=k, n=n))


def _one(k: int, n: int, told: TraceName | None, request: RoleRequest):
    """The names of one MatMul between kernels that say nothing, of which the trace says `told`."""
    target = _matmul("MatMul", k, n)
    places = [kernel("Cast", 2.0), target, kernel("Add", 2.0)]
    kernels = sequence(places, [back_to_back([(0, 2.0), (1, 10.0), (2, 2.0)])])
    group = kernels.places[1]
    names = {} if told is None else {(group.signature_id, group.part, group.position): told}
    return name_roles(kernels, request, TraceNames(names))


def test_a_range_that_the_matrix_agrees_with():
    """1024 x 4096 over 4 ranks is o_proj, whose neighbours are not there; range and matrix agree."""
    found = _one(1024, 4096, TraceName(("o_proj",), "module range x.o_proj"), OVER_4)
    assert found.by_place[1].name == "o_proj"
    assert found.by_place[1].source == "module range x.o_proj, confirmed by shape, not neighbours"


def test_a_range_narrows_what_the_matrix_leaves_open():
    """4096 x 256 is k_proj or v_proj; the class of several roles leaves of two the one that fits."""
    told = TraceName(("o_proj", "down_proj"), "module range RowParallelLinear")
    found = _one(3072, 4096, told, OVER_4)
    assert (found.by_place[1].name, found.by_place[1].alternatives) == ("down_proj", ())


def test_a_contradiction_decides_nothing_and_is_said():
    """The range says o_proj (1024 x 4096), the matrix 3072 x 4096 is down_proj's: no role, both named."""
    found = _one(3072, 4096, TraceName(("o_proj",), "module range x.o_proj"), OVER_4)
    assert found.of(1) is None
    (note,) = [each for each in found.notes if "contradict" in each]
    assert "module range x.o_proj says o_proj" in note
    assert "down_proj" in note


def test_a_matrix_that_is_no_role_contradicts_too():
    """777 x 4096 is nothing of this model, and o_proj would be 1024 x 4096: said, and not named."""
    found = _one(777, 4096, TraceName(("o_proj",), "module range x.o_proj"), OVER_4)
    assert found.of(1) is None
    assert any("which the config.json makes 1024 x 4096" in note for note in found.notes)


def test_without_a_config_the_range_names_it():
    """Nothing contradicts: the name is the range's, with its source; several roles are all named."""
    one = _one(777, 4096, TraceName(("o_proj",), "module range x.o_proj"), RoleRequest())
    assert (one.by_place[1].name, one.by_place[1].source) == ("o_proj", "module range x.o_proj")
    several = _one(777, 4096, TraceName(("o_proj", "down_proj"), "module range R"), RoleRequest())
    assert several.by_place[1].alternatives == ("down_proj",)
    assert any("or down_proj" in note for note in several.notes)


def test_the_users_name_overrides_and_silences_the_contradiction():
    """Her roles.toml says what it is: no note asks her to."""
    user = UserRole("mine", "roles.toml", k=3072)
    found = _one(3072, 4096, TraceName(("o_proj",), "x"), replace(OVER_4, user=(user,)))
    assert found.by_place[1].name == "mine"
    assert not any("contradict" in note for note in found.notes)


ORIGIN = "INSERT INTO kernel_origins VALUES (1, 0, ?, ?, 'aten::linear', 'aclnnMatmul', ?, ?, ?, ?)"
SHAPES = ("4,1024;1024,4096", "BF16", "4,4096")


def _traced(*texts: tuple[str | None, str | None, str | None, str | None]):
    """One MatMul per text: module, mstx range, source, where the source is from."""
    session = session_of(
        Kernel(
            start=20.0 * n,
            duration=9.0,
            type="MatMulV2",
            core="AI_CORE",
            shapes=SHAPES,
            extra={"part": "layer", "layer": n, "position": 0, "sequence_index": n},
        )
        for n in range(len(texts))
    )
    for number, text in enumerate(texts):
        session.con.execute(ORIGIN, [number, 100 + number, *text])
    session.con.execute(
        "INSERT INTO torch_ops BY NAME "
        "SELECT 1 AS run_id, 0 AS rank_id, 100 AS op_id, 'aten::linear' AS name, "
        "'/a/linear.py(114): forward' || chr(10) || '/a/qwen3.py(9): compute_logits' AS call_stack"
    )
    return session


def _names(session) -> TraceNames:
    """Names of the only signature, at position 0 of the layers."""
    (signature,) = session.con.execute("SELECT DISTINCT signature_id FROM selected_kernels").fetchone()
    return trace_names(session, [kernel("MatMulV2", 9.0, position=0, signature_id=signature)])


def test_layers_of_one_place_share_a_name():
    """Layers 3 and 4 differ in the number only, which is shown as #; w13 keeps its own."""
    experts = [(None, f"layer{n}/mlp/experts/w13", None, None) for n in (3, 4)]
    (found,) = _names(_traced(*experts)).by_place.values()
    assert found == TraceName(("experts.w13",), "module range layer#/mlp/experts/w13")
    ranges = [(None, f"model.layers.{n}.self_attn.o_proj", None, None) for n in (3, 4)]
    (found,) = _names(_traced(*ranges)).by_place.values()
    assert found == TraceName(("o_proj",), "module range model.layers.#.self_attn.o_proj")


def test_a_frame_farther_out_names_it():
    """The stack of operator 100 begins in linear.py, and goes on in compute_logits, which is lm_head."""
    (found,) = _names(_traced((None, None, "/a/linear.py(114): forward", "call stack"))).by_place.values()
    assert found == TraceName(("lm_head",), "call stack qwen3.py(9): compute_logits")


def test_names_that_disagree_are_said_and_none_is_taken():
    """One occurrence in o_proj, one in down_proj, at the same place: no name, both counted."""
    found = _names(_traced((None, "a.o_proj", None, None), (None, "a.down_proj", None, None)))
    assert found.by_place == {}
    assert "o_proj by module range a.o_proj (1)" in found.notes[0]


def test_the_line_of_a_forward_operator_is_not_that_of_the_kernel():
    """A backward kernel has the line of its forward operator: it names nothing."""
    assert _names(_traced((None, None, "/a/q.py(1): o_proj", "forward operator"))).by_place == {}


def test_candidates_show_the_evidence():
    """From the tables to the row: the role is the range's, and its source is shown."""
    session = _traced(*[("nn.Module: QKVParallelLinear_7", None, None, None)] * 3)
    found = candidates(session, roles=RoleRequest(user=(UserRole("nobody", "roles.toml", k=1),)))
    (row,) = found.extras["roles"]
    assert (row.role, row.source) == ("qkv_proj", "module range QKVParallelLinear")


def test_a_real_capture_with_call_stacks_and_modules_names_nothing_by_chance(real_session):
    """AlexNet has nn.Module: Linear_0 and alexnet.py(51): forward around its matmuls: no decoder role."""
    with real_session("d02_text_level1") as session:
        groups = [group for group in labelled_positions(session) if group.work.family == "matmul"]
        groups += [group for group in labelled_groups(session) if group.work.family == "matmul"]
        assert len(groups) >= 9
        assert trace_names(session, groups) == NO_NAMES


def test_a_name_without_end_is_read_and_shown_from_its_end() -> None:
    """A million characters before the part that tells: 500 are shown; before those nothing is looked for."""
    found = named({"module": "a." * 500_000 + "mlp.down_proj"})
    assert found is not None
    assert found.roles == ("down_proj",)
    assert len(found.source) == len("module range …") + 500
    assert named({"module": "o_proj." + "a" * 501}) is None
    # The cut is inside a word: what stands behind it is no word of its own.
    assert named({"module": "x" * 20 + "o_proj" + "." * 494}) is None

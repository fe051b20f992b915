"""Roles of kernels: matrix and neighbours, inferred sizes, ambiguity said, the user's own names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.hotspots import hotspot_rows
from npu_roofline.analyzer.model_config import model_config
from npu_roofline.analyzer.role_rows import role_rows
from npu_roofline.analyzer.roles import ParallelSizes, rules
from npu_roofline.analyzer.roles_match import _REACH, RoleRequest, name_roles
from npu_roofline.analyzer.roles_user import read_user_roles
from npu_roofline.errors import InputMissing, WrongUsage

from tests.analyzer.kernels import back_to_back, kernel, sequence

# A dense model: hidden 4096, 12288 inner, 32 heads and 8 KV heads of 128, split over 4 ranks.
QWEN = model_config(
    {
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
    },
    "config.json",
)
# What longcat's shapes say: 8 heads a rank (64 over 8), q_lora 1536, 32 experts of 1024 a rank, 256 + 128
# routed to, n-gram tables of 3072 / 12 = 256 columns, vocabulary 131072 over 8.
LONGCAT = model_config(
    {
        "hidden_size": 3072,
        "ffn_hidden_size": 6144,
        "expert_ffn_hidden_size": 1024,
        "num_layers": 14,
        "num_attention_heads": 64,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "n_routed_experts": 256,
        "zero_expert_num": 128,
        "vocab_size": 131072,
        "emb_neighbor_num": 4,
        "emb_split_num": 4,
    },
    "config.json",
)


def _matmul(name: str, k: int, n: int, us: float = 10.0):
    made = kernel(name, us, k * n, "matmul", weights=[k * n])
    return replace(made, work=replace(made.work, k=k, n=n))


def _layer(*places):
    return sequence(places, [back_to_back([(number, 10.0) for number in range(len(places))])])


def _dense():
    return _layer(
        kernel("AddRmsNorm", 5.0),
        _matmul("qkv", 4096, (8 + 2 * 2) * 128),
        kernel("RotaryMul", 5.0),
        kernel("FusedInferAttentionScore", 9.0, family="attention"),
        _matmul("o", 1024, 4096),
        kernel("AddRmsNorm2", 5.0),
        _matmul("gate_up", 4096, 2 * 12288 // 4),
        kernel("SwiGlu", 5.0),
        _matmul("down", 12288 // 4, 4096),
    )


def test_a_dense_layer_is_named_and_its_split_inferred():
    """4096 x 1536 is (8 + 2 x 2) x 128 columns: four ranks; all four products of the layer get a name."""
    found = name_roles(_dense(), RoleRequest(QWEN))
    assert [found.by_place[place].name for place in (1, 4, 6, 8)] == [
        "qkv_proj", "o_proj", "gate_up_proj", "down_proj",
    ]  # fmt: skip
    assert (found.sizes["attn_tp"], found.sizes["dense_tp"]) == (4, 4)
    assert {found.by_place[place].source for place in (1, 4, 6, 8)} == {"shape and neighbours"}
    assert any(note.startswith("--tp 4 is inferred") for note in found.notes)


def test_a_wrong_size_names_nothing_by_shape():
    """Over 2 ranks no matrix fits, one by chance (half of gate_up): neighbours name them, and say so."""
    found = name_roles(_dense(), RoleRequest(QWEN, ParallelSizes.of(tp=2)))
    assert {found.by_place[place].source for place in (4, 6, 8)} == {"neighbours"}
    assert found.by_place[6].alternatives == ("gate_proj or up_proj",)


def test_without_a_config_the_neighbours_speak():
    """Before SwiGlu is gate_up, behind it down, behind attention o_proj: low evidence, named as such."""
    found = name_roles(_dense(), RoleRequest())
    named = {place: (role.name, role.source) for place, role in found.by_place.items()}
    assert named[6] == ("gate_up_proj", "neighbours")
    assert named[8] == ("down_proj", "neighbours")
    assert named[4] == ("o_proj", "neighbours")
    assert found.sizes == {}


def test_equal_matrices_are_named_with_their_alternatives():
    """16 heads and 16 KV heads of 128: q, k and v of a hidden size of 2048 are all 2048 x 2048."""
    config = model_config(
        {"hidden_size": 2048, "intermediate_size": 2048, "num_attention_heads": 16, "head_dim": 128}, "x"
    )
    kernels = _layer(kernel("Cast", 2.0), _matmul("what", 2048, 2048), kernel("Add", 2.0))
    found = name_roles(kernels, RoleRequest(config, ParallelSizes.of(tp=1, dense_tp=2)))
    role = found.by_place[1]
    assert (role.name, role.alternatives) == ("q_proj", ("k_proj or v_proj",))
    assert any("or " in note and "what" in note for note in found.notes)


def test_parallel_sizes_that_fit_as_well_are_said():
    """Hidden 2048, 4096 inner: 2048 x 2048 is down_proj over 2 ranks, or gate_up_proj over 4 (2 x 4096 / 4).

    10 us each way: 2 is taken, 4 is said.
    """
    config = model_config({"hidden_size": 2048, "intermediate_size": 4096, "num_attention_heads": 16}, "x")
    kernels = _layer(kernel("SwiGlu", 2.0), _matmul("what", 2048, 2048), kernel("SwiGlu", 2.0))
    found = name_roles(kernels, RoleRequest(config, ParallelSizes({"attn_tp": 1, "head_tp": 1})))
    assert found.sizes["dense_tp"] == 2
    assert "--dense-tp 2 is inferred from the shapes; 4 would fit as well. Give --dense-tp to settle it." in (
        found.notes
    )


def test_a_parallel_size_that_fits_less_of_the_time_is_said():
    """down_proj over 2 ranks takes 20 us, over 4 ranks 15 us: 2 is taken, 4 names three quarters of that."""
    config = model_config({"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16}, "x")
    layer = [kernel("SwiGlu", 2.0), _matmul("a", 2048, 1024, 20.0), kernel("SwiGlu", 2.0)]
    layer += [_matmul("b", 1024, 1024, 15.0)]
    found = name_roles(_layer(*layer), RoleRequest(config, ParallelSizes({"attn_tp": 1, "head_tp": 1})))
    assert found.sizes["dense_tp"] == 2
    assert any("others fit part of the kernel time that it names: 4 for 75%" in note for note in found.notes)


def test_the_users_names_win(tmp_path: Path):
    """A roles.toml names by shapes, position or matrix; one that matches nothing is reported."""
    file = tmp_path / "roles.toml"
    file.write_text(
        '[[kernel]]\nrole = "my_proj"\nk = 1024\nn = 4096\nweight = "layer.attn.o.weight"\n'
        '[[kernel]]\nrole = "nobody"\nk = 7\n',
        encoding="utf-8",
    )
    found = name_roles(_dense(), RoleRequest(QWEN, user=read_user_roles(file)))
    assert (found.by_place[4].name, found.by_place[4].source) == ("my_proj", "roles.toml")
    assert found.by_place[4].expression == "layer.attn.o.weight"
    assert any("nobody matches no" in note for note in found.notes)


@pytest.mark.parametrize(
    "text",
    [
        "kernel = 3",
        "[[kernel]]\nrole = 'x'",
        "[[kernel]]\nk = 3",
        "[[kernel]]\nrole = 'x'\nk = 'y'",
        "[[kernel]]\nrol = 'x'",
        "[[kernel]]\nrole = 'x'\nk = 1\nweight = 'layer.f()'",
        "{",
    ],
)
def test_a_file_that_names_nothing_is_refused(tmp_path: Path, text: str):
    """No role, no selector, a misspelt key, a wrong type: usage errors that name the file."""
    file = tmp_path / "roles.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WrongUsage, match=r"roles\.toml"):
        read_user_roles(file)
    with pytest.raises(InputMissing):
        read_user_roles(tmp_path / "absent.toml")


def test_no_rule_looks_farther_than_the_neighbours_that_are_read():
    """A rule with a longer reach would silently never hold."""
    near = [each.near for each in (*rules().roles, *rules().neighbours) if each.near]
    assert max(each.reach for each in near) <= _REACH


def test_the_time_of_a_role_is_that_of_the_median_step():
    """Two places of one signature take 10 + 10, 10 + 30 and 10 + 100 us: 40 us in the median step, not the
    mean of 56.7; the norm between them is in no row.
    """
    places = [
        replace(_matmul("qkv", 4096, 1536), signature_id=7),
        kernel("AddRmsNorm", 5.0),
        replace(_matmul("qkv", 4096, 1536), signature_id=7),
    ]
    steps = [back_to_back([(0, 10.0), (1, 5.0), (2, us)]) for us in (10.0, 30.0, 100.0)]
    made = sequence(places, steps)
    assert [row.step_us for row in role_rows(made, name_roles(made, RoleRequest()))] == [40.0]


def test_a_role_takes_as_long_as_its_kernels_do_in_hotspots(real_session):
    """longcat's w13: 2,081.0 us in five steps, 411.068 us in the median one, in both answers."""
    with real_session("longcat_910c_decode") as session:
        rows = candidates(session, top=None, roles=RoleRequest(LONGCAT)).extras["roles"]
        hot = {(row.type, row.input_shapes): row.step_us for row in hotspot_rows(session)}
    assert {row.role: row.step_us for row in rows}["experts.w13"] == pytest.approx(411.068)
    for row in rows:
        assert row.step_us == pytest.approx(hot[row.type, row.input_shapes]), row.role


def test_every_weight_of_longcat_is_named(real_session):
    """On the decode capture 100 % of the time of weight-carrying kernels is named, in every step alike."""
    seen = set()
    for steps in (None, "3", "6"):
        with real_session("longcat_910c_decode", steps=steps) as session:
            found = candidates(session, top=None, roles=RoleRequest(LONGCAT))
        rows = found.extras["roles"]
        named = sum(row.step_us for row in rows if row.role)
        assert named / sum(row.step_us for row in rows) >= 0.95
        assert {row.source for row in rows} == {"shape and neighbours", "operand slots"}
        attention = [row for row in rows if row.role == "mla_prolog"]
        assert sum(row.occurrences_per_step for row in attention) == 28
        seen.add(tuple(sorted((row.role, row.positions, row.occurrences_per_step) for row in rows)))
        assert {row.role for row in found.rows} == {
            "experts.w13", "experts.w2", "gate_up_proj", "down_proj", "mla_prolog", "o_proj",
            "router.classifier", "lm_head",
        }  # fmt: skip
    assert len(seen) == 1
    (ep,) = [note for note in found.notes if note.startswith("--ep")]
    assert ep == "--ep 8 is inferred from the shapes."

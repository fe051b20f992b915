"""`fuse model` on small files in three styles: modules, facts, trees, candidates, each with the line behind
it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.modelcode.candidates import code_patterns, match_tokens
from npu_roofline.analyzer.modelcode.config import read_config
from npu_roofline.analyzer.modelcode.events import read_model
from npu_roofline.analyzer.modelcode.model import fuse_model
from npu_roofline.analyzer.modelcode.steps import Event
from npu_roofline.errors import InputMissing, UnsupportedExport

from tests.analyzer.modelcode.samples import CANN, CONFIGS, PLAIN, VLLM, write

INDEXER = f"{CANN}\nclass Indexer:\n    pass\n"
EMPTY = "class Block:\n    def forward(self, x):\n        return x\n"


def asked(folder: Path, text: str, config: dict[str, object] | None = None) -> Answer:
    """The answer for one file, with a config.json where one is given."""
    where = None if config is None else write(folder, "config.json", json.dumps(config))
    return fuse_model([write(folder, "modeling.py", text)], where)


def verdicts(answer: Answer) -> dict[tuple[str, str], str]:
    """(class, rule) -> verdict."""
    return {(row.module, row.rule): row.verdict for row in answer.rows}


def line_of(text: str, code: str) -> int:
    """The line of the file at which some code stands."""
    return next(number for number, line in enumerate(text.split("\n"), start=1) if code in line)


def test_plain_transformers_code(tmp_path: Path) -> None:
    """Every eager chain of the file is found in its class: what is ready, and what needs a change first."""
    answer = asked(tmp_path, PLAIN, CONFIGS["plain"])
    assert verdicts(answer) == {
        ("TinyRMSNorm", "rms_norm"): "ready",
        ("TinySparseMoeBlock", "moe_gating_top_k"): "ready",
        ("(module)", "rotary_mul"): "needs_preparation",
        ("TinyAttention", "apply_rotary_pos_emb"): "needs_preparation",
        ("TinyAttention", "fused_infer_attention_score"): "needs_preparation",
        ("TinyMLP", "swiglu"): "needs_preparation",
        ("TinySparseMoeBlock", "grouped_matmul"): "needs_preparation",
        ("TinySparseMoeBlock", "moe_finalize_routing"): "needs_preparation",
        ("TinyDecoderLayer", "add_rms_norm"): "needs_preparation",
    }
    attention = next(row for row in answer.rows if row.rule == "fused_infer_attention_score")
    first, last = line_of(PLAIN, "torch.matmul(q, k"), line_of(PLAIN, "torch.matmul(weights, v)")
    assert attention.code == (f"modeling.py:{first}-{last}",)
    assert attention.prepare[0].startswith("a static or paged KV cache")
    assert answer.extras["used"] == ()


def test_cann_recipes_code(tmp_path: Path) -> None:
    """What is called already is listed and not proposed; the MLA chain and the gate by hand are proposed."""
    answer = asked(tmp_path, CANN, CONFIGS["big"])
    assert verdicts(answer) == {
        ("BigMoE", "moe_gating_top_k"): "ready",
        ("BigAttention", "transpose_batchmatmul"): "ready",
        ("BigAttention", "mla_prolog"): "needs_preparation",
    }
    used = {row.operator: row.phase for row in answer.extras["used"]}
    assert (
        used["npu_moe_distribute_dispatch_v2"] == "decode"
    )  # called from the branch without is_prefill only
    assert used["npu_moe_re_routing"] == "prefill"
    assert used["npu_fused_infer_attention_score"] == "decode"  # by the name of its method
    assert len(used) == 9
    known = {row.fact: row.value for row in answer.extras["facts"]}
    assert known["KV cache"] == "paged"
    assert known["KV cache write"].startswith("by slot")
    assert known["prefill and decode"] == "separate branches"
    assert known["quantisation"] == "w8a8"


def test_vllm_code_names_the_layers_that_a_plugin_replaces(tmp_path: Path) -> None:
    """Nothing is eager in such a file: no candidate, and the supplied layers are named with their lines."""
    answer = asked(tmp_path, VLLM)
    assert answer.rows == ()
    supplied = next(row for row in answer.extras["facts"] if row.fact == "layers supplied")
    assert f"modeling.py:{line_of(VLLM, 'self.attn = Attention')} attn = Attention" in supplied.evidence
    assert next(row.value for row in answer.extras["facts"] if row.fact == "quantisation").startswith(
        "decided"
    )


@pytest.mark.parametrize(
    ("text", "config", "expected"),
    [
        (PLAIN, "plain", {"architecture": "GQA, 16 heads on 4", "gate": "softmax: npu_moe_gating_top_k",
                          "prefill": "(expert parallelism is not named in this code)"}),
        (CANN, "big", {"architecture": "MLA (latent KV)", "indexer": "no", "absorb in the code": "yes",
                       "gate": "sigmoid: npu_moe_gating_top_k", "decode": "npu_moe_distribute_dispatch_v2"}),
        (INDEXER, "big", {"indexer": "yes", "prefill and decode": "npu_lightning"}),
        (EMPTY, None, {"architecture": "none recognised", "experts": "no"}),
    ],
)  # fmt: skip
def test_the_trees(tmp_path: Path, text: str, config: str | None, expected: dict[str, str]) -> None:
    """Each branch of both trees, decided from the code and the configuration; answers hold these words."""
    answer = asked(tmp_path, text, None if config is None else CONFIGS[config])
    steps = {step.question: step.answer for step in answer.extras["trees"]}
    for question, words in expected.items():
        assert words in steps[question], question


def test_attention_is_known_by_its_call(tmp_path: Path) -> None:
    """A class of any name that calls attention is attention: the tree names the line of the call, line 4."""
    text = (
        "import torch\nfrom torch import nn\nclass Mixer(nn.Module):\n"
        "    def forward(self, q, k, v): return nn.functional.scaled_dot_product_attention(q, k, v)\n"
    )
    steps = {(step.tree, step.question): step for step in asked(tmp_path, text).extras["trees"]}
    assert steps["attention", "architecture"].answer == "GQA or MHA (no config)"
    assert ":4 " in steps["attention", "architecture"].evidence[0]
    assert steps["moe", "experts"].answer == "none recognised in this code"


def test_every_decided_branch_names_its_evidence(tmp_path: Path) -> None:
    """The architecture and the gate stand on lines of the file or keys of the configuration."""
    steps = {step.question: step for step in asked(tmp_path, CANN, CONFIGS["big"]).extras["trees"]}
    assert f"modeling.py:{line_of(CANN, 'self.kv_b_proj')} kv_b_proj" in steps["architecture"].evidence
    assert "scoring_func = sigmoid in config.json" in steps["gate"].evidence


def test_a_documented_limit_refuses_and_is_quoted(tmp_path: Path) -> None:
    """Hidden size 3072 is none of the documented ones: not adaptable, with the limit, the value and the
    source.
    """
    answer = asked(tmp_path, CANN, {**CONFIGS["big"], "hidden_size": 3072})
    row = next(row for row in answer.rows if row.rule == "mla_prolog")
    assert row.verdict == "not_adaptable"
    assert row.constraint == ("hidden size is 3072, the call takes one of 6144 or 7168 or 7680 (docs 2.14.0)")


def test_without_a_configuration_limits_are_left_to_check(tmp_path: Path) -> None:
    """A size that is not known refuses nothing and approves nothing."""
    row = next(row for row in asked(tmp_path, CANN).rows if row.rule == "mla_prolog")
    assert row.verdict == "needs_preparation"
    assert any("check hidden size" in text and "--model-config" in text for text in row.prepare)


def test_no_refusal_without_a_limit(tmp_path: Path) -> None:
    """However large a change is, it is work to prepare and never a reason to refuse."""
    for text, config in ((PLAIN, CONFIGS["plain"]), (CANN, CONFIGS["big"]), (VLLM, None)):
        for row in asked(tmp_path, text, config).rows:
            assert (row.verdict == "not_adaptable") == (row.constraint is not None)


def test_modules_from_embedding_to_head(tmp_path: Path) -> None:
    """The module list runs from the embedding to the head, with the sub-chains of attention and experts."""
    rows = asked(tmp_path, PLAIN).extras["modules"]
    kinds = list(dict.fromkeys(row.kind for row in rows))
    assert kinds == ["embedding", "block", "attention", "mlp", "moe", "norm", "head"]
    chains = [row.chain.split(":")[0] for row in rows if row.kind == "attention" and row.chain]
    assert chains == ["QKV and O projection", "RoPE", "KV cache write", "attention core"]


def test_a_pattern_allows_few_steps_between() -> None:
    """softmax, topk with six others between is the gate; with seven it is not."""
    pattern = next(each for each in code_patterns() if each.rule == "moe_gating_top_k")

    def events(others: int) -> list[Event]:
        return [Event(name, "", 1, "both") for name in ("softmax", *["other"] * others, "topk")]

    assert len(match_tokens(events(6), pattern)) == 1
    assert match_tokens(events(7), pattern) == []


def test_the_code_is_not_run(tmp_path: Path) -> None:
    """A file that would end the process when imported is read like any other."""
    text = (
        "import sys\nsys.exit(3)\nimport torch_npu\nclass A:\n    def forward(self, x):\n        return x\n"
    )
    assert read_model([write(tmp_path, "m.py", text)]).classes[0].name == "A"


@pytest.mark.parametrize(
    ("content", "message"),
    [("class (", "no class or function"), ("", "no class or function"), ("\0", "no class or function")],
)
def test_a_file_that_is_no_model_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    """Damaged or empty files say that nothing was found in them."""
    with pytest.raises(UnsupportedExport, match=message):
        fuse_model([write(tmp_path, "m.py", content)])


def test_missing_files_and_broken_configurations(tmp_path: Path) -> None:
    """A path that is not there and a config.json that is no object are errors that name it."""
    with pytest.raises(InputMissing, match=r"absent\.py"):
        fuse_model([tmp_path / "absent.py"])
    for text in ("[1]", "{", ""):
        with pytest.raises(UnsupportedExport, match="JSON"):
            read_config(write(tmp_path, "config.json", text))
    with pytest.raises(InputMissing):
        read_config(tmp_path / "nothing")


def test_a_damaged_file_beside_a_good_one_is_told(tmp_path: Path) -> None:
    """One file of two does not parse: the other is read, and a note says so."""
    answer = fuse_model([write(tmp_path, "bad.py", "class ("), write(tmp_path, "good.py", PLAIN)])
    assert any("bad.py could not be parsed" in note for note in answer.notes)
    assert answer.rows

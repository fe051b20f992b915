"""The two model files with the capture and config.json that they fit, and plans of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.model_config import model_config
from npu_roofline.analyzer.plan import CodeRequest
from npu_roofline.analyzer.roles_match import RoleRequest

from tests.plan.conftest import Planned
from tests.plan.fake_model import recipe_calls, vllm_calls

MODELS = Path(__file__).with_name("models")


@dataclass(frozen=True)
class Case:
    """One model file: the sample run and the numbers of the config that it was written for."""

    file: Path
    run: str
    config: dict[str, int]
    calls: Callable[..., list[tuple[Any, ...]]]  # of one step on the stand-in: source, switch

    def plan(
        self, planned: Planned, *files: Path, ids: tuple[str, ...] = (), config: bool = True, **wishes: Any
    ) -> Answer:
        """The plan with the calls tied to these files, or to the model file itself."""
        roles = RoleRequest(model_config(self.config, "config.json")) if config else RoleRequest()
        code = CodeRequest(files or (self.file,))
        return planned(*ids, run=self.run, roles=roles, code=code, **wishes)

    def copied(self, folder: Path, **changes: str) -> Path:
        """The model file in a folder of its own, with texts in it replaced."""
        text = self.file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        target = folder / self.file.name
        target.write_text(text, encoding="utf-8")
        return target


RECIPE = Case(
    MODELS / "modeling_longcat_style.py",
    "moe_decode_before",
    {
        "hidden_size": 4096, "ffn_hidden_size": 5120, "expert_ffn_hidden_size": 1024, "n_routed_experts": 192,
        "num_attention_heads": 8, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 32768, "num_layers": 6,
    },
    recipe_calls,
)  # fmt: skip
VLLM = Case(
    MODELS / "modeling_vllm_style.py",
    "dense_decode",
    {
        "hidden_size": 2560, "intermediate_size": 9728, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "vocab_size": 151936, "num_hidden_layers": 36,
    },
    vllm_calls,
)  # fmt: skip
CASES = {"recipe": RECIPE, "vllm": VLLM}


def applied(file: Path, text: str, folder: Path) -> str:
    """The file after `git apply` of a patch in a repository of its own; AssertionError where git refuses."""
    repository = folder / "repository"
    repository.mkdir()
    shutil.copy(file, repository / file.name)
    patch = folder / "prefetch.patch"
    # What `plan --patch` writes begins with the mark of the tool, which git passes over.
    patch.write_text(f"npu-roofline plan\n\n{text}", encoding="utf-8", newline="")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    for check in (["--check"], []):
        done = subprocess.run(
            ["git", "apply", *check, str(patch)], cwd=repository, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    return (repository / file.name).read_bytes().decode("utf-8")


def sites_of(answer: Answer) -> dict[str, Any]:
    """The sites of a plan by the name of their call."""
    return {site.name: site for site in answer.extras["code"]}


def line_of(file: Path, text: str, nth: int = 0) -> str:
    """'name.py:12', the nth line that has a text."""
    lines = [number for number, line in enumerate(file.read_text("utf-8").split("\n"), 1) if text in line]
    return f"{file.name}:{lines[nth]}"


def config_file(folder: Path, case: Case) -> Path:
    """A config.json with the numbers of a case."""
    file = folder / "config.json"
    file.write_text(json.dumps(case.config), encoding="utf-8")
    return file

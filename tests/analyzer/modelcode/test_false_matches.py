"""Code that looks like a chain, a phase or a cache of a model and is none; the real one stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyzer.modelcode.questions import asked, candidate, fact


def test_the_decoder_of_a_codec_is_no_decode_phase(tmp_path: Path) -> None:
    """`decode` of a class that no prefill is named in is a codec's; of an attention class it is the phase."""
    text = "class ImageCodec:\n    def decode(self, x): return self.net(x)\n"
    assert fact(asked(tmp_path, text), "prefill and decode").value == "one path"
    phases = fact(asked(tmp_path, text.replace("ImageCodec", "TinyAttention")), "prefill and decode")
    assert phases.value.startswith("a branch for decode only")


@pytest.mark.parametrize(
    ("name", "value"),
    [("block_size", "not told"), ("start_position", "not told"), ("start_pos", "contiguous"),
     ("block_tables", "paged")],
)  # fmt: skip
def test_blocks_and_positions_are_no_cache(tmp_path: Path, name: str, value: str) -> None:
    """Blocks of images and positions of them are common names; those of a cache are told apart."""
    text = f"class TinyAttention:\n    def forward(self, q, {name}): return q\n"
    assert fact(asked(tmp_path, text), "KV cache").value.startswith(value)


def test_products_that_are_no_gate_or_absorption(tmp_path: Path) -> None:
    """A scaled branch after a GELU block and a product inside plain attention are not proposed; W_UK is."""
    block = (
        "class ConvBlock:\n    def __init__(self):\n        self.act = nn.GELU()\n"
        "        self.down_proj = nn.Linear(8, 8)\n"
        "    def forward(self, x):\n        x = self.down_proj(self.act(x))\n        return self.gamma * x\n"
    )
    assert asked(tmp_path, block).rows == ()
    absorb = (
        "class TinyAttention:\n    def forward(self, q):\n"
        "        return torch.matmul(q.transpose(0, 1), self.w_uk).transpose(0, 1)\n"
    )
    assert candidate(asked(tmp_path, absorb), "transpose_batchmatmul").code == ("m.py:3",)
    assert asked(tmp_path, absorb.replace("w_uk", "value")).rows == ()


def test_an_all_reduce_far_from_the_projection_is_not_its_epilogue(tmp_path: Path) -> None:
    """o_proj and all_reduce follow each other; with two calls between they do not."""
    near = (
        "class TinyAttention:\n    def __init__(self):\n        self.o_proj = nn.Linear(8, 8)\n"
        "    def forward(self, x):\n        x = self.o_proj(x)\n        dist.all_reduce(x)\n"
    )
    assert candidate(asked(tmp_path, near), "mm_all_reduce").code == ("m.py:5-6",)
    far = near.replace("        dist", "        x = experts(choose(x))\n        dist")
    assert asked(tmp_path, far).rows == ()


def test_a_cast_counts_only_behind_the_sum_that_the_norm_reads(tmp_path: Path) -> None:
    """norm(a + b).float() is the cast form; a residual cast beside a norm of another tensor is not."""
    text = (
        "class TinyBlock:\n    def __init__(self):\n        self.norm = RMSNorm(8)\n"
        "    def forward(self, x, r):\n        return self.norm(x + r).float()\n"
    )
    assert {row.rule for row in asked(tmp_path, text).rows} >= {"add_rms_norm_cast"}
    other = text.replace("self.norm(x + r).float()", "self.norm(x), r.float()")
    assert asked(tmp_path, other).rows == ()

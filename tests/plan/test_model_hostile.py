"""Model files that are none: a clear error or a listed reason, never a traceback, nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from npu_roofline.errors import InputMissing, UnsupportedExport

from tests.plan.conftest import Planned
from tests.plan.model_cases import VLLM, applied, sites_of

GOOD = VLLM.file.read_text(encoding="utf-8")


def _file(folder: Path, content: bytes) -> Path:
    file = folder / "modeling.py"
    file.write_bytes(content)
    return file


UNREADABLE = {
    "syntax error": b"class A(:\n",
    "binary": bytes(range(256)) * 8,
    "not utf-8": "name = 'é'\n".encode("latin-1"),
    "null bytes": b"x = 1\0\n",
    "brackets": b"x = " + b"(" * 5000 + b")" * 5000,
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_python_is_refused_with_its_reason(what: str, planned: Planned, tmp_path: Path):
    """One file that cannot be parsed: an error that names it; beside a good one, a note."""
    file = _file(tmp_path, UNREADABLE[what])
    with pytest.raises(UnsupportedExport, match=r"modeling\.py could not be parsed"):
        VLLM.plan(planned, file)
    answer = VLLM.plan(planned, file, VLLM.file)
    assert sites_of(answer)["down_proj@11"].status == "ready"
    assert any("modeling.py could not be parsed" in note for note in answer.notes)


def test_what_is_no_file_is_missing(planned: Planned, tmp_path: Path):
    """Nothing there, a folder, a device, a link that leads to itself, a link to nothing."""
    loop, nowhere = tmp_path / "loop.py", tmp_path / "nowhere.py"
    loop.symlink_to(loop)
    nowhere.symlink_to(tmp_path / "absent.py")
    for path in (tmp_path / "absent.py", tmp_path, Path(os.devnull), loop, nowhere):
        with pytest.raises(InputMissing):
            VLLM.plan(planned, path)


def test_a_file_that_is_too_large_is_refused(planned: Planned, tmp_path: Path):
    """Nine MiB are no model code."""
    with pytest.raises(UnsupportedExport, match="larger than any model code"):
        VLLM.plan(planned, _file(tmp_path, b"#" * (9 * 2**20)))


@pytest.mark.parametrize(
    "content", [b"", b"x = 1\n", b"class A:\n    pass\n"], ids=["empty", "line", "class"]
)
def test_code_without_a_layer_ties_nothing(content: bytes, planned: Planned, tmp_path: Path):
    """Python without a decoder layer: every call is listed with that reason, and there is no patch."""
    answer = VLLM.plan(planned, _file(tmp_path, content))
    assert {site.reason for site in answer.extras["code"]} == {"no decoder layer is defined in these files"}
    assert answer.extras["patch"] is None


def test_a_long_line_and_a_link_are_read(planned: Planned, tmp_path: Path):
    """A literal of one MiB on one line, the file behind a link: the patch is for the file itself."""
    real = tmp_path / "real.py"
    real.write_text(GOOD + f"\n\nBIG = {'7' * 2**20!r}\n", encoding="utf-8")
    link = tmp_path / "link.py"
    link.symlink_to(real)
    answer = VLLM.plan(planned, link)
    assert answer.extras["patch"].files == ("real.py",)
    assert "npu_prefetch" in applied(real, answer.extras["patch"].text, tmp_path)


@pytest.mark.parametrize("terms", [900, 50_000])
def test_an_expression_too_deep_is_refused(terms: int, planned: Planned, tmp_path: Path):
    """A sum of so many terms: beyond what the parser takes, or beyond what can be walked: an error."""
    deep = GOOD.replace("        return x\n", f"        y = {' + '.join(['x'] * terms)}\n        return x\n")
    with pytest.raises(UnsupportedExport, match=r"nested too deeply|could not be parsed"):
        VLLM.plan(planned, _file(tmp_path, deep.encode()))


ODD = {
    "a class that makes itself": "        self.again = OutlineMLP(hidden_size, intermediate_size)\n",
    "a class of many of itself": "        self.n = nn.ModuleList([OutlineMLP(1, 2) for i in range(8)])\n",
    "numbers without end": "        self.big = 9 ** 9 ** 9 + 2 ** 63 * intermediate_size << 99\n",
    "a division by zero": "        self.none = intermediate_size // 0 % 0\n",
    "an endless range": "        for number in range(10 ** 12):\n            self.x = number\n",
}


@pytest.mark.parametrize("what", ODD)
def test_constructors_are_read_and_never_run(what: str, planned: Planned, tmp_path: Path):
    """What would not end, or fail, when run: the calls around it are tied as before."""
    file = _file(
        tmp_path,
        GOOD.replace(
            "        self.act_fn = SiluAndMul()\n", f"{ODD[what]}        self.act_fn = 1\n"
        ).encode(),
    )
    assert sites_of(VLLM.plan(planned, file))["down_proj@11"].status == "ready"


def test_a_forward_that_calls_itself_ends(planned: Planned, tmp_path: Path):
    """Recursion in the layer, and two modules that call each other in turn."""
    text = GOOD.replace(
        "        return hidden_states, residual\n",
        "        self.forward(1, 2, 3)\n        return hidden_states, residual\n",
    )
    answer = VLLM.plan(planned, _file(tmp_path, text.encode()))
    assert answer.extras["code"]


def test_a_statement_beside_another_is_not_written_into(planned: Planned, tmp_path: Path):
    """`a; b` on the line of the dependency: that call stays out of the patch, the other is in it."""
    text = GOOD.replace("gate_up, _ = self.gate_up_proj(x)\n", "y = 1; gate_up, _ = self.gate_up_proj(x)\n")
    answer = VLLM.plan(planned, _file(tmp_path, text.encode()))
    site = sites_of(answer)["down_proj@11"]
    assert site.status == "tied"
    assert "shares its line" in site.reason
    assert sites_of(answer)["gate_up_proj@9"].status == "ready"


def test_names_of_files_reach_git_as_they_are(planned: Planned, tmp_path: Path):
    """Spaces, quotes, letters beyond ASCII and bytes that are no UTF-8 in the name: git takes the patch."""
    for number, name in enumerate(('my model "x".py', "模型.py", "with space.py", os.fsdecode(b"b\xff.py"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = folder / name
        file.write_text(GOOD, encoding="utf-8")
        assert "npu_prefetch" in applied(file, VLLM.plan(planned, file).extras["patch"].text, folder)


def test_markup_in_code_stays_text(planned: Planned, tmp_path: Path):
    """A name of the code cannot leave its cell of the document."""
    from npu_roofline.reports.plan_document import plan_document

    text = GOOD.replace(
        "        gate_up, _ =",
        "        torch_npu.npu_prefetch(self.down_proj.weight['|<b>x</b>`'], 1)\n        gate_up, _ =",
    )
    document = plan_document(VLLM.plan(planned, _file(tmp_path, text.encode())))
    prose = document[: document.index("## Code: prefetch_plan.py")]
    assert "<b>" not in prose


def _behind_activation(lines: str) -> str:
    made = "        self.act_fn = SiluAndMul()\n"
    return GOOD.replace(made, f"{made}{lines}")


def _before_call(lines: str) -> str:
    call = "        gate_up, _ = self.gate_up_proj(x)\n"
    return GOOD.replace(call, f"{lines}{call}")


LOOPS = "".join(f"{'    ' * (2 + depth)}for a{depth} in range(8):\n" for depth in range(9))
TURNS = "".join(f" for a{depth} in range(8)])" for depth in range(9))
LISTS = f"{'nn.ModuleList([' * 9}nn.Linear(1, 2){TURNS}"
HALVES = "".join(f"\n    def f{n}(self):\n        self.f{n + 1}(), self.f{n + 1}()\n" for n in range(21))
ENDLESS = {
    "loops in a constructor": _behind_activation(f"{LOOPS}{'    ' * 11}b = 1\n"),
    "lists in a constructor": _behind_activation(f"        self.many = {LISTS}\n"),
    "loops in a step": _before_call(f"{LOOPS}{'    ' * 11}b = 1\n"),
    "calls of calls": _before_call("        self.f0()\n").replace(
        "        return x\n", f"        return x\n{HALVES}\n    def f21(self):\n        pass\n", 1
    ),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_multiplies_is_left_out(what: str, planned: Planned, tmp_path: Path):
    """8^9 turns, or 2^21 calls, that hold no operation: left out, and of a step it is said so."""
    answer = VLLM.plan(planned, _file(tmp_path, ENDLESS[what].encode()))
    said = any("the rest is left out" in note for note in answer.notes)
    assert said == (what in ("loops in a step", "calls of calls"))


@pytest.mark.parametrize("targets", ["[]", "()", "*gate_up, _"])
def test_a_name_that_takes_an_untold_part_is_no_tensor(targets: str, planned: Planned, tmp_path: Path):
    """Nothing, or a starred name, takes the output: that call has no tensor, the other is tied."""
    text = GOOD.replace("gate_up, _ = self.gate_up_proj(x)", f"{targets} = self.gate_up_proj(x)")
    sites = sites_of(VLLM.plan(planned, _file(tmp_path, text.encode())))
    assert sites["down_proj@11"].status == "unresolved"
    assert "no name" in sites["down_proj@11"].reason
    assert sites["gate_up_proj@9"].status == "ready"


def _property(name: str) -> str:
    return GOOD.replace(
        "    def forward(self, x):\n",
        f"    @property\n    def {name}(self):\n        return False\n\n    def forward(self, x):\n",
    )


SWITCHES = {
    "a property": (_property("enable_prefetch"), "ge_graph"),
    "a property of the stream": (_property("prefetch_stream"), "npugraph_ex"),
    "set in a step": (_before_call("        self.enable_prefetch = False\n"), "ge_graph"),
    "set under a condition": (
        _behind_activation("        if prefix:\n            self.enable_prefetch = False\n"),
        "npugraph_ex",
    ),
}


@pytest.mark.parametrize("what", SWITCHES)
def test_a_switch_that_the_patch_could_not_set_keeps_its_call_out(
    what: str, planned: Planned, tmp_path: Path
):
    """Written there, the patched model would fail when it is made or in its first step."""
    text, mode = SWITCHES[what]
    site = sites_of(VLLM.plan(planned, _file(tmp_path, text.encode()), mode=mode))["down_proj@11"]
    assert site.status == "tied"
    assert "rename it first" in site.reason or "elsewhere than by one assignment" in site.reason


def test_a_switch_with_a_type_gets_its_stream(planned: Planned, tmp_path: Path):
    """`self.enable_prefetch: bool = False` is the switch: the stream is made behind it."""
    file = _file(tmp_path, _behind_activation("        self.enable_prefetch: bool = False\n").encode())
    text = VLLM.plan(planned, file, mode="npugraph_ex").extras["patch"].text
    after = applied(file, text, tmp_path)
    own = after[after.index("self.enable_prefetch: bool") :]
    assert own.index("self.prefetch_stream =") < own.index("def forward")

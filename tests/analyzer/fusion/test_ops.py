"""`ops`: documentation and signatures read from wheels and folders, without importing anything."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest
from npu_roofline.analyzer.fusion.docstrings import read_docstrings, split_sections
from npu_roofline.analyzer.fusion.opindex import OperatorIndex, build_index, operator_index
from npu_roofline.analyzer.fusion.ops import open_indexes, ops_list, ops_search, ops_show
from npu_roofline.analyzer.fusion.opsource import operator_source
from npu_roofline.analyzer.fusion.schemas import parse_schema, read_schemas
from npu_roofline.errors import InputMissing, UnsupportedExport

from tests.analyzer.fusion.wheels import DOCS, SCHEMAS, make_folder, make_wheel

LIST = "torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml"


@pytest.fixture
def index(tmp_path: Path) -> OperatorIndex:
    """The index of the small wheel."""
    return build_index(operator_source(make_wheel(tmp_path / "torch_npu-9.9.0.whl")))


def test_sections_are_told_by_any_of_their_headings(index: OperatorIndex) -> None:
    """Colon or none, # or none, a number behind, text on the same line: the sections are the ones meant."""
    sections = index.operators["npu_swiglu"].sections
    assert sections == {
        "prototype": "torch_npu.npu_swiglu(self, dim=-1) -> Tensor",
        "description": "提供swiglu的激活函数。第二句。",
        "parameters": "self (Tensor) - 输入张量。",
        "constraints": "仅支持偶数尾轴\n路径 \\(x\\_1\\) 不是转义",
        "examples": ">>> torch_npu.npu_swiglu(x)",
    }


def test_a_word_inside_a_line_is_no_heading() -> None:
    """参数 begins many a line of text; only alone or with a colon it opens a section."""
    assert split_sections("功能描述\n参数 x 是输入\n示例代码如下") == {
        "description": "参数 x 是输入\n示例代码如下"
    }


def test_what_is_odd_about_a_docstring_is_told(index: OperatorIndex) -> None:
    """Empty, with control characters, or about another name: each is remarked; the last of two docstrings
    counts.
    """
    remarks = {name: each.remarks for name, each in index.operators.items() if each.remarks}
    assert remarks == {
        "npu_empty": ("its docstring is empty",),
        "npu_bell": ("control characters were taken out of its docstring",),
        "npu_odd": ("its docstring does not name it",),
    }
    assert index.operators["npu_twice"].sections["description"] == "新的量化注意力"
    assert any("npu_twice" in note and "twice" in note for note in index.notes)


def test_no_docstring_is_not_unavailable(index: OperatorIndex) -> None:
    """A function that only the list knows is there: 'schema only', and show says that it can be called."""
    listed = {row.name: row.status for row in ops_list([index]).rows}
    assert listed["npu_add_rms_norm"] == "schema_only"
    shown = ops_show([index], "npu_add_rms_norm")
    assert any("exists and can be called" in row.text for row in shown.rows)
    assert shown.rows[0].text.startswith("npu_add_rms_norm(Tensor x1")
    assert any(row.section == "rule add_rms_norm" for row in shown.rows)
    assert "unavailable" not in json.dumps([row.text for row in shown.rows])


def test_list_counts_and_leaves_gradients_out(index: OperatorIndex) -> None:
    """Five names have a docstring, one more a signature only; the gradient and the .out form are no names
    of it.
    """
    answer = ops_list([index])
    assert [row.name for row in answer.rows] == [
        *("atb.npu_paged", "npu_add_rms_norm", "npu_bell", "npu_empty", "npu_odd", "npu_swiglu", "npu_twice"),
    ]
    (source,) = answer.extras["sources"]
    assert (source.version, source.documented, source.schema_only) == ("9.9.0", 5, 1)
    assert "npu_swiglu_backward" in [row.name for row in ops_list([index], everything=True).rows]
    assert [row.name for row in ops_list([index], prefix="npu_t").rows] == ["npu_twice"]
    assert {row.name: row.status for row in answer.rows}["npu_odd"] == "documented_no_schema"


def test_wheels_side_by_side(tmp_path: Path) -> None:
    """Availability is one word per wheel in the order given: documented, signature only, absent."""
    first = make_wheel(
        tmp_path / "a.whl", {"torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml": SCHEMAS}
    )
    second = make_wheel(tmp_path / "b.whl", {"torch_npu/_op_plugin_docs.py": DOCS})
    answer = ops_list(open_indexes([first, second], tmp_path / "cache"))
    found = {row.name: row.availability for row in answer.rows}
    assert found["npu_swiglu"] == ("schema_only", "documented_no_schema")
    assert found["npu_add_rms_norm"] == ("schema_only", "absent")
    assert found["npu_bell"] == ("absent", "documented_no_schema")
    assert any("no docstrings" in note for note in answer.notes)
    shown = ops_show(open_indexes([first, second], tmp_path / "cache"), "torch_npu.npu_swiglu")
    assert "description" in {row.section for row in shown.rows}  # from the second, which has it


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("注意力", ["atb.npu_paged", "npu_twice"]),
        ("attention", ["atb.npu_paged", "npu_twice"]),
        ("quantization attention", ["npu_twice"]),
        ("swiglu", ["npu_swiglu"]),
        ("add norm", ["npu_add_rms_norm"]),
        ("quantization swiglu", []),
    ],
)
def test_a_search_understands_both_languages(index: OperatorIndex, query: str, names: list[str]) -> None:
    """Every word must occur, itself or in the other language; nothing is found where one does not."""
    assert sorted(row.name for row in ops_search([index], query).rows) == names


def test_folders_and_installs_read_like_wheels(tmp_path: Path, index: OperatorIndex) -> None:
    """Site-packages, the torch_npu folder itself and the wheel give the same operators."""
    folder = make_folder(tmp_path / "site-packages")
    for place in (folder, folder / "torch_npu"):
        assert build_index(operator_source(place)).operators.keys() == index.operators.keys()
    assert "torch_npu" not in sys.modules


def test_an_index_is_kept_by_content(tmp_path: Path) -> None:
    """The second reading comes from the cache; other content, or a damaged cache file, is read anew."""
    source = operator_source(make_wheel(tmp_path / "a.whl"))
    cache = tmp_path / "cache"
    made = operator_index(source, cache)
    (file,) = cache.iterdir()
    data = json.loads(file.read_text(encoding="utf-8"))
    data["version"] = "from the cache"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert operator_index(source, cache).version == "from the cache"
    file.write_text("{", encoding="utf-8")
    assert operator_index(source, cache) == made
    other = make_wheel(
        tmp_path / "b.whl",
        {"torch_npu/_op_plugin_docs.py": DOCS},
    )
    operator_index(operator_source(other), cache)
    assert len(list(cache.iterdir())) == 2


def test_a_cache_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    """A file where the cache folder should be: the index is made all the same."""
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    source = operator_source(make_wheel(tmp_path / "a.whl"))
    assert operator_index(source, tmp_path / "cache").documented == 5


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"no zip at all"])
def test_a_file_that_is_no_wheel_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    """An unreadable file, a zip without operators and a missing path are errors that name it and say what
    to give.
    """
    (tmp_path / "x.whl").write_bytes(content)
    with pytest.raises(UnsupportedExport, match="no wheel that can be read"):
        operator_source(tmp_path / "x.whl")


def test_a_wheel_that_unpacks_to_too_much_is_refused_unread(tmp_path: Path) -> None:
    """65 MiB of zeros are 64 KiB in the wheel: by the size that the wheel gives, before it is read."""
    path = tmp_path / "bomb.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("torch_npu/_op_plugin_docs.py", b"\0" * (65 * 2**20))
    with pytest.raises(UnsupportedExport, match=r"has 65 MiB unpacked.* more than 64 MiB is not read"):
        operator_source(path)


@pytest.mark.parametrize("at", [75, 120, -22, -10])
def test_a_damaged_wheel_is_said_to_be_none(tmp_path: Path, at: int) -> None:
    """A byte that is wrong in the packed text, the directory or its end is damage, and no traceback."""
    path = tmp_path / "damaged.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("torch_npu/_op_plugin_docs.py", DOCS)
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UnsupportedExport, match=r"no wheel|no operator documentation"):
        operator_source(path)


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    """A wheel of another package, a missing path, an unknown operator: each says what and what to do."""
    with pytest.raises(UnsupportedExport, match="no operator documentation"):
        operator_source(make_wheel(tmp_path / "other.whl", {"numpy/__init__.py": ""}))
    with pytest.raises(InputMissing, match="no wheel or folder"):
        operator_source(tmp_path / "absent.whl")
    index = build_index(operator_source(make_wheel(tmp_path / "a.whl")))
    with pytest.raises(InputMissing, match="no operator 'npu_swigluu'") as error:
        ops_show([index], "npu_swigluu")
    assert error.value.hint == "did you mean npu_swiglu, npu_twice?"


def test_damaged_texts_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    """A docstring module that does not parse costs the docstrings, not the signatures; and the other way
    round.
    """
    members = {
        "torch_npu/_op_plugin_docs.py": "def (",
        LIST: SCHEMAS,
    }
    index = build_index(operator_source(make_wheel(tmp_path / "a.whl", members)))
    assert index.operators["npu_swiglu"].status == "schema_only"
    assert any("docstrings could not be parsed" in note for note in index.notes)
    assert read_schemas(b"a: [").failure
    assert read_schemas(b"- 1").functions == {}
    assert read_docstrings(b"\xff\xfe\x00").failure


def test_a_signature_is_read_into_arguments() -> None:
    """Alias marks say what is written in place, the star what must be named, brackets keep their commas."""
    schema = parse_schema("npu_twice.x(Tensor(a!) a, *, int[2] b=[0, 1], Tensor? c=None) -> (Tensor, Tensor)")
    assert schema is not None
    assert (schema.name, schema.overload, schema.returns) == ("npu_twice", "x", "(Tensor, Tensor)")
    found = [
        (each.name, each.type, each.default, each.keyword_only, each.written) for each in schema.arguments
    ]
    assert found == [
        ("a", "Tensor", None, False, True),
        ("b", "int[2]", "[0, 1]", True, False),
        ("c", "Tensor?", "None", True, False),
    ]
    assert parse_schema("add.Tensor") is None

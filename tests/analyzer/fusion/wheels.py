# ruff: noqa: RUF001  the colons of the real texts are wide
"""Small wheels with the members that the operator documentation is read from."""

from __future__ import annotations

import zipfile
from pathlib import Path

DOCS = '''from torch._C import _add_docstr as add_docstr
import torch_npu  # never run: importing this would fail here


def _add_torch_npu_docstr(method, docstr):
    raise SystemExit("a docstring module is parsed, not run")


_add_torch_npu_docstr(
    "npu_swiglu",
    """
torch_npu.npu_swiglu(self, dim=-1) -> Tensor

功能描述
提供swiglu的激活函数。第二句。

参数说明：
self (Tensor) - 输入张量。
## 约束说明:仅支持偶数尾轴
路径 \\(x\\_1\\) 不是转义
调用示例1
>>> torch_npu.npu_swiglu(x)
""",
)
_add_torch_npu_docstr("npu_twice", """接口原型：
npu_twice(a)
功能描述
旧""")
_add_torch_npu_docstr("npu_twice", """接口原型：
npu_twice(a, b)
功能描述
新的量化注意力""")
_add_torch_npu_docstr("npu_empty", "")
_add_torch_npu_docstr("npu_bell", "torch_npu.npu_bell(x)\\x07\\n功能描述\\n带控制符")
_add_torch_npu_docstr("npu_odd", "custom.npu_other(x)\\n功能描述\\n名字不同")
_add_torch_npu_docstr(method, docstring_made_at_run_time)
'''
SCHEMAS = """
backend: NPU
custom:
- func: npu_swiglu(Tensor self, int dim=-1) -> Tensor
  impl_ns: op_api
- func: npu_swiglu_backward(Tensor grad, Tensor self, int dim=-1) -> Tensor
- func: npu_add_rms_norm(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor, Tensor)
- func: npu_twice(Tensor(a!) a, *, int[2] b=[0, 1], Tensor? c=None) -> ()
supported:
- add.Tensor
- func: npu_twice.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)
"""
ATB = '''import torch_npu


def _add_all():
    _add_torch_npu_atb_docstr("npu_paged", """torch_npu.atb.npu_paged(q)
功能描述
分页注意力""")
'''
VERSION = "__version__ = '9.9.0'\ngit_version = 'abc'\n"
MEMBERS = {
    "torch_npu/_op_plugin_docs.py": DOCS.replace("\n", "\r\n"),
    "torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml": SCHEMAS,
    "torch_npu/op_plugin/atb/_atb_api_docs.py": ATB,
    "torch_npu/version.py": VERSION,
}


def make_wheel(path: Path, members: dict[str, str] | None = None) -> Path:
    """A zip with these members, the first with a byte order mark as the real one may have."""
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in (MEMBERS if members is None else members).items():
            wheel.writestr(
                name, b"\xef\xbb\xbf" + text.encode() if name.endswith("docs.py") else text.encode()
            )
    return path


def make_folder(path: Path) -> Path:
    """The same as unpacked files."""
    for name, text in MEMBERS.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path

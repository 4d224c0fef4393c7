"""What a file declares of its kernel is read from its text; what is wrong with it is told with the line."""

import hashlib
import re
from pathlib import Path

import msgspec
import pytest

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.cuda.own_source import text_of
from flashscope.kernels.library.own.module import called
from flashscope.kernels.own.expression import evaluate_whole, sizes_with
from flashscope.kernels.own.files import kept_bytes
from flashscope.kernels.own.references import declared, introduced, own_names, with_source
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, KernelError
from flashscope.kernels.workload.problem import Problem

EXAMPLES = Path(__file__).parent / "examples"
HOPPER = Device(backend="cuda", name="H200", memory_bytes=1 << 37, compute_capability=(9, 0))
CPU = Device(backend="cpu", name="a CPU", memory_bytes=1 << 34)


def of(folder: Path, text: str, name: str = "mine.py", function: str = "") -> OwnKernel:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return declared(f"{path}{function and ':'}{function}")


def test_a_function_says_by_its_keywords_and_imports_what_it_takes(tmp_path: Path) -> None:
    text = "import numpy as np\ndef attend(q, k, v, *, causal, scale, window=None): ...\n"
    own = of(tmp_path, text)
    assert (own.name, own.function, own.arrays, own.backends) == ("mine", "attend", "numpy", ("cpu",))
    assert own.keywords == ("causal", "scale", "window")
    assert set(own.features) == {"causal", "window"}
    assert own.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_a_kernel_keeps_its_name_when_it_is_read_by_its_reference_again(tmp_path: Path) -> None:
    for text in (
        "",
        "FLASHSCOPE = {'name': 'other'}\n",
        "def b(q, k, v): ...\nFLASHSCOPE = {'function': 'a'}\n",
    ):
        own = of(tmp_path, f"import numpy\ndef a(q, k, v): ...\n{text}")
        assert declared(own.reference) == own
    assert declared(f"{tmp_path / 'mine.py'}:b").name == "mine-b"


def test_reading_a_file_runs_nothing_of_it(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    text = f"import numpy\nopen({str(trace)!r}, 'w')\ndef attend(q, k, v): ...\nraise SystemExit\n"
    assert of(tmp_path, text).function == "attend"
    assert not trace.exists()


def test_the_annotation_of_q_says_which_arrays_it_takes(tmp_path: Path) -> None:
    text = "import torch, numpy\ndef attend(q: torch.Tensor, k, v, *, causal): ...\n"
    assert of(tmp_path, text).arrays == "torch"


def test_the_examples_declare_what_their_texts_say() -> None:
    plain, tensors, triton, rows = (
        declared(str(EXAMPLES / name))
        for name in ("plain_numpy.py", "torch_callable.py", "triton_rows.py", "rows.cu")
    )
    assert plain.backward == "attend_backward"
    assert tensors.backends == ("cuda", "cpu")
    assert (triton.arrays, triton.backends) == ("torch", ("cuda",))
    (launch,) = rows.launches
    assert (launch.entry, launch.grid) == ("rows", ("ceil_div(Nq, 64)", "H", "B"))
    assert [one.scalar for one in launch.arguments][5:] == ["int32", "int32", "int32", "float32", "bool"]
    assert [one.value for one in launch.arguments][5:] == ["Nq", "Nk", "group", "scale", "causal"]
    assert rows.features == ("causal", "gqa")


PLAIN = Problem(seqlen_q=64, seqlen_k=64)
REFUSALS = {
    "dtype": (
        Problem(seqlen_q=64, seqlen_k=64, dtype="float16"),
        HOPPER,
        "rows takes float32 on cuda, not float16",
    ),
    "head dim": (
        Problem(seqlen_q=64, seqlen_k=64, head_dim=48),
        HOPPER,
        "rows takes head dims 32, 64, 128 on cuda, not 48",
    ),
    "mask": (
        Problem(seqlen_q=64, seqlen_k=64, window=(8, 0)),
        HOPPER,
        "rows does not take a sliding window on cuda",
    ),
    "backend": (PLAIN, CPU, "rows is not implemented on the cpu backend"),
    "pass": (Problem(seqlen_q=64, seqlen_k=64, passes="backward"), HOPPER, "rows has no backward pass"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_a_file_does_not_declare_is_unsupported_with_the_reason(case: str) -> None:
    problem, device, reason = REFUSALS[case]
    spec = spec_of(declared(str(EXAMPLES / "rows.cu")))
    assert spec.unsupported(PLAIN, HOPPER) is None
    assert spec.unsupported(problem, device) == reason


def test_a_function_without_a_scale_takes_the_usual_one_alone(tmp_path: Path) -> None:
    spec = spec_of(of(tmp_path, "import numpy\ndef attend(q, k, v): ...\n"))
    assert spec.unsupported(PLAIN, CPU) is None
    odd = Problem(seqlen_q=64, seqlen_k=64, scale=0.5)
    assert spec.unsupported(odd, CPU) == "mine takes no scale other than 1/sqrt(head dim)"


@pytest.mark.parametrize(("told", "any_scale"), [("int N", False), ("int N, float scale", True)])
def test_a_raw_kernel_that_is_told_no_scale_takes_the_usual_one_alone(
    tmp_path: Path, told: str, any_scale: bool
) -> None:
    header = "// flashscope: grid = ceil_div(N, 64), H, B\n// flashscope: threads = 64\n"
    source = f'extern "C" __global__ void rows(const float* q, float* o, {told}) {{}}\n'
    spec = spec_of(of(tmp_path, header + source, "mine.cu"))
    assert spec.unsupported(Problem(seqlen_q=64, seqlen_k=64, head_dim=64), HOPPER) is None
    refused = spec.unsupported(Problem(seqlen_q=64, seqlen_k=64, head_dim=64, scale=0.5), HOPPER)
    assert refused == (None if any_scale else "mine takes no scale other than 1/sqrt(head dim)")


HEADER = "// flashscope: grid = B\n// flashscope: threads = 64\n"
NUMPY = "import numpy\n"
ENTRY = 'extern "C" __global__ void f(const float* q, float* o, int N) {}\n'
WRONG = {
    "mine.py": {
        "def attend(q, k, v:\n": "mine.py, line 1: .*def attend",
        "x = 1\n": "has no function f.* at its top level.$",
        "async def a(q, k, v): ...\n": "Line 1: a is async; write def",
        "def a(query, key, value): ...\n": r"Line 1: a\(query, key, value\) does not begin with q, k, v",
        "def a(*args, scale): ...\n": r"Line 1: a\(\*args, scale\) does not begin with q, k, v",
        "a = lambda q, k, v: v\n": r"Line 1: a is no def; write def a\(q, k, v",
        "class A:\n    def __call__(self, q, k, v): ...\n": "Line 1: A is a class; write def attend",
        "def _a(q, k, v): ...\n": "Line 1: _a begins with _",
        "if True:\n    def a(q, k, v): ...\n": "Line 2: a.* stands inside another statement",
        "def attend(q, k, v): ...\n": "none of NumPy, CuPy and PyTorch",
        "import numpy\ndef a(q, k, v): ...\ndef b(q, k, v): ...\n": r"several .*\(a, b\); name one",
        "import numpy\ndef a(q, k, v, bias): ...\n": "line 2: a asks for bias",
        "import numpy\nFLASHSCOPE = {'dtype': 1}\ndef a(q, k, v): ...\n": "line 2: .*`dtype`.*its keys are",
        NUMPY + "FLASHSCOPE = {'features': ('flies',)}\ndef a(q, k, v): ...\n": "'flies'.*some of causal, ",
        NUMPY + "FLASHSCOPE = {'dtypes': 'float16'}\ndef a(q, k, v): ...\n": "some of float32, float16",
        "import numpy\nFLASHSCOPE = dict(a=1)\ndef a(q, k, v): ...\n": "line 2: .*dict of literals",
        "import numpy\nFLASHSCOPE = {'dtypes': ('int8',)}\ndef a(q, k, v): ...\n": "int8",
        NUMPY + "FLASHSCOPE = {'backends': ('cuda',)}\ndef a(q, k, v): ...\n": "numpy arrays are not",
        NUMPY + "FLASHSCOPE = {'features': ('window',)}\ndef a(q, k, v): ...\n": "takes no window",
        NUMPY + "FLASHSCOPE = {'features': ('softcap',)}\ndef a(q, k, v): ...\n": "no function .* is told of",
        "import numpy\nFLASHSCOPE = {'backward': 'b'}\ndef a(q, k, v): ...\n": "no function b",
        "import numpy\nFLASHSCOPE = {'name': 'a b'}\ndef a(q, k, v): ...\n": "is no name",
    },
    "mine.cu": {
        "int f() {}\n": "no __global__ function",
        ENTRY: "say how to launch it.* grid = ceil_div.* and // flashscope: threads = 64",
        "// flashscope: grid = B\n" + ENTRY: "line 1: say its threads, too, like .*threads = 64",
        "// flashscope: block = 3\n" + ENTRY: "line 1: block is no key",
        "// flashscope: grid\n" + ENTRY: "line 1: .*key = value",
        HEADER.replace("= B", "= batch") + ENTRY: "line 1: batch is no size",
        HEADER + ENTRY.replace('extern "C" ', ""): 'write extern "C" before f',
        HEADER + ENTRY.replace("int N", "int tokens"): "tokens is filled in by its name",
        HEADER + ENTRY.replace("float* o", "float* x"): "the pointer x is no tensor",
        HEADER + ENTRY.replace("int N", "half2 N"): "type of N is none that is filled in",
        HEADER + "// flashscope: arguments = q, o\n" + ENTRY: "line 3: f has 3 parameters, not 2",
        HEADER + "// flashscope: entry = g\n// flashscope: grid = 1\n" + ENTRY: "line 3: say its threads",
        HEADER + "// flashscope: dtypes = int8\n" + ENTRY: "line 3: int8 is none of",
        HEADER + "// flashscope: head_dims = 0\n" + ENTRY: "line 3: 0 is no head dim",
        HEADER + "// flashscope: features = paged\n" + ENTRY: "line 3: paged is none of",
        HEADER + "// flashscope: workspace = part (B)\n" + ENTRY: "line 3: a workspace is",
    },
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, of_it in WRONG.items() for text in of_it])
def test_what_is_wrong_with_a_declaration_is_told_with_its_line(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InputError, match=WRONG[name][text]):
        of(tmp_path, text, name)


@pytest.mark.parametrize("name", ["mine.CU", "mine.Py"])
@pytest.mark.parametrize("function", ["", ":f"])
def test_an_ending_in_capitals_is_refused_with_the_remedy(tmp_path: Path, name: str, function: str) -> None:
    (tmp_path / name).write_text(HEADER + ENTRY, encoding="utf-8")
    with pytest.raises(
        InputError, match=rf"{name} ends in .*: write \.cu and \.py in small letters; rename it"
    ):
        declared(f"{tmp_path / name}{function}")


def test_the_name_of_a_kernel_of_ours_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "flash2.py").write_text("import numpy\ndef attend(q, k, v): ...\n", encoding="utf-8")
    with pytest.raises(
        InputError, match="flash2 is the name of a kernel that is here already; declare another"
    ):
        introduced(str(tmp_path / "flash2.py"))


def test_a_package_offers_a_kernel_by_an_entry_point_and_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, told = tmp_path / "offering" / "inner", tmp_path / "offering-1.0.dist-info"
    inner.mkdir(parents=True)
    told.mkdir()
    for folder in (inner.parent, inner):
        (folder / "__init__.py").write_text("raise SystemExit\n", encoding="utf-8")
    (inner / "fast.py").write_text("import torch\ndef attend(q, k, v, *, causal): ...\n", encoding="utf-8")
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n", encoding="utf-8")
    entries = "[flashscope.kernels]\noffered = offering.inner.fast:attend\n"
    (told / "entry_points.txt").write_text(entries, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    own = declared("offered")
    assert (own.name, own.module, own.function) == ("offered", "offering.inner.fast", "attend")
    assert "offered" in own_names()


def test_a_file_that_is_not_there_or_none_is_refused(tmp_path: Path) -> None:
    for text, told in (("gone.cu", "is not there"), (".", "is no .cu"), ("a.txt", "is no .cu")):
        with pytest.raises(InputError, match=told):
            declared(text if text == "." else str(tmp_path / text))


def test_an_empty_name_is_refused_in_words() -> None:
    with pytest.raises(InputError, match=r"^An empty name is no \.cu or \.py file"):
        declared("")


def test_several_launches_and_a_workspace_are_declared_in_order(tmp_path: Path) -> None:
    text = """
// flashscope: workspace = part float32 (B, H, Nq, D + 2)
// flashscope: entry = split
// flashscope: grid = ceil_div(Nk, 256), H * B
// flashscope: threads = 32, 4
// flashscope: shared = 2 * 64 * D * itemsize
// flashscope: entry = merge
// flashscope: grid = B
// flashscope: threads = 64
// flashscope: head_dims = 64:128:32, 256
extern "C" __global__ void split(const __half *q, const __half *k, const __half *v, float *part, size_t Nk) {}
extern "C" __global__ void merge(const float *part, __half *o) {}
"""
    own = of(tmp_path, text, "split.cu")
    assert [one.entry for one in own.launches] == ["split", "merge"]
    assert (own.dtypes, own.head_dims) == (("float16",), (64, 96, 128, 256))
    problem = Problem(seqlen_q=4, seqlen_k=512, heads=2, head_dim=64, dtype="float16")
    assert spec_of(own).workspace_bytes(problem, "cuda") == 2 * 4 * 66 * 4


NUMPY_FUNCTION = "import numpy\ndef attend(q, k, v, *, causal): ...\n"
ROWS = """// flashscope: grid = ceil_div(Nq, 64), H, B
// flashscope: threads = 64
extern "C" __global__ void rows(const __half *q, __half *o) {}
"""


@pytest.mark.parametrize(("name", "text"), [("mine.py", NUMPY_FUNCTION), ("rows.cu", ROWS)])
def test_a_mark_of_utf_8_before_the_first_line_changes_nothing_that_is_declared(
    tmp_path: Path, name: str, text: str
) -> None:
    plain, marked = of(tmp_path, text, name), of(tmp_path, f"\ufeff{text}", name)
    assert marked == msgspec.structs.replace(plain, sha256=marked.sha256)
    kept = with_source(marked)
    assert kept_bytes(kept) == f"\ufeff{text}".encode()
    if kept.launches:
        assert text_of(kept) == text


@pytest.mark.parametrize(
    ("name", "called"), [("-dash", "dash"), ("my attention", "my-attention"), ("x" * 90, "x" * 60)]
)
def test_a_file_of_any_name_has_one_that_kernels_may_have(tmp_path: Path, name: str, called: str) -> None:
    assert of(tmp_path, NUMPY_FUNCTION, f"{name}.py").name == called


@pytest.mark.parametrize(
    ("name", "text", "remedy"),
    [("注意.py", NUMPY_FUNCTION, 'FLASHSCOPE = {"name": ...}'), ("_.cu", ROWS, "// flashscope: name = ...")],
)
def test_a_file_whose_name_makes_none_is_told_to_declare_one(
    tmp_path: Path, name: str, text: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=f"declare one: {re.escape(remedy)}"):
        of(tmp_path, text, name)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = \0 1", "mine.py: source code string cannot contain null bytes"),
        (f"x = {'-' * 100_000}1", "cannot be read as Python (too deeply nested)"),
    ],
)
def test_what_has_no_line_is_told_without_one(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)) as raised:
        of(tmp_path, text)
    assert "None" not in str(raised.value)


def test_of_a_line_without_end_a_message_quotes_the_beginning(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        of(tmp_path, f"x = ({'1 + ' * 5000}")
    assert "line 1" in str(raised.value)
    assert len(str(raised.value)) < 400


def test_an_error_of_a_million_letters_is_told_by_its_first(tmp_path: Path) -> None:
    def fails() -> None:
        raise ValueError("x" * 1_000_000)

    with pytest.raises(KernelError, match=r"mine raised ValueError: x+ …") as raised:
        called(of(tmp_path, NUMPY_FUNCTION), fails)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("name", ["mine.py", "mine.cu"])
def test_lengths_that_are_no_multiple_of_what_it_declares_are_unsupported(tmp_path: Path, name: str) -> None:
    text = {
        "mine.py": "import cupy\nFLASHSCOPE = {'length_multiple': 64}\ndef attend(q, k, v, *, scale): ...\n",
        "mine.cu": "// flashscope: grid = 1\n// flashscope: threads = 1\n"
        "// flashscope: length_multiple = 64\n"
        'extern "C" __global__ void rows(const float* q, float* o) {}\n',
    }[name]
    spec = spec_of(of(tmp_path, text, name))
    assert spec.unsupported(Problem(seqlen_q=128, seqlen_k=64, head_dim=64), HOPPER) is None
    for rows, keys in ((64, 100), (63, 64)):
        told = spec.unsupported(Problem(seqlen_q=rows, seqlen_k=keys, head_dim=64), HOPPER)
        assert told == "mine takes sequence lengths that are multiples of 64 alone"


def test_a_multiple_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    text = "// flashscope: grid = 1\n// flashscope: threads = 1\n// flashscope: length_multiple = 0\n"
    with pytest.raises(InputError, match=r"mine\.cu, line 3: length_multiple is a whole number from 1"):
        of(tmp_path, text + 'extern "C" __global__ void rows(const float* q, float* o) {}\n', "mine.cu")


def test_what_a_header_defines_may_be_named_in_it(tmp_path: Path) -> None:
    lines = ("grid = ceil_div(Nq, ROWS), H, B", "threads = ROWS", "shared = 2 * TILE * D * itemsize")
    defines = ("define = ROWS = 128 if D <= 64 else 64", "define = TILE = ROWS // 4")
    header = "".join(f"// flashscope: {line}\n" for line in (*lines, *defines))
    source = 'extern "C" __global__ void rows(const float* q, float* o, int TILE) {}\n'
    own = of(tmp_path, header + source, "mine.cu")
    sizes = sizes_with(Problem(seqlen_q=300, seqlen_k=300, head_dim=128), own.defines)
    (launch,) = own.launches
    assert [evaluate_whole(axis, sizes) for axis in (*launch.grid, *launch.threads)] == [5, 1, 1, 64]
    assert evaluate_whole(launch.shared, sizes) == 2 * 16 * 128 * 4
    assert own.defines == (("ROWS", "128 if D <= 64 else 64"), ("TILE", "ROWS // 4"))
    with pytest.raises(InputError, match="line 4: ROWS is no size"):
        of(tmp_path, header.replace(f"// flashscope: {defines[0]}\n", "") + source, "mine.cu")
    with pytest.raises(InputError, match="line 4: D has a value already"):
        of(tmp_path, header.replace("define = ROWS", "define = D") + source, "mine.cu")


@pytest.mark.parametrize(("told", "both"), [("int N", False), ("int seqlen", False), ("int N, int Nq", True)])
def test_a_raw_kernel_that_is_told_one_length_takes_as_many_queries_as_keys(
    tmp_path: Path, told: str, both: bool
) -> None:
    header = "// flashscope: grid = ceil_div(N, 64), H, B\n// flashscope: threads = 64\n"
    source = f'extern "C" __global__ void rows(const float* q, float* o, {told}) {{}}\n'
    spec = spec_of(of(tmp_path, header + source, "mine.cu"))
    assert spec.unsupported(Problem(seqlen_q=64, seqlen_k=64, head_dim=64), HOPPER) is None
    refused = spec.unsupported(Problem(seqlen_q=1, seqlen_k=64, head_dim=64), HOPPER)
    assert (refused is None) is both
    assert both or refused == (
        "mine takes as many queries as keys alone: of lengths it is told N, not Nq and Nk"
    )

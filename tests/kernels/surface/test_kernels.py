"""What `kernel=` may be beside a name: a spec, a file of one's own, a function."""

import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashscope.kernels import attention, attention_backward
from flashscope.kernels.catalogue.ladder import FLASH1
from flashscope.kernels.own.references import declared
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.errors import InputError, KernelError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import draw
from tests.kernels.running_backward import grad_output_of
from tests.kernels.surface.laid import Laid, joined_inputs, offsets

if find_spec("torch"):
    import torch
    from torch.nn.functional import scaled_dot_product_attention

PROBLEM = Problem(seqlen_q=20, seqlen_k=30, batch=2, heads=2, head_dim=16)
FILE = """
import numpy as np

def mine(q, k, v, *, causal, scale):
    s = np.matmul(q, k.swapaxes(2, 3)) * np.float32(scale)
    if causal:
        rows, keys = s.shape[2:]
        s[..., ~np.tri(rows, keys, keys - rows, dtype=bool)] = -np.inf
    m = s.max(axis=-1, keepdims=True)
    p = np.exp(s - m)
    l = p.sum(axis=-1, keepdims=True)
    return np.matmul(p / l, v), (m + np.log(l))[..., 0]
"""
BACKWARD = """
def mine_backward(q, k, v, output, lse, grad_output, *, causal, scale):
    s = np.matmul(q, k.swapaxes(2, 3)) * np.float32(scale)
    if causal:
        rows, keys = s.shape[2:]
        s[..., ~np.tri(rows, keys, keys - rows, dtype=bool)] = -np.inf
    p = np.exp(s - lse[..., None])
    delta = (grad_output * output).sum(axis=-1, keepdims=True)
    ds = p * (np.matmul(grad_output, v.swapaxes(2, 3)) - delta) * np.float32(scale)
    return np.matmul(ds, k), np.matmul(ds.swapaxes(2, 3), q), np.matmul(p.swapaxes(2, 3), grad_output)
"""


def mine(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> Any:
    found: dict[str, Any] = {}
    exec(FILE, found)  # noqa: S102 - the same function as the file's
    return found["mine"](q, k, v, causal=causal, scale=scale)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def agree(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_without_a_kernel_it_is_auto() -> None:
    inputs = draw(PROBLEM)
    np.testing.assert_array_equal(attention(*inputs.qkv), attention(*inputs.qkv, kernel="auto"))


def test_a_spec_names_its_kernel() -> None:
    inputs = draw(PROBLEM)
    np.testing.assert_array_equal(
        attention(*inputs.qkv, kernel=FLASH1), attention(*inputs.qkv, kernel="flash1")
    )


@pytest.mark.parametrize("form", [str, Path, "{}:mine".format], ids=["text", "path", "function"])
@pytest.mark.parametrize("causal", [False, True])
def test_a_file_of_ones_own_is_run(file: Path, form: Any, causal: bool) -> None:
    inputs = draw(PROBLEM)
    asked: dict[str, Any] = {"causal": causal, "return_lse": True}
    agree(attention(*inputs.qkv, kernel=form(file), **asked), attention(*inputs.qkv, **asked))


def test_the_second_function_of_a_file_gives_gradients(file: Path) -> None:
    file.write_text(FILE + BACKWARD)
    inputs, grad_output = draw(PROBLEM), grad_output_of(PROBLEM)
    output, lse = attention(*inputs.qkv, kernel=file, causal=True, return_lse=True)
    given = *inputs.qkv, output, lse, grad_output
    found = attention_backward(*given, kernel=file, causal=True)
    agree(found, attention_backward(*given, causal=True))


def test_a_file_that_changes_is_read_again(file: Path) -> None:
    inputs = draw(PROBLEM)
    before = attention(*inputs.qkv, kernel=file)
    file.write_text(FILE.replace("np.matmul(p / l, v)", "-np.matmul(p / l, v)"))
    os.utime(file, (1, 1))  # whatever the clock of the file system resolves
    np.testing.assert_array_equal(attention(*inputs.qkv, kernel=file), -before)


def test_a_file_in_the_users_folder_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "of_the_folder.py").write_text(FILE)
    inputs = draw(PROBLEM)
    agree(attention(*inputs.qkv, kernel="of_the_folder"), attention(*inputs.qkv))


def test_a_spec_of_a_file_that_nobody_named_here_is_not_run(file: Path) -> None:
    spec, inputs = spec_of(declared(str(file))), draw(PROBLEM)
    with pytest.raises(InputError, match="runs only where you name it"):
        attention(*inputs.qkv, kernel=spec)
    attention(*inputs.qkv, kernel=file)
    assert attention(*inputs.qkv, kernel=spec).shape == PROBLEM.q_shape


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ("nowhere/mine.py", r"mine\.py is not there; name a \.cu or \.py file"),
        (Path("nowhere/mine.cu"), r"mine\.cu is not there"),
        (Path("flash2"), r"kernel must be a \.py or \.cu file where it is a path, not 'flash2'"),
        ("flash9", r"kernel must be one of auto, .*, or a path to a \.py or \.cu file, not 'flash9'"),
        (7, "kernel must be a name, a KernelSpec, a path or a function, not 7"),
        (
            lambda q, k: q + k,
            r"function lambda cannot be called as lambda\(q, k, v, \*, causal, scale, \.\.\.\)",
        ),
        (
            lambda q, k, v, dropout: q * k * v * dropout,
            "cannot be called as .*: missing a required argument: 'dropout'",
        ),
    ],
    ids=["no file", "no path", "a name as a path", "no name", "a number", "too few", "unknown"],
)
def test_what_is_no_kernel_is_refused_with_what_there_is(kernel: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        attention(*draw(PROBLEM).qkv, kernel=kernel)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("causal", [False, True])
def test_a_function_is_a_kernel(causal: bool) -> None:
    inputs = draw(PROBLEM)
    asked: dict[str, Any] = {"causal": causal, "scale": 0.3, "return_lse": True}
    agree(attention(*inputs.qkv, kernel=mine, **asked), attention(*inputs.qkv, **asked))
    agree(attention(*inputs.qkv, kernel=partial(mine), **asked), attention(*inputs.qkv, **asked))


def test_a_function_is_called_once_with_what_it_takes() -> None:
    calls = []

    def noted(q: Any, k: Any, v: Any, **options: Any) -> Any:
        calls.append((q, options))
        return q

    x = draw(PROBLEM).q
    assert attention(x, x, x, kernel=noted, window=(3, 0)) is not None
    ((given, options),) = calls
    assert given is x
    assert options["window"] == (3, 0)
    assert options["scale"] == 0.25
    assert set(options) == {
        *("causal", "scale", "window", "block_mask", "query_lengths", "key_lengths", "page_table")
    }


def test_a_function_is_given_row_major_arrays_and_its_results_come_in_the_layout() -> None:
    inputs, laid = draw(PROBLEM), Laid("bnhd", "packed")
    q, k, v = map(laid.of, inputs.qkv)
    with pytest.raises(InputError, match=r"^q must be contiguous .* for mine on cpu"):
        attention(q, k, v, kernel=mine, layout="bnhd")
    seen: list[Any] = []

    def noted(*arrays: Any, causal: bool, scale: float) -> Any:
        seen.extend(arrays)
        return mine(*arrays, causal=causal, scale=scale)

    found = attention(q, k, v, kernel=noted, layout="bnhd", copy=True)
    np.testing.assert_array_equal(laid.back(found), attention(*inputs.qkv, kernel=mine))
    assert all(array.flags.c_contiguous for array in seen)


def test_a_function_takes_sequences_one_by_one_or_by_their_lengths() -> None:
    lengths = (20, 0, 7)
    problem = Problem(
        seqlen_q=20, seqlen_k=20, batch=3, head_dim=16, query_lengths=lengths, key_lengths=lengths
    )
    seen = []

    def by_length(q: Any, k: Any, v: Any, *, query_lengths: Any, key_lengths: Any) -> Any:
        seen.append((q.shape, query_lengths))
        return attention(q, k, v, query_lengths=query_lengths, key_lengths=key_lengths)

    joint = joined_inputs(problem, draw(problem))
    expected = attention(*joint, **offsets(problem))
    agree((attention(*joint, kernel=mine, copy=True, **offsets(problem)),), (expected,))
    agree((attention(*joint, kernel=by_length, copy=True, **offsets(problem)),), (expected,))
    assert seen == [((3, 1, 20, 16), lengths)]


def test_what_a_function_takes_no_keyword_for_is_unsupported() -> None:
    x = draw(PROBLEM).q
    with pytest.raises(UnsupportedError, match=r"mine does not take a sliding window on cpu"):
        attention(x, x, x, kernel=mine, window=(1, 1))
    with pytest.raises(UnsupportedError, match=r"takes no scale other than 1/sqrt\(head dim\)"):
        attention(x, x, x, kernel=lambda q, *_: q, scale=3.0)
    with pytest.raises(InputError, match="lambda returns no LSE"):
        attention(x, x, x, kernel=lambda q, *_: q, return_lse=True)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda *_: None, "lambda returned None for O; O must be a numpy.ndarray of shape"),
        (lambda q, *_: q[0], r"returned O of shape \(2, 20, 16\); it must be \(2, 2, 20, 16\)"),
        (lambda q, *_: q.astype("float64"), "returned O in float64; it must be in float32"),
        (lambda q, k, _: q @ k, r"lambda raised ValueError: matmul.* in line \d+: \(lambda q, k, _: q @ k"),
    ],
    ids=["nothing", "shape", "dtype", "raises"],
)
def test_what_a_function_does_wrong_is_told_in_a_sentence(function: Any, says: str) -> None:
    with pytest.raises(KernelError, match=says) as caught:
        attention(*draw(PROBLEM).qkv, kernel=function)
    assert "\n" not in str(caught.value)


def test_a_second_function_gives_gradients() -> None:
    inputs, grad_output = draw(PROBLEM), grad_output_of(PROBLEM)
    output, lse = attention(*inputs.qkv, causal=True, return_lse=True)
    given = *inputs.qkv, output, lse, grad_output

    def mine_backward(*tensors: Any, causal: bool) -> Any:
        return attention_backward(*tensors, kernel="flash1", causal=causal)

    expected = attention_backward(*given, kernel="flash1", causal=True)
    for one, other in zip(
        attention_backward(*given, kernel=mine_backward, causal=True), expected, strict=True
    ):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(InputError, match=r"cannot be called as mine\(q, k, v, output, lse, grad_output, \*"):
        attention_backward(*given, kernel=mine)


@pytest.mark.torch
def test_a_function_of_tensors_is_given_tensors_where_the_caller_has_them() -> None:
    kinds = []

    def of_torch(q: Any, k: Any, v: Any, *, causal: bool) -> Any:
        kinds.append(type(q))
        return scaled_dot_product_attention(q, k, v, is_causal=causal)

    q, k, v = map(torch.from_numpy, draw(PROBLEM).qkv)
    found = attention(q, k, v, kernel=of_torch)
    torch.testing.assert_close(found, attention(q, k, v), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(attention(q, k, v, kernel=scaled_dot_product_attention), found)
    assert kinds == [torch.Tensor]
    half = attention(q.bfloat16(), k.bfloat16(), v.bfloat16(), kernel=of_torch)
    assert half.dtype is torch.bfloat16
    with pytest.raises(UnsupportedError, match="does not take a causal mask on cpu"):
        attention(q, k, v, kernel=scaled_dot_product_attention, causal=True)


@pytest.mark.torch
def test_a_function_of_tensors_gives_gradients() -> None:
    def by_autograd(*tensors: Any) -> tuple[Any, ...]:
        *qkv, _output, _lse, grad_output = tensors
        with torch.enable_grad():
            given = [one.detach().requires_grad_() for one in qkv]
            found = scaled_dot_product_attention(*given)
        gradients: tuple[Any, ...] = torch.autograd.grad(found, given, grad_output)
        return gradients

    q, k, v, grad_output = map(torch.from_numpy, (*draw(PROBLEM).qkv, grad_output_of(PROBLEM)))
    output, lse = attention(q, k, v, return_lse=True)
    given = q, k, v, output, lse, grad_output
    expected = attention_backward(*given)
    for one, other in zip(attention_backward(*given, kernel=by_autograd), expected, strict=True):
        assert type(one) is torch.Tensor
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)

"""PyTorch's tensors: their memory is shared, results are tensors, and what cannot be lent is refused."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from flashscope.kernels import attention, attention_backward
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import draw
from tests.kernels.surface.laid import joined_inputs, offsets
from tests.kernels.surface.test_forward import imported_after

if find_spec("torch"):
    import torch

pytestmark = pytest.mark.torch
PROBLEM = Problem(seqlen_q=40, seqlen_k=50, batch=2, heads=4, kv_heads=2, head_dim=16, causal=True)


def tensors() -> tuple[Any, Any, Any]:
    q, k, v = map(torch.from_numpy, draw(PROBLEM).qkv)
    return q, k, v


def test_tensors_give_tensors_with_the_bits_of_arrays() -> None:
    expected = attention(*draw(PROBLEM).qkv, causal=True, return_lse=True)
    found = attention(*tensors(), causal=True, return_lse=True)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is torch.Tensor
        assert one.device.type == "cpu"
        np.testing.assert_array_equal(one.numpy(), other)


def test_gradients_of_tensors_are_tensors_with_the_bits_of_arrays() -> None:
    q, k, v = draw(PROBLEM).qkv
    output, lse = attention(q, k, v, causal=True, return_lse=True)
    given = q, k, v, output, lse, output
    expected = attention_backward(*given, causal=True)
    found = attention_backward(*map(torch.from_numpy, given), causal=True)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is torch.Tensor
        np.testing.assert_array_equal(one.numpy(), other)


def test_the_memory_of_a_tensor_is_shared_and_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from flashscope.kernels.cpu import flash2  # noqa: PLC0415 - its own name, which is replaced

    seen, prepare = [], flash2.prepare

    def watched(*given: Any) -> Any:
        seen.append(given[2])
        return prepare(*given)

    monkeypatch.setattr(flash2, "prepare", watched)
    qkv = torch.randn(2, 33, 3, 4, 16)
    before = qkv.clone()
    q, k, v = qkv.unbind(2)
    output = attention(q, k, v, layout="bnhd", kernel="flash2")
    (inputs,) = seen
    assert [array.ctypes.data for array in inputs.qkv] == [one.data_ptr() for one in (q, k, v)]
    assert torch.equal(qkv, before)
    assert output.shape == q.shape
    assert output.is_contiguous()


def test_it_agrees_with_pytorch() -> None:
    q, k, v = tensors()
    mask = torch.ones(40, 50, dtype=torch.bool).tril(10)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    torch.testing.assert_close(attention(q, k, v, causal=True), expected, rtol=1e-5, atol=1e-5)


def test_sequences_one_behind_the_other_are_tensors_too() -> None:
    rows, keys = (40, 0), (20, 30)
    problem = Problem(
        seqlen_q=40, seqlen_k=30, batch=2, heads=2, head_dim=16, query_lengths=rows, key_lengths=keys
    )
    arrays = joined_inputs(problem, draw(problem))
    asked = offsets(problem)
    of_tensors = {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in asked.items()
    }
    found = attention(*map(torch.from_numpy, arrays), **of_tensors)
    np.testing.assert_array_equal(found.numpy(), attention(*arrays, **asked))
    np.testing.assert_array_equal(attention(*map(torch.from_numpy, arrays), **asked).numpy(), found.numpy())


def test_lengths_may_be_a_tensor() -> None:
    q, k, v = tensors()
    found = attention(q, k, v, key_lengths=torch.tensor([7, 50]))
    assert torch.equal(found, attention(q, k, v, key_lengths=[7, 50]))


def test_a_kernel_of_a_library_takes_tensors() -> None:
    q, k, v = tensors()
    torch.testing.assert_close(
        attention(q, k, v, kernel="torch-math"), attention(q, k, v), rtol=1e-5, atol=1e-5
    )


def test_a_tensor_that_requires_grad_is_refused_while_autograd_records_and_taken_where_it_does_not() -> None:
    q, k, v = tensors()
    expected = attention(q, k, v)
    q.requires_grad_()
    with pytest.raises(
        InputError, match=r"q requires grad, .* q\.detach\(\) .* attention_backward, or call under"
    ):
        attention(q, k, v)
    with torch.no_grad():
        found = attention(q, k, v)
    assert torch.equal(found, expected)
    assert not found.requires_grad


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda q: q.to("meta"), "on the CPU or on a CUDA GPU, not on meta"),
        (lambda q: q.to_sparse(), r"q must be a dense torch.Tensor, not torch.sparse_coo"),
        (lambda q: q.double(), r"q must be float32, .* not <f8"),
        (lambda q: q.to(torch.float8_e4m3fn), "q cannot be shared as an array: "),
        (lambda q: q[0], r"q must have 4 axes .* not shape \(4, 40, 16\)"),
        (lambda q: q.numpy(), "q, k and v must all be NumPy arrays, .* not a mixture"),
        (lambda q: q.tolist(), "q must be a NumPy array .* or a PyTorch tensor, not list"),
    ],
    ids=["meta", "sparse", "float64", "float8", "axes", "NumPy", "list"],
)
def test_what_cannot_be_lent_is_refused_in_a_sentence(changed: Any, says: str) -> None:
    q, k, v = tensors()
    with pytest.raises(InputError, match=says) as caught:
        attention(changed(q), k, v)
    assert "\n" not in str(caught.value)


def test_options_that_are_tensors_are_told_by_dtype_and_shape() -> None:
    q, k, v = tensors()
    with pytest.raises(
        InputError, match=r"scale must be a finite number or None, not torch.float32 of shape \(\)"
    ):
        attention(q, k, v, scale=torch.tensor(0.1))


def test_bfloat16_on_the_cpu_is_refused_with_what_its_kernels_take() -> None:
    with pytest.raises(UnsupportedError, match="flash2 takes float32 on cpu, not bfloat16"):
        attention(*(one.bfloat16() for one in tensors()))


def test_asking_with_arrays_imports_no_pytorch() -> None:
    code = (
        "import numpy; from flashscope.kernels import attention; a = numpy.ones((1, 4, 2, 16), 'f'); "
        "attention(a, a, a, layout='bnhd')"
    )
    assert not {"cupy", "torch"} & imported_after(code)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("stream", ["default", "own"])
def test_tensors_on_a_gpu_run_on_its_current_stream_and_stay_there(dtype: str, stream: str) -> None:
    qkv = [one.to("cuda", getattr(torch, dtype)) for one in tensors()]
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream() if stream == "own" else torch.cuda.default_stream()):
        late = [one + 0 for one in qkv]  # still on its way when the kernel is enqueued
        output, lse = attention(*late, causal=True, return_lse=True)
        total = output.float().sum()  # enqueued behind it, without a wait in between
    torch.cuda.synchronize()
    assert output.is_cuda
    assert output.dtype is qkv[0].dtype
    assert lse.dtype is torch.float32
    expected = attention(*(one.float().cpu() for one in qkv), causal=True)
    torch.testing.assert_close(output.float().cpu(), expected, rtol=2e-2, atol=2e-2)
    torch.testing.assert_close(total.cpu(), output.float().cpu().sum(), rtol=1e-3, atol=1e-1)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_other_layouts_on_a_gpu_are_refused_or_copied_with_the_same_bits(dtype: str) -> None:
    q, k, v = (one.to("cuda", getattr(torch, dtype)) for one in tensors())
    expected, lse = attention(q, k, v, causal=True, return_lse=True)
    gradients = attention_backward(q, k, v, expected, lse, expected, causal=True, deterministic=True)
    laid = q.transpose(1, 2).contiguous(), k.transpose(1, 2).contiguous(), v.transpose(1, 2).contiguous()
    with pytest.raises(InputError, match=r"q must be contiguous .* copy=True copies it"):
        attention(*laid, layout="bnhd", causal=True)
    found, found_lse = attention(*laid, layout="bnhd", causal=True, copy=True, return_lse=True)
    assert found.is_contiguous()
    assert torch.equal(found.transpose(1, 2), expected)
    assert torch.equal(found_lse, lse)
    of_laid = attention_backward(
        *laid, found, found_lse, found, layout="bnhd", causal=True, copy=True, deterministic=True
    )
    for one, other in zip(of_laid, gradients, strict=True):
        assert torch.equal(one.transpose(1, 2), other)


@pytest.mark.gpu
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_sequences_on_a_gpu_are_copied_into_one_launch(where: str) -> None:
    lengths = (40, 3, 17)
    problem = Problem(
        seqlen_q=40,
        seqlen_k=40,
        batch=3,
        heads=4,
        kv_heads=2,
        head_dim=64,
        query_lengths=lengths,
        key_lengths=lengths,
    )
    arrays = joined_inputs(problem, draw(problem))
    asked = offsets(problem)
    starts = {name: torch.from_numpy(asked.pop(name)).to(where) for name in ("cu_seqlens_q", "cu_seqlens_k")}
    q, k, v = (torch.from_numpy(x).to("cuda", torch.bfloat16) for x in arrays)
    output, lse = attention(q, k, v, **asked, **starts, copy=True, return_lse=True)
    expected, expected_lse = attention(*arrays, **offsets(problem), return_lse=True)
    assert output.shape == q.shape
    np.testing.assert_allclose(output.float().cpu().numpy(), expected, rtol=3e-2, atol=3e-2)
    np.testing.assert_allclose(lse.cpu().numpy(), expected_lse, rtol=3e-2, atol=3e-2)
    gradients = attention_backward(q, k, v, output, lse, output, **asked, **starts, copy=True)
    assert [one.shape for one in gradients] == [one.shape for one in (q, k, v)]
    assert all(bool(one.isfinite().all()) for one in gradients)

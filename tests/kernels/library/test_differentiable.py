"""Our kernels on tensors of a GPU, with autograd: on PyTorch's current stream, in its dtypes and models."""

from typing import Any

import pytest

from flashscope.kernels import register_transformers

pytestmark = [pytest.mark.gpu, pytest.mark.transformers]

CLOSE = {"float32": 2e-3, "float16": 4e-3, "bfloat16": 3e-2}  # of the largest number, float32 by TF32
MASKS: dict[str, Any] = {"causal": True, "window": (40, -1), "block_mask": None, "scale": 0.2}


def drawn(dtype: str) -> list[Any]:
    """Q, K, V of 4 query heads and 2 K/V heads with gradients, and dO, on the GPU."""
    import torch  # noqa: PLC0415 - only where it is installed

    draw = torch.Generator("cuda").manual_seed(4)
    shapes = [(2, 4, 150, 64), (2, 2, 200, 64), (2, 2, 200, 64), (2, 4, 150, 64)]
    made = [torch.randn(s, generator=draw, device="cuda").to(getattr(torch, dtype)) for s in shapes]
    return [tensor.requires_grad_(i < 3) for i, tensor in enumerate(made)]


def in_float64(q: Any, k: Any, v: Any, grad_output: Any) -> list[Any]:
    """O, dQ, dK and dV of `MASKS` by the formula."""
    import torch  # noqa: PLC0415 - only where it is installed

    leaves = [tensor.detach().double().requires_grad_() for tensor in (q, k, v)]
    wide_k, wide_v = (tensor.repeat_interleave(2, dim=1) for tensor in leaves[1:])
    ones = torch.ones(150, 200, dtype=torch.bool, device="cuda")
    kept = ones.tril(50) & ones.triu(10)
    scores = leaves[0] @ wide_k.transpose(-1, -2) * MASKS["scale"]
    output = scores.masked_fill(~kept, -torch.inf).softmax(-1) @ wide_v
    return [output, *torch.autograd.grad(output, leaves, grad_output.double())]


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("aside", [False, True])
def test_output_and_gradients_are_those_of_the_formula_on_any_stream(dtype: str, aside: bool) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.differentiable import attend  # noqa: PLC0415 - as above

    q, k, v, grad_output = drawn(dtype)
    stream = torch.cuda.Stream() if aside else torch.cuda.current_stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        late = q * 1.0  # made on that stream just before it is read
        output = attend(late, k, v, kernel="flash2", **MASKS)
        found = [output, *torch.autograd.grad(output, (q, k, v), grad_output)]
    torch.cuda.synchronize()
    for tensor, right in zip(found, in_float64(q, k, v, grad_output), strict=True):
        assert str(tensor.dtype) == f"torch.{dtype}"
        assert float((tensor - right).abs().max() / right.abs().max()) < CLOSE[dtype]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kernel", ["auto", "flash2"])
def test_a_model_on_a_gpu_answers_and_trains(models: Any, kernel: str, dtype: str) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    answers = []
    for implementation in ("sdpa", register_transformers(kernel)):
        model = models.of_name("mistral").to("cuda", getattr(torch, dtype))
        inputs = {key: value.to("cuda") for key, value in models.inputs_for("mistral").items()}
        answers.append(models.answer(model, implementation, inputs))
    assert models.difference(answers[1], answers[0]) < 4 * CLOSE[dtype]

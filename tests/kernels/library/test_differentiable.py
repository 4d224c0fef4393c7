"""Our kernels on tensors, with autograd: the formula's own gradients, on a GPU on any stream."""

from typing import Any

import pytest

from flashscope.kernels import register_transformers
from flashscope.kernels.workload.mask import Mask

CLOSE = {"float16": 4e-3, "bfloat16": 3e-2}  # of the largest number
ON_THE_CPU = 2e-6
HEADS, KV_HEADS, ROWS, KEYS, DIM = 4, 2, 50, 70, 32
NO_MASK = {"causal": False, "window": None, "block_mask": None, "scale": None}
MASKS: dict[str, dict[str, Any]] = {
    "none": NO_MASK,
    "causal and window": {**NO_MASK, "causal": True, "window": (20, -1), "scale": 0.2},
    "window both ways": {**NO_MASK, "window": (30, 9)},
    "padded keys": {**NO_MASK, "key_lengths": (33, 0)},
    "padded rows and keys": {
        **NO_MASK,
        "window": (7, 3),
        "query_lengths": (ROWS, 12),
        "key_lengths": (KEYS, 40),
    },
}
each_mask = pytest.mark.parametrize("options", MASKS.values(), ids=MASKS)


def drawn(device: str, dtype: str) -> list[Any]:
    """Q, K and V of 2 sequences, of which gradients are taken, and dO."""
    import torch  # noqa: PLC0415 - only where it is installed

    draw = torch.Generator(device).manual_seed(4)
    shapes = [
        (2, HEADS, ROWS, DIM),
        (2, KV_HEADS, KEYS, DIM),
        (2, KV_HEADS, KEYS, DIM),
        (2, HEADS, ROWS, DIM),
    ]
    made = [
        torch.randn(shape, generator=draw, device=device).to(getattr(torch, dtype)).contiguous()
        for shape in shapes
    ]
    return [tensor.requires_grad_(i < 3) for i, tensor in enumerate(made)]


def kept_by(options: dict[str, Any]) -> Any:
    """The pairs that options keep, bool (2, 1, Nq, Nk)."""
    import torch  # noqa: PLC0415 - only where it is installed

    kept = torch.zeros(2, 1, ROWS, KEYS, dtype=torch.bool)
    for b in range(2):
        rows = options.get("query_lengths", (ROWS, ROWS))[b]
        keys = options.get("key_lengths", (KEYS, KEYS))[b]
        mask = Mask.of(rows, keys, causal=options["causal"], window=options["window"])
        for row in range(rows):
            band = mask.band(row)
            kept[b, 0, row, band.start : band.stop] = True
    return kept


def by_the_formula(options: dict[str, Any], q: Any, k: Any, v: Any, grad_output: Any) -> list[Any]:
    """O, dQ, dK and dV in float64; rows that keep no key are 0."""
    import torch  # noqa: PLC0415 - only where it is installed

    leaves = [tensor.detach().double().requires_grad_() for tensor in (q, k, v)]
    wide_k, wide_v = (tensor.repeat_interleave(HEADS // KV_HEADS, dim=1) for tensor in leaves[1:])
    kept = kept_by(options).to(q.device)
    scores = leaves[0] @ wide_k.transpose(-1, -2) * (options["scale"] or DIM**-0.5)
    weights = scores.masked_fill(~kept, -1e300).softmax(-1) * kept
    output = weights @ wide_v
    return [output, *torch.autograd.grad(output, leaves, grad_output.double())]


def assert_close(found: list[Any], expected: list[Any], share: float) -> None:
    """Whether each tensor is off by no more than a share of the largest number expected in it."""
    for tensor, right in zip(found, expected, strict=True):
        off = (tensor - right).detach().abs().max()
        assert float(off) <= share * float(right.detach().abs().max())


@pytest.mark.torch
@each_mask
@pytest.mark.parametrize("kernel", ["standard", "flash1", "flash2"])
def test_output_and_gradients_are_those_of_the_formula(kernel: str, options: dict[str, Any]) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.differentiable import attend  # noqa: PLC0415 - as above

    q, k, v, grad_output = drawn("cpu", "float32")
    output = attend(q, k, v, kernel=kernel, **options)
    found = [output, *torch.autograd.grad(output, (q, k, v), grad_output)]
    assert_close(found, by_the_formula(options, q, k, v, grad_output), ON_THE_CPU)
    with torch.no_grad():
        assert_close([attend(q, k, v, kernel=kernel, **options)], [output], ON_THE_CPU)


@pytest.mark.gpu
@pytest.mark.torch
@each_mask
@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("aside", [False, True])
def test_they_are_on_any_stream_of_a_gpu(dtype: str, options: dict[str, Any], aside: bool) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.differentiable import attend  # noqa: PLC0415 - as above

    q, k, v, grad_output = drawn("cuda", dtype)
    stream = torch.cuda.Stream() if aside else torch.cuda.current_stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        late = q * 1.0  # made on that stream just before it is read
        output = attend(late, k, v, kernel="flash2", **options)
        found = [output, *torch.autograd.grad(output, (q, k, v), grad_output)]
    torch.cuda.synchronize()
    assert {str(tensor.dtype) for tensor in found} == {f"torch.{dtype}"}
    assert_close(found, by_the_formula(options, q, k, v, grad_output), CLOSE[dtype])


@pytest.mark.gpu
@pytest.mark.transformers
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kernel", ["auto", "flash2"])
def test_a_model_on_a_gpu_answers_and_trains(models: Any, kernel: str, dtype: str) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    answers = []
    for implementation in ("sdpa", register_transformers(kernel)):
        model = models.of_name("mistral").to("cuda", getattr(torch, dtype))
        inputs = {key: value.to("cuda") for key, value in models.inputs_for("mistral").items()}
        answers.append(models.answer(model, implementation, inputs))
    sdpa, found = ([a.logits, *a.gradients.values()] for a in answers)
    for tensors in (slice(1), slice(1, None)):  # logits, and all gradients together
        right, ours = (torch.cat([x.double().flatten() for x in every[tensors]]) for every in (sdpa, found))
        assert float((ours - right).norm() / right.norm()) < 4 * CLOSE[dtype]

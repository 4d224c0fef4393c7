"""Our kernels on tensors, with autograd: the formula's own gradients, on a GPU on any stream."""

from typing import Any

import pytest

from flashscope.kernels import register_transformers
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.mask import Mask

CLOSE = {"float16": 4e-3, "bfloat16": 3e-2}  # of the largest number
ON_THE_CPU = 2e-6
HEADS, KV_HEADS, ROWS, KEYS, DIM = 4, 2, 50, 70, 32
SINKS = (-2.0, 0.0, 3.0, 5.0)  # logits of the heads
NO_MASK = {"causal": False, "window": None, "block_mask": None, "scale": None}
MASKS: dict[str, dict[str, Any]] = {
    "none": NO_MASK,
    "causal and window": {**NO_MASK, "causal": True, "window": (20, -1), "scale": 0.2},
    "window both ways": {**NO_MASK, "window": (30, 9)},
    "padded keys": {**NO_MASK, "key_lengths": (33, 0)},
    "softcap": {**NO_MASK, "causal": True, "softcap": 1.5},
    "sinks": {**NO_MASK, "window": (30, 9), "sinks": SINKS},
    "sinks, of lengths": {**NO_MASK, "softcap": 2.0, "key_lengths": (33, 70), "sinks": SINKS},
    "wide values": {**NO_MASK, "causal": True, "head_dim_v": 48},
    "narrow values, padded": {**NO_MASK, "key_lengths": (33, 0), "head_dim_v": 16},
    "padded rows and keys": {
        **NO_MASK,
        "window": (7, 3),
        "query_lengths": (ROWS, 12),
        "key_lengths": (KEYS, 40),
    },
}
each_mask = pytest.mark.parametrize("options", MASKS.values(), ids=MASKS)


def drawn(device: str, dtype: str, options: dict[str, Any]) -> list[Any]:
    """Q, K and V of 2 sequences, and sinks where there are some, of which gradients are taken, and dO."""
    import torch  # noqa: PLC0415 - only where it is installed

    draw = torch.Generator(device).manual_seed(4)
    wide = options.get("head_dim_v", DIM)
    shapes = [
        (2, HEADS, ROWS, DIM),
        (2, KV_HEADS, KEYS, DIM),
        (2, KV_HEADS, KEYS, wide),
        (2, HEADS, ROWS, wide),
    ]
    made = [
        torch.randn(shape, generator=draw, device=device).to(getattr(torch, dtype)).contiguous()
        for shape in shapes
    ]
    if "sinks" in options:
        made.insert(3, torch.tensor(options["sinks"], device=device, dtype=made[0].dtype))
    return [*(tensor.requires_grad_() for tensor in made[:-1]), made[-1]]


def ours(kernel: str, options: dict[str, Any], *tensors: Any) -> Any:
    """O of a kernel of ours, of Q, K, V and sinks where there are some."""
    from flashscope.kernels.library.models.differentiable import attend  # noqa: PLC0415 - needs PyTorch

    asked = {name: value for name, value in options.items() if name not in {"sinks", "head_dim_v"}}
    return attend(*tensors[:3], kernel=kernel, sinks=tensors[3] if tensors[3:] else None, **asked)


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


def by_the_formula(options: dict[str, Any], *given: Any) -> list[Any]:
    """O and the gradients of Q, K, V and sinks in float64; rows that keep no key are 0.

    Args:
        options: As `attend` takes them.
        given: Q, K, V, the sinks where there are some, and dO.
    """
    import torch  # noqa: PLC0415 - only where it is installed

    leaves = [tensor.detach().double().requires_grad_() for tensor in given[:-1]]
    wide_k, wide_v = (tensor.repeat_interleave(HEADS // KV_HEADS, dim=1) for tensor in leaves[1:3])
    kept = kept_by(options).to(given[0].device)
    scores = leaves[0] @ wide_k.transpose(-1, -2) * (options["scale"] or DIM**-0.5)
    if cap := options.get("softcap"):
        scores = cap * (scores / cap).tanh()
    scores = scores.masked_fill(~kept, -1e300)
    if leaves[3:]:
        scores = torch.cat([scores, leaves[3][None, :, None, None].expand(2, -1, ROWS, 1)], dim=-1)
    weights = scores.softmax(-1)[..., :KEYS] * kept
    output = weights @ wide_v
    return [output, *torch.autograd.grad(output, leaves, given[-1].double())]


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

    *tensors, grad_output = drawn("cpu", "float32", options)
    output = ours(kernel, options, *tensors)
    found = [output, *torch.autograd.grad(output, tensors, grad_output)]
    assert_close(found, by_the_formula(options, *tensors, grad_output), ON_THE_CPU)
    with torch.no_grad():
        assert_close([ours(kernel, options, *tensors)], [output], ON_THE_CPU)


@pytest.mark.torch
def test_sinks_alone_can_be_what_gradients_are_taken_of() -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    options = MASKS["sinks"]
    *tensors, grad_output = drawn("cpu", "float32", options)
    q, k, v, sinks = (tensor.detach() for tensor in tensors)
    output = ours("flash2", options, q, k, v, sinks.requires_grad_())
    found = torch.autograd.grad(output, sinks, grad_output)
    right = by_the_formula(options, *tensors, grad_output)[4]
    assert_close(list(found), [right], ON_THE_CPU)


@pytest.mark.torch
@pytest.mark.parametrize("shapes", [(DIM, 48, 48), (48, DIM, DIM)])
def test_keys_of_another_head_dim_than_queries_are_refused(shapes: tuple[int, int, int]) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    with pytest.raises(InputError, match="q and k must have the same head_dim"):
        ours("flash2", NO_MASK, *(torch.zeros(1, 1, 8, width) for width in shapes))


@pytest.mark.gpu
@pytest.mark.torch
@pytest.mark.parametrize("mask", [name for name, asked in MASKS.items() if "head_dim_v" not in asked])
@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("aside", [False, True])
def test_they_are_on_any_stream_of_a_gpu(dtype: str, mask: str, aside: bool) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    options = MASKS[mask]
    *tensors, grad_output = drawn("cuda", dtype, options)
    stream = torch.cuda.Stream() if aside else torch.cuda.current_stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        late = tensors[0] * 1.0  # made on that stream just before it is read
        output = ours("flash2", options, late, *tensors[1:])
        found = [output, *torch.autograd.grad(output, tensors, grad_output)]
    torch.cuda.synchronize()
    assert {str(tensor.dtype) for tensor in found} == {f"torch.{dtype}"}
    assert_close(found, by_the_formula(options, *tensors, grad_output), CLOSE[dtype])


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

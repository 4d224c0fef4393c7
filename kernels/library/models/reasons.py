"""Why nothing else computed an attention call of a model: PyTorch's and Transformers' own reasons."""

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from flashscope.kernels.library.torch_attention import HEADINGS, dispatcher_reason, objections_of
from flashscope.kernels.workload.audit import AttentionCall, Ran

BACKENDS: dict[str, Any] = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
ON_A_CPU = ("flash",)  # PyTorch has it and the plain formula there


def reasons(model: Any, call: AttentionCall, arguments: dict[str, Any] | None, ran: Ran) -> tuple[str, ...]:
    """Why nothing else computed a call, in sentences; empty where the fastest did.

    Args:
        model: Who made it.
        call: What it asks for.
        arguments: What PyTorch's function would be given for it.
        ran: What computed it.
    """
    told = list(_without_sdpa(model, call))
    if told or arguments is None:
        return tuple(told)
    on_gpu = arguments["query"].is_cuda
    for name in BACKENDS if on_gpu else ON_A_CPU:
        if name == ran:
            continue
        if reason := refusal(name, arguments):
            told.append(f"PyTorch's {HEADINGS[name]}: {reason}")
        elif ran in BACKENDS:
            told.append(f"PyTorch's {HEADINGS[name]} takes it, too, and stands behind {ran} in its order.")
    if call.asked == "eager":
        told.append("eager was asked for: Transformers' plain formula, which never calls PyTorch's function.")
    return tuple(told)


def _without_sdpa(model: Any, call: AttentionCall) -> Iterator[str]:
    """Why PyTorch's function cannot be asked at all."""
    lacks = [
        words
        for words, so in {"softcap": call.softcap is not None, "sinks": call.sinks}.items()
        if so and call.asked == "eager"
    ]
    if lacks:
        yield f"PyTorch's scaled_dot_product_attention has no argument for {' and '.join(lacks)}."
    if call.asked == "eager" and getattr(model, "_supports_sdpa", True) is False:
        yield f"Transformers offers no sdpa for {type(model).__name__}."


def refusal(backend: str, arguments: dict[str, Any]) -> str:
    """What PyTorch says against a backend for a call; empty where it takes it."""
    with warnings.catch_warnings(record=True) as said, torch.no_grad():
        warnings.simplefilter("always")
        try:
            with sdpa_kernel(BACKENDS[backend]):
                scaled_dot_product_attention(**arguments)
        except RuntimeError as error:
            reason = dispatcher_reason([str(one.message) for one in said], backend)
            first = next(iter(str(error).splitlines()), "")
            return reason or _objections(backend, arguments) or first
    return ""


def _objections(backend: str, arguments: dict[str, Any]) -> str:
    if not arguments["query"].is_cuda:
        return ""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "enable_gqa")
    return objections_of(torch.backends.cuda.SDPAParams(*(arguments[name] for name in names)), backend)

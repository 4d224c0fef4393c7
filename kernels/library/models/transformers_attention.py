"""Our kernels as an attention implementation of Hugging Face Transformers.

Idea: Transformers looks up by name what computes the attention of a model's layers, and what makes their
masks. `register` enters both: layers hand Q, K and V to a kernel, with autograd, and masks are told as
numbers, so that the tiles they hide are skipped. A softcap of the scores (Gemma 2), sinks (gpt-oss) and V of
another head dim than Q (DeepSeek) go to the kernels that take them.
Limit: what our kernels cannot do is refused with the reason, never left out: dropout, a bias, weights
returned, sequences packed into one row; and what the kernel that was asked for does not take.
"""

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.launching.options import told
from flashscope.kernels.library.models.attention_pattern import (
    AttentionPattern,
    Diagonals,
    pattern_for,
    read_mask,
)
from flashscope.kernels.library.models.differentiable import attend
from flashscope.kernels.workload.errors import InputError, UnsupportedError

REFUSED = {
    "sinks": "attention sinks that are no logits of heads (s_aux)",
    "position_bias": "a bias that is added to the scores",
    "head_mask": "a mask of heads",
    "indices": "keys that are chosen for each row",
    "block_indices": "blocks of keys that are chosen for each row",
    "cu_seq_lens_q": "sequences packed into one row",
}
"""What layers may ask for that no kernel of ours does, by the name that Transformers gives it."""


def register(kernel: str = AUTO) -> str:
    """Enter a kernel among the attention implementations of Transformers; doing so again changes nothing.

    Args:
        kernel: Name of a kernel of the ladder, or "auto": the fastest that takes a layer's problem.

    Returns:
        The name to give as `attn_implementation`, as `scope-auto` or `scope-fa2`. It may not contain
        "flash": Transformers would look for a package of that name.

    Raises:
        InputError: There is no such kernel.
    """
    names = (AUTO, *(spec.name for spec in LADDER))
    if kernel not in names:
        raise InputError(f"kernel must be one of {', '.join(names)}, not {told(kernel)}.")
    name = f"scope-{kernel.replace('flash', 'fa')}"
    AttentionInterface.register(name, _attention_of(kernel))
    AttentionMaskInterface.register(name, torch.compiler.disable(pattern_for))
    return name


def _attention_of(kernel: str) -> Any:
    """What a layer calls; a compiled model is interrupted there, as it cannot see into a kernel."""

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def attention(
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any,
        *,
        scaling: float | None = None,
        dropout: float = 0.0,
        is_causal: bool | None = None,
        sliding_window: int | None = None,
        softcap: float | None = None,
        s_aux: Any = None,
        **asked: Any,
    ) -> tuple[Any, None]:
        _refuse(dropout, asked)
        query, key, value = _as_autocast_asks(query, key, value)
        if attention_mask is None:
            causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
            pattern = _without_mask(query, key, sliding_window, causal=bool(causal))
        elif isinstance(attention_mask, AttentionPattern):
            pattern = _checked(attention_mask, query, is_causal)
        else:
            pattern = read_mask(attention_mask)
        output = attend(
            query,
            key[:, :, : pattern.keys],
            value[:, :, : pattern.keys],
            kernel=kernel,
            deterministic=bool(asked.get("deterministic")) or torch.are_deterministic_algorithms_enabled(),
            causal=pattern.causal,
            scale=scaling,
            window=pattern.window,
            block_mask=None,
            query_lengths=pattern.query_lengths,
            key_lengths=pattern.key_lengths,
            softcap=softcap,
            sinks=s_aux,
        )
        return output.transpose(1, 2).contiguous(), None

    return attention


def _refuse(dropout: float, asked: dict[str, Any]) -> None:
    """Refuse what our kernels cannot do.

    Raises:
        UnsupportedError: A layer asks for it.
    """
    if dropout:
        raise UnsupportedError(
            f"Our kernels drop nothing out, and a layer asks for a dropout of {dropout:g}: set the model's "
            "attention dropout to 0 (attention_dropout, attention_probs_dropout_prob or attn_pdrop)."
        )
    if asked.get("output_attentions"):
        raise UnsupportedError("Our kernels return no attention weights: they never hold them whole.")
    for name, what in REFUSED.items():
        if asked.get(name) is not None:
            raise UnsupportedError(f"Our kernels do not take {what}, which a layer asks for ({name}).")


def _as_autocast_asks(*tensors: Any) -> tuple[Any, ...]:
    """The tensors in the dtype of the autocast that is on, as PyTorch's own attention has them."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    return tuple(tensor.to(torch.get_autocast_dtype(kind)) for tensor in tensors)


def _without_mask(query: Any, key: Any, sliding_window: int | None, *, causal: bool) -> AttentionPattern:
    """The pattern of a layer that is given no mask: causal to the bottom right, or every pair.

    Raises:
        UnsupportedError: A window of the layer is not causal: how far it reaches to the right is not told.
    """
    rows, keys = query.shape[2], key.shape[2]
    if sliding_window is not None and sliding_window < keys and not causal:
        raise UnsupportedError(
            f"A layer asks for a window of {sliding_window} keys that is not causal, without a mask that "
            "tells where it lies."
        )
    shift = keys - rows
    lowest = None if sliding_window is None else shift + 1 - sliding_window
    return AttentionPattern.of(Diagonals(lowest, shift if causal else None), rows, keys)


def _checked(pattern: AttentionPattern, query: Any, is_causal: bool | None) -> AttentionPattern:
    """The pattern, unless the call says otherwise.

    Raises:
        UnsupportedError: The mask is causal, and the call says that it is not.
    """
    if is_causal is False and pattern.causal and query.shape[2] > 1:
        raise UnsupportedError(
            "The call says is_causal=False, but the model made a causal mask: set config.is_causal = False."
        )
    return pattern

"""Records every attention call of a model's step, and marks each one for the profiler.

Seen are calls through the attention interface of Transformers, whichever implementation answers, and calls of
PyTorch's scaled_dot_product_attention, also those inside torch.nn.MultiheadAttention. Not seen is attention
that a model writes by hand as products and a softmax, and PyTorch's fused encoder layer; the softmaxes of
these are counted instead.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch.autograd import _get_sequence_nr
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.library.models.masks import mask_in_numbers, read_mask
from flashscope.kernels.workload.audit import AttentionCall

MARK = "flashscope attention "
NATIVE = "scaled_dot_product_attention"
SOFTMAXES = {"_softmax", "_safe_softmax"}
FUSED_LAYERS = {"_native_multi_head_attention", "_transformer_encoder_layer_fwd"}
DIMS = 4  # of Q, K and V


class SeenCall(NamedTuple):
    """One call of a step.

    Attributes:
        call: What it asks for; None where the step was only marked.
        layer: The module that makes it.
        first: Number of the first node that it added to autograd's graph.
        behind: Number of the node behind its last.
        arguments: Q, K, V and options of PyTorch's function, to ask it for its reasons; None: not the first
            of its like.
    """

    call: AttentionCall | None
    layer: str
    first: int
    behind: int
    arguments: dict[str, Any] | None


class AttentionRecorder(TorchFunctionMode):  # type: ignore[misc]  # torch is not analysed, so its classes are Any
    """While it is entered, every attention call is noted.

    Args:
        model: Whose modules name the layers.
        pads: Tokens of padding before each sequence.
        tokens: How many the model has seen with this step, padding among them.
        read: Read what each call asks for, which takes time; else calls are marked alone.
        native: Watch PyTorch's own function, too, which takes time in every operator.

    Attributes:
        calls: The calls, in order.
        elsewhere: Softmaxes outside of them: shape and how many.
    """

    def __init__(
        self, model: Any, pads: Sequence[int] = (), tokens: int = 0, *, read: bool, native: bool = True
    ) -> None:
        super().__init__()
        self.calls: list[SeenCall] = []
        self.elsewhere: Counter[str] = Counter()
        self._names = {id(module): name for name, module in model.named_modules()}
        self._pads, self._tokens, self._read, self._native_too = pads, tokens, read, native
        self._known: set[AttentionCall] = set()
        self._inside = False
        self._modules: list[str] = []

    @contextmanager
    def recording(self) -> Iterator["AttentionRecorder"]:
        """Note what is called until this ends."""
        with ExitStack() as stack:
            stack.enter_context(self._interface())
            if self._native_too:
                stack.enter_context(self._native())
                stack.enter_context(self)
            stack.enter_context(self._noting_modules())
            stack.enter_context(self._noting_softmaxes())
            yield self

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """PyTorch's function, wherever a model has it from."""
        del types
        options = kwargs or {}
        if func is _SDPA:
            return self._note_native(func, *args, **options)
        return func(*args, **options)

    @contextmanager
    def _interface(self) -> Iterator[None]:
        """Have Transformers hand out its implementations wrapped."""
        if not installed("transformers"):
            yield
            return
        interface = import_module("transformers.modeling_utils").AttentionInterface
        original = interface.get_interface

        def handed_out(registry: Any, asked: str, default: Callable[..., Any]) -> Callable[..., Any]:
            attend = original(registry, asked, default)

            def attending(module: Any, query: Any, key: Any, value: Any, mask: Any, *a: Any, **k: Any) -> Any:
                layer = self._names.get(id(module), type(module).__name__)
                tensors = query, key, value
                return self._note(
                    lambda: attend(module, *tensors, mask, *a, **k),
                    tensors,
                    layer,
                    _described(module, asked or "eager", tensors, mask, k) if self._read else {},
                )

            return attending

        interface.get_interface = handed_out
        try:
            yield
        finally:
            interface.get_interface = original

    @contextmanager
    def _native(self) -> Iterator[None]:
        """PyTorch's own modules take the function from its module, where no mode sees it."""
        functional.scaled_dot_product_attention = lambda *a, **k: self._note_native(_SDPA, *a, **k)
        try:
            yield
        finally:
            functional.scaled_dot_product_attention = _SDPA

    def _note_native(self, attend: Any, query: Any, key: Any, value: Any, *a: Any, **k: Any) -> Any:
        if self._inside:
            return attend(query, key, value, *a, **k)
        told = dict(zip(("attn_mask", "dropout_p", "is_causal"), a, strict=False)) | k
        rows, keys = query.shape[-2], key.shape[-2]
        causal, mask = bool(told.get("is_causal")), told.get("attn_mask")
        if causal and rows != keys:  # PyTorch's is aligned to the top left
            mask, causal = torch.ones(rows, keys, dtype=torch.bool).tril(), False
        described = {
            "mask": mask,
            "causal": causal,
            "scale": told.get("scale"),
            "dropout": float(told.get("dropout_p") or 0.0),
            "asked": NATIVE,
        }
        layer = self._modules[-1] if self._modules else ""
        return self._note(lambda: attend(query, key, value, *a, **k), (query, key, value), layer, described)

    def _note(
        self, attend: Callable[[], Any], tensors: tuple[Any, Any, Any], layer: str, told: dict[str, Any]
    ) -> Any:
        call = self._call(tensors, told) if self._read else None
        first, self._inside = _get_sequence_nr(), True
        try:
            with record_function(f"{MARK}{len(self.calls)}"), self._noting_nothing():
                answer = attend()
        finally:
            self._inside = False
        kept = None
        if call is not None and call not in self._known:  # the first of its like is enough to ask about
            self._known.add(call)
            kept = _arguments(tensors, told)
        self.calls.append(SeenCall(call, layer, first, _get_sequence_nr(), kept))
        return answer

    def _call(self, tensors: tuple[Any, Any, Any], told: dict[str, Any]) -> AttentionCall:
        query, key, value = ((None,) * (DIMS - x.dim()) + (...,) for x in tensors)
        q, k, v = (x[at] for x, at in zip(tensors, (query, key, value), strict=True))
        (batch, heads, rows, head_dim), (_, kv_heads, keys, _) = q.shape, k.shape
        pads = [max(0, pad - self._hidden(keys)) for pad in self._pads] if len(self._pads) == batch else ()
        found = read_mask(told["mask"], batch, rows, keys, causal=told["causal"], heads=heads, pads=pads)
        return AttentionCall(
            q_shape=(batch, heads, rows, head_dim),
            k_shape=(k.shape[0], kv_heads, keys, head_dim),
            v_dim=v.shape[-1],
            dtype=str(q.dtype).removeprefix("torch."),
            scale=told.get("scale"),
            softcap=told.get("softcap"),
            sinks=bool(told.get("sinks")),
            dropout=told.get("dropout", 0.0),
            gradients=q.requires_grad and torch.is_grad_enabled(),
            asked=told["asked"],
            **found._asdict(),
        )

    def _hidden(self, keys: int) -> int:
        """Keys that a sliding cache has dropped: what is left are the newest."""
        return max(0, self._tokens - keys)

    _tokens = 0

    @contextmanager
    def _noting_modules(self) -> Iterator[None]:
        """Know in which module a call is made."""
        if not self._read:
            yield
            return

        def enter(module: Any, _inputs: Any) -> None:
            self._modules.append(self._names.get(id(module), type(module).__name__))

        def leave(_module: Any, _inputs: Any, _output: Any) -> None:
            self._modules.pop()

        hooks = torch.nn.modules.module
        handles = (
            hooks.register_module_forward_pre_hook(enter),
            hooks.register_module_forward_hook(leave, always_call=True),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    @contextmanager
    def _noting_softmaxes(self) -> Iterator[None]:
        if not self._read:
            yield
            return
        with _Softmaxes(self):
            yield

    def _noting_nothing(self) -> AbstractContextManager[Any]:
        """A call notes no softmax: nothing compiles while one is watched for, and flex_attention has to."""
        return _disable_current_modes() if self._read else nullcontext()

    def note_softmax(self, operator: str, shape: tuple[int, ...]) -> None:
        """A softmax ran, or a fused layer that has one: where no recorded call runs it is written down."""
        if not self._inside and (len(shape) >= DIMS - 1 or operator in FUSED_LAYERS):
            self.elsewhere[f"{operator} of {' × '.join(map(str, shape))}"] += 1


class _Softmaxes(TorchDispatchMode):  # type: ignore[misc]  # as above
    def __init__(self, recorder: AttentionRecorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        name = func.overloadpacket.__name__
        if name in SOFTMAXES | FUSED_LAYERS:
            self._recorder.note_softmax(name, tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


_SDPA = functional.scaled_dot_product_attention


def _described(
    module: Any, asked: str, tensors: tuple[Any, Any, Any], mask: Any, told: dict[str, Any]
) -> dict[str, Any]:
    """What a call through the interface asks for, in the words of AttentionCall."""
    causal = told.get("is_causal")
    causal = bool(getattr(module, "is_causal", True) if causal is None else causal)
    bias = told.get("position_bias")
    if "flash" in asked:  # such libraries are told of the mask in numbers
        rows, keys = tensors[0].shape[2], tensors[1].shape[2]
        mask = mask_in_numbers(mask, rows, keys, causal=causal, window=told.get("sliding_window"))
    return {
        "mask": mask if bias is None else _with_bias(bias, mask),
        "causal": causal and mask is None,
        "scale": told.get("scaling"),
        "softcap": told.get("softcap"),
        "sinks": told.get("s_aux") is not None,
        "dropout": float(told.get("dropout") or 0.0),
        "asked": asked,
    }


def _with_bias(bias: Any, mask: Any) -> Any:
    """A bias of the scores and the mask beside it as one; a mask that is code tells more than the bias."""
    if mask is None:
        return bias
    if not isinstance(mask, torch.Tensor):
        return mask
    lowest = torch.finfo(bias.dtype).min
    return torch.where(mask, bias, lowest) if mask.dtype == torch.bool else (bias + mask).clamp(min=lowest)


def _arguments(tensors: tuple[Any, Any, Any], told: dict[str, Any]) -> dict[str, Any]:
    """What PyTorch's function would be given, without gradients."""
    query, key, value = (x.detach() for x in tensors)
    mask = told["mask"]
    return {
        "query": query,
        "key": key,
        "value": value,
        "attn_mask": mask.detach().to(query.device) if isinstance(mask, torch.Tensor) else None,
        "dropout_p": told.get("dropout", 0.0),
        "is_causal": told["causal"] and mask is None and query.shape[-2] > 1,
        "scale": told.get("scale"),
        "enable_gqa": query.dim() == DIMS and query.shape[1] != key.shape[1],
    }

"""The steps of a model that are audited: a prefill, a decode, a training step, or a plain forward pass."""

import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import torch

from flashscope.kernels.workload.audit import ModelPhase
from flashscope.kernels.workload.errors import InputError

RATE = 1e-4  # of the training step's optimizer


class ModelStep(NamedTuple):
    """One step that can be run again and again.

    Attributes:
        phase: What it is.
        before: Done before each run and not timed; its answer is what the run takes.
        run: The step.
        tokens: How many tokens the model has seen with it, padding among them.
        inputs: What it is given.
    """

    phase: ModelPhase
    before: Callable[[], Any]
    run: Callable[[Any], None]
    tokens: int
    inputs: dict[str, Any]

    @property
    def tensors(self) -> dict[str, Any]:
        """Those of its inputs that are tensors."""
        return {name: value for name, value in self.inputs.items() if isinstance(value, torch.Tensor)}


def steps_of(
    model: Any, batch: int, seqlen: int, lengths: Sequence[int], *, training: bool, context: int | None = None
) -> list[ModelStep]:
    """A model's steps, those that it has.

    Args:
        model: As Transformers has it.
        batch: Sequences.
        seqlen: Tokens of the longest.
        lengths: Tokens of each sequence, where they differ: shorter ones have padding in front.
        training: Whether a training step is among them.
        context: Tokens before the one that is decoded; None: those of the prefill.

    Raises:
        InputError: The model takes an input that no words of ours make, or has no such context.
    """
    inputs = _inputs(model, batch, seqlen, lengths)
    decodes = _decodes(model)
    phase: ModelPhase = "prefill" if decodes else "forward"
    steps = [
        ModelStep(phase, _nothing, partial(_forward, model, inputs | _cached(model, decodes)), seqlen, inputs)
    ]
    if context is not None and (lengths or not decodes):
        why = "--context is for sequences of one length: leave --lengths out"
        none = f"{type(model).__name__} has no decode: leave --context out"
        raise InputError(why if decodes else none)
    if decodes:
        before = inputs if context is None else _inputs(model, batch, context, ())
        steps.append(_decode(model, before, batch, context or seqlen))
    if training:
        steps.append(_training(model, inputs, seqlen))
    return steps


def own_steps(model: Any, inputs: dict[str, Any], seqlen: int, *, training: bool) -> list[ModelStep]:
    """The steps of a module of one's own: forward, and training where asked."""
    steps = [ModelStep("forward", _nothing, partial(_forward, model, inputs), seqlen, inputs)]
    return [*steps, _training(model, inputs, seqlen)] if training else steps


def _nothing() -> None:
    return None


def _forward(model: Any, inputs: dict[str, Any], _ready: Any) -> None:
    with torch.no_grad():
        model(**inputs)


def _decodes(model: Any) -> bool:
    """Whether it generates token by token from a cache."""
    return bool(getattr(model, "can_generate", bool)()) and "use_cache" in _arguments(model)


def _cached(model: Any, decodes: bool) -> dict[str, Any]:
    return {"use_cache": decodes} if "use_cache" in _arguments(model) else {}


def _arguments(model: Any) -> set[str]:
    return set(inspect.signature(model.forward).parameters)


def _inputs(model: Any, batch: int, seqlen: int, lengths: Sequence[int]) -> dict[str, Any]:
    """What a model takes, drawn by a fixed seed."""
    draw = torch.Generator().manual_seed(0)
    place = next(model.parameters()).device
    name, config = getattr(model, "main_input_name", "input_ids"), model.config
    vocabulary = getattr(config.get_text_config(), "vocab_size", None) or 2
    tokens = torch.randint(0, vocabulary, (batch, seqlen), generator=draw)
    dtype = next(model.parameters()).dtype
    if name == "input_ids":
        made = {"input_ids": tokens}
        if lengths:
            kept = torch.tensor([[0] * (seqlen - n) + [1] * n for n in lengths])
            made["attention_mask"] = kept
            if "position_ids" in _arguments(model):
                made["position_ids"] = (kept.cumsum(1) - 1).clamp(min=0)
        if config.is_encoder_decoder:
            made["decoder_input_ids"] = tokens
    elif name == "pixel_values":
        size, channels = _image(config)
        made = {"pixel_values": torch.randn(batch, channels, *size, generator=draw).to(dtype)}
    elif name == "input_features":
        frames = 2 * config.max_source_positions
        made = {
            "input_features": torch.randn(batch, config.num_mel_bins, frames, generator=draw).to(dtype),
            "decoder_input_ids": tokens,
        }
    else:
        raise InputError(f"{type(model).__name__} takes {name}, which an audit cannot make: use FILE.py:NAME")
    if lengths and "attention_mask" not in made:
        raise InputError(f"{type(model).__name__} takes no padding: leave --lengths out")
    return {key: value.to(place) for key, value in made.items()}


def _image(config: Any) -> tuple[tuple[int, int], int]:
    part = getattr(config, "vision_config", config)
    size = getattr(part, "image_size", None)
    if size is None:
        raise InputError(
            f"{type(part).__name__} says no image size, so an audit cannot make an image: use FILE.py:NAME"
        )
    pair = (size, size) if isinstance(size, int) else (size[0], size[1])
    return pair, getattr(part, "num_channels", 3)


def _decode(model: Any, inputs: dict[str, Any], batch: int, seqlen: int) -> ModelStep:
    """One more token for each sequence, from the cache that these inputs fill."""
    with torch.no_grad():
        told = model(**inputs, use_cache=True)
    place = next(model.parameters()).device
    token = torch.zeros((batch, 1), dtype=torch.long, device=place)
    encoded = getattr(told, "encoder_last_hidden_state", None)
    more: dict[str, Any] = {"use_cache": True}
    if encoded is None:
        more["input_ids"] = token
        if "attention_mask" in inputs:
            kept = inputs["attention_mask"]
            more["attention_mask"] = torch.cat([kept, kept.new_ones(batch, 1)], dim=1)
            if "position_ids" in inputs:
                more["position_ids"] = kept.sum(1, keepdim=True)
    else:
        more |= {"decoder_input_ids": token, "encoder_outputs": (encoded,)}
    cache = told.past_key_values
    # Transformers calls it by one of two names, the older one with a warning.
    name = "cache" if "cache" in _arguments(model) else "past_key_values"

    def run(ready: Any) -> None:
        with torch.no_grad():
            model(**more, **{name: ready})

    return ModelStep("decode", lambda: deepcopy(cache), run, seqlen + 1, more)


def _training(model: Any, inputs: dict[str, Any], seqlen: int) -> ModelStep:
    """Forward, backward and AdamW's update, of the mean square of what the model says."""
    optimizer: list[Any] = []

    def before() -> None:
        model.train()
        if not optimizer:
            optimizer.append(torch.optim.AdamW(model.parameters(), lr=RATE))

    def run(_ready: Any) -> None:
        try:
            told = model(**inputs, **_cached(model, decodes=False))
            _first(told).float().square().mean().backward()
            optimizer[0].step()
            optimizer[0].zero_grad(set_to_none=True)
        finally:
            model.eval()

    return ModelStep("training", before, run, seqlen, inputs)


def _first(told: Any) -> Any:
    """The tensor that a model's answer is about."""
    if isinstance(told, torch.Tensor):
        return told
    logits = getattr(told, "logits", None)
    return told[0] if logits is None else logits

"""A model on this machine whose attention is recorded, profiled and exchanged."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.library.models.profile import StepProfile, profiled, synchronize
from flashscope.kernels.library.models.reasons import BACKENDS, reasons
from flashscope.kernels.library.models.recording import NATIVE, AttentionRecorder, SeenCall
from flashscope.kernels.library.models.source import ModelSource, build, count_weights, made
from flashscope.kernels.library.models.steps import ModelStep, own_steps, steps_of
from flashscope.kernels.workload.audit import AttentionCall, AuditedCall
from flashscope.kernels.workload.errors import InputError, UnsupportedError

OF_TRANSFORMERS = ("sdpa", "eager")
FORCED = {f"sdpa-{name}": backend for name, backend in BACKENDS.items()}  # PyTorch's function, to one kernel
OWN = ("flash2", "flash3")  # of our kernels, those that are tried in a model


class AuditedModel:
    """A model, built, with its steps.

    Args:
        source: What it is built from.
        dtype: Of its weights, as Problem names it.
        place: `cpu` or `cuda`.
        random: Random weights, also where its own are there.
        batch: Sequences.
        seqlen: Tokens of the longest.
        lengths: Tokens of each, where they differ; the shorter ones have padding in front.
        training: Whether there is a training step, too.
        context: Tokens before the one that is decoded; None: as many as `seqlen`.

    Attributes:
        model: The module.
        steps: Its steps.
        implementation: What its configuration led to.
        weights: Parameters and bytes.
        elsewhere: Softmaxes beside the recorded calls, in words.

    Raises:
        InputError: The configuration makes no model, or one whose input is unknown; or a function of one's
            own returned no module with its arguments.
    """

    def __init__(
        self,
        source: ModelSource,
        dtype: str,
        place: str,
        *,
        random: bool,
        batch: int,
        seqlen: int,
        lengths: Sequence[int],
        training: bool,
        context: int | None = None,
    ) -> None:
        self._place = place
        if source.make is None:
            self.model = build(source, dtype, place, random=random)
            self.steps = steps_of(self.model, batch, seqlen, lengths, training=training, context=context)
            self.implementation = str(self.model.config._attn_implementation)  # noqa: SLF001 - it has no other name
        elif context is not None:
            raise InputError(f"{source.name} is your own module, which has no decode: leave --context out")
        else:
            module, inputs = made(source, batch, seqlen)
            self.model = module.to(place).eval()
            moved = _moved(inputs, place)
            self.steps = own_steps(self.model, moved, seqlen, training=training)
            self.implementation = NATIVE
        self.weights = count_weights(self.model)
        self.elsewhere: dict[str, None] = {}
        self._ours = {} if source.make else _ours(place)
        self._pads = tuple(seqlen - one for one in lengths)
        self._native = True  # whether PyTorch's function is to be watched; known once a step was recorded

    @property
    def others(self) -> tuple[str, ...]:
        """The implementations that can be tried in place of its own."""
        if self.implementation == NATIVE:
            return (*(BACKENDS if self._place == "cuda" else ()), "math")
        forced = FORCED if self._place == "cuda" and self.implementation == "sdpa" else ()
        return tuple(one for one in (*OF_TRANSFORMERS, *forced, *self._ours) if one != self.implementation)

    def kernel_of(self, implementation: str) -> str:
        """The kernel of ours that an implementation is; empty: it is none of ours."""
        return self._ours.get(implementation, "")

    def ready(self, step: ModelStep) -> Any:
        """What is done before a step, until its end; `run` takes the answer."""
        ready = step.before()
        synchronize(self._place)
        return ready

    def run(self, step: ModelStep, ready: Any) -> None:
        """One step, until its end."""
        step.run(ready)
        synchronize(self._place)

    @contextmanager
    def with_implementation(self, name: str) -> Iterator[None]:
        """Have attention computed by another implementation until this ends.

        Raises:
            UnsupportedError: The model does not take it; the text is Transformers'.
        """
        if name == self.implementation:
            yield
        elif name in FORCED:
            with sdpa_kernel(FORCED[name]):
                yield
        elif self.implementation == NATIVE:
            with sdpa_kernel(BACKENDS.get(name, SDPBackend.MATH)):
                yield
        else:
            self._set(name)
            try:
                yield
            finally:
                self._set(self.implementation)

    def _set(self, name: str) -> None:
        try:
            self.model.set_attn_implementation(name)
        except (ValueError, ImportError) as error:
            said = " ".join(str(error).split()).partition(". ")[0]
            raise UnsupportedError(said) from error
        if self.model.config._attn_implementation != name:  # noqa: SLF001 - it has no other name
            raise UnsupportedError(f"{type(self.model).__name__} does not take its attention from outside")

    def record(self, step: ModelStep) -> tuple[list[AuditedCall], list[int]]:
        """Run a step once: its calls, those that are alike as one, and the place of each among these."""
        ready = step.before()
        recorder = AttentionRecorder(self.model, self._pads, step.tokens, read=True)
        with recorder.recording():
            step.run(ready)
        self._native = any(one.call and one.call.asked == NATIVE for one in recorder.calls)
        for words, count in recorder.elsewhere.items():
            self.elsewhere[f"{step.phase}: {count} × {words}"] = None
        alike: dict[AttentionCall, list[SeenCall]] = {}
        for seen in recorder.calls:
            if seen.call is not None:
                alike.setdefault(seen.call, []).append(seen)
        places = [list(alike).index(seen.call) for seen in recorder.calls if seen.call is not None]
        profile = self.profile(step)
        calls = [
            self._audited(step, call, seen, profile, places.index(number))
            for number, (call, seen) in enumerate(alike.items())
        ]
        return calls, places

    def _audited(
        self, step: ModelStep, call: AttentionCall, seen: list[SeenCall], profile: StepProfile, at: int
    ) -> AuditedCall:
        first = profile.calls[at]
        return AuditedCall(
            phase=step.phase,
            call=call,
            layers=tuple(one.layer for one in seen),
            ran=first.ran,
            operators=first.operators,
            kernels=first.kernels,
            why_not=reasons(self.model, call, seen[0].arguments, first.ran),
        )

    def profile(self, step: ModelStep) -> StepProfile:
        """Run a step once under the profiler."""
        return profiled(step, AttentionRecorder(self.model, read=False, native=self._native), self._place)


def _ours(place: str) -> dict[str, str]:
    """The names under which Transformers knows our kernels, those that are tried in place of its own."""
    register = import_module("flashscope.kernels.library.models.transformers_attention").register
    return {register(name): name for name in OWN if place in find_kernel(name).dtypes}


def _moved(given: Any, place: str) -> Any:
    """The same with each tensor on the device, also those in lists, tuples and dicts."""
    match given:
        case torch.Tensor():
            return given.to(place)
        case dict():
            return {key: _moved(value, place) for key, value in given.items()}
        case list() | tuple() if type(given) in {list, tuple}:
            return type(given)(_moved(value, place) for value in given)
        case tuple() if hasattr(given, "_fields"):
            return type(given)(*(_moved(value, place) for value in given))
        case _:
            return given


def library_versions() -> dict[str, str]:
    """Of what builds and runs models here."""
    names = [name for name in ("torch", "transformers") if installed(name)]
    return {name: version(name) for name in names}


def threads() -> int:
    """Threads of PyTorch's own on the CPU."""
    return int(torch.get_num_threads())


def free_gpu_bytes() -> int | None:
    """What is free on the GPU; None: PyTorch finds none."""
    return int(torch.cuda.mem_get_info()[0]) if torch.cuda.is_available() else None

"""A process that builds a model, records and profiles its attention, times its steps, and ends."""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import psutil

from flashscope.installation import CHECKOUT, install_command
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.audit import AuditedCall, AuditedStep, ModelAudit, ModelPhase
from flashscope.kernels.workload.errors import KernelError, UnsupportedError
from flashscope.profiles.wire.audits import AuditAsked, AuditEnded, AuditProgress, decode_request
from flashscope.profiles.worker.child import use_one_blas_thread
from flashscope.profiles.worker.failures import misused
from flashscope.profiles.worker.raised import first_line, raised_at

MIB = 1 << 20
LEAST_ROUNDS = 3
OF_TRAINING = 4  # weights, gradients and AdamW's two moments
LIBRARY = "flashscope.kernels.library"


def main() -> None:
    """Do what stands on stdin, a request a line; the answers go to stdout, a line each."""
    # In a checkout Transformers would take our folder `kernels` for Hugging Face's package of that name.
    sys.path[:] = [folder for folder in sys.path if CHECKOUT is None or Path(folder).resolve() != CHECKOUT]
    requests = [decode_request.decode(line) for line in sys.stdin.buffer.read().splitlines()]
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported: nothing is fetched
    if any(one.device.backend == "cpu" for one in requests):
        use_one_blas_thread()
    for request in requests:
        _say(_answer(request))


def _answer(asked: AuditAsked) -> AuditEnded:
    if not installed("torch"):
        return AuditEnded(reason=f"an audit needs PyTorch: {install_command('models')}")
    try:
        return AuditEnded(audit=Auditor(asked).audit())
    except (MemoryError, KernelError) as error:
        reason = str(error) or "Memory ran out; take fewer layers, sequences or tokens."
        return AuditEnded(reason=reason, misused=misused(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a model is anyone's code, and may raise anything
        file = asked.model.rpartition(":")[0]
        detail = raised_at(error, Path(file) if file.endswith(".py") else None)
        return AuditEnded(reason=f"The model failed: {first_line(error)}.", detail=detail)


class Auditor:
    """Audits one model.

    Args:
        asked: Which, and how.

    Raises:
        InputError, UnsupportedError: It is not there, no model, or a library is missing.
        MemoryError: Its weights alone would not fit.
    """

    def __init__(self, asked: AuditAsked) -> None:
        self._asked = asked
        self._library = import_module(f"{LIBRARY}.models.audit")
        sources = import_module(f"{LIBRARY}.models.source")
        _say(AuditProgress(text="looking for the model", done=0, total=1))
        self._source = sources.find_source(asked.model)
        self._layers, self._in_all = (0, 0), 0
        if self._source.config is not None:
            self._in_all, nbytes = sources.predicted_bytes(self._source, asked.dtype)
            self._layers = sources.cut_layers(self._source.config, asked.layers)
            if asked.layers is not None:
                _parameters, nbytes = sources.predicted_bytes(self._source, asked.dtype)
            self._check_fits(nbytes)
        self._done, self._total = 1, 2
        self._notes: list[str] = []

    def audit(self) -> ModelAudit:
        """Build it, take every step, and say what was found."""
        asked, source = self._asked, self._source
        self._tell("building the model")
        model = self._library.AuditedModel(
            source,
            asked.dtype,
            asked.device.backend,
            random=asked.random,
            batch=asked.batch,
            seqlen=asked.seqlen,
            lengths=asked.lengths,
            training=asked.training,
            context=asked.context,
        )
        self._total = 1 + len(model.steps) * (2 + len(model.others) + asked.rounds)
        calls: list[AuditedCall] = []
        steps: list[AuditedStep] = []
        for step in model.steps:
            found, taken = self._step(model, step)
            calls += found
            steps += taken
        parameters, nbytes = model.weights
        loaded = source.weights is not None and not asked.random
        layers, in_all = self._layers
        return ModelAudit(
            model=source.name,
            architecture=type(model.model).__name__,
            implementation=model.implementation,
            weights="of its own" if source.make else source.name if loaded else "random",
            parameters=parameters,
            weight_bytes=nbytes,
            parameters_in_all=self._in_all,
            layers=layers,
            layers_in_all=in_all,
            device=asked.device,
            dtype=asked.dtype,
            threads=self._library.threads() if asked.device.backend == "cpu" else 0,
            inputs={name: tuple(value.shape) for name, value in model.steps[0].tensors.items()},
            versions=self._library.library_versions(),
            calls=tuple(calls),
            steps=tuple(steps),
            unseen=tuple(model.elsewhere),
            notes=tuple(self._notes),
        )

    def _step(self, model: Any, step: Any) -> tuple[list[AuditedCall], list[AuditedStep]]:
        """One step: its calls, and its times with each implementation."""
        self._tell(f"{step.phase}: recording its attention")
        calls, places = model.record(step)
        taken: dict[str, _Taken] = {}
        refused: dict[str, str] = {}
        others = model.others if calls else ()  # none takes the place of nothing
        for name in (model.implementation, *others):
            self._tell(f"{step.phase}: trying {name}")
            try:
                with model.with_implementation(name):
                    model.run(step, step.before())
                taken[name] = _Taken()
            except UnsupportedError as error:
                refused[name] = str(error)
            except Exception as error:  # it was taken, and fails when it runs: memory, a compiler, its code
                if name == model.implementation:
                    raise
                refused[name] = first_line(error)
        self._rounds(model, step, taken)
        steps = [one.step(step.phase, name, model.kernel_of(name)) for name, one in taken.items()]
        steps += [AuditedStep(phase=step.phase, implementation=n, refused=why) for n, why in refused.items()]
        return _with_times(calls, places, taken[model.implementation].profiles), steps

    def _rounds(self, model: Any, step: Any, taken: dict[str, "_Taken"]) -> None:
        """Take the step with each in turns, whose order goes round: timed, and at first profiled, too."""
        asked, names = self._asked, list(taken)
        begun = time.monotonic()
        for number in range(asked.rounds):
            if number >= LEAST_ROUNDS and time.monotonic() - begun > asked.cap_s:
                break
            self._tell(f"{step.phase}: round {number + 1} of {asked.rounds}")
            turn = number % len(names)
            for name in (*names[turn:], *names[:turn]):
                with model.with_implementation(name):
                    model.run(step, step.before())  # what ran before it has left the caches to it
                    ready = model.ready(step)
                    start = time.perf_counter_ns()
                    model.run(step, ready)
                    taken[name].ms.append((time.perf_counter_ns() - start) / 1e6)
                    if number < asked.profiles:
                        taken[name].profiles.append(model.profile(step))

    def _check_fits(self, nbytes: int) -> None:
        """Refuse a model whose weights alone take more than is free, before any of them is there.

        Raises:
            MemoryError: So it is; the text has the bytes.
        """
        asked = self._asked
        needed = nbytes * (OF_TRAINING if asked.training else 1)
        free = psutil.virtual_memory().available
        if asked.device.backend == "cuda":
            free = self._library.free_gpu_bytes() or 0
        if needed > free:
            what = "weights, gradients and AdamW's moments" if asked.training else "weights"
            raise MemoryError(
                f"The {what} of {self._source.name} in {asked.dtype} take {needed // MIB:,} MiB, and "
                f"{free // MIB:,} MiB are free: build fewer layers of the same shape with --layers."
            )

    def _tell(self, text: str) -> None:
        _say(AuditProgress(text=text, done=self._done, total=max(self._total, self._done + 1)))
        self._done += 1


@dataclass
class _Taken:
    """Steps with one implementation: their milliseconds, and those under the profiler."""

    ms: list[float] = field(default_factory=list)
    profiles: list[Any] = field(default_factory=list)

    def step(self, phase: ModelPhase, implementation: str, kernel: str) -> AuditedStep:
        return AuditedStep(
            phase=phase,
            implementation=implementation,
            step_ms=tuple(self.ms),
            profiled_ms=tuple(one.ms for one in self.profiles),
            attention_ms=tuple(one.attention_ms for one in self.profiles),
            busy_ms=tuple(one.busy_ms for one in self.profiles if one.busy_ms is not None),
            ran=("ours",) if kernel else tuple(dict.fromkeys(one.ran for one in self.profiles[0].calls)),
            kernel=kernel,
        )


def _with_times(
    calls: Sequence[AuditedCall], places: Sequence[int], profiles: Sequence[Any]
) -> list[AuditedCall]:
    """The calls with what they took: those that are alike together, in each profiled step."""
    return [
        msgspec.structs.replace(
            call,
            took_ms=tuple(
                sum(one.ms for one, place in zip(profile.calls, places, strict=True) if place == number)
                for profile in profiles
            ),
        )
        for number, call in enumerate(calls)
    ]


def _say(answer: AuditProgress | AuditEnded) -> None:
    # A line of its own, also after a model's code has printed half a line.
    sys.stdout.buffer.write(b"\n" + msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()

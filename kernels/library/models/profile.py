"""What a step of a model spends in attention, and what ran there, by PyTorch's profiler.

Each attention call is a range that the profiler knows by its number. Its backward pass is found by the
numbers of the nodes that the call added to autograd's graph. On a GPU the times are those of its kernels.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

from flashscope.kernels.library.models.recording import MARK, AttentionRecorder
from flashscope.kernels.library.models.steps import ModelStep
from flashscope.kernels.library.torch_attention import CHOICE_OF_OPERATOR
from flashscope.kernels.workload.audit import Ran

STEP = "flashscope step"
BACKWARD = "autograd::engine::evaluate_function: "
ORDER = {"flash": 0, "efficient": 1, "cudnn": 2, "math": 3}  # a fused kernel's own softmax is none of ours


class CallProfile(NamedTuple):
    """What one call of a step took and what ran in it.

    Attributes:
        ms: Its time, with its backward pass.
        ran: What computed it.
        operators: PyTorch's operators that say so.
        kernels: The GPU's kernels, each once.
    """

    ms: float
    ran: Ran
    operators: tuple[str, ...]
    kernels: tuple[str, ...]


class StepProfile(NamedTuple):
    """One step under the profiler: its time, and its calls in order."""

    ms: float
    calls: tuple[CallProfile, ...]

    @property
    def attention_ms(self) -> float:
        """What all calls took."""
        return sum(one.ms for one in self.calls)


def profiled(step: ModelStep, recorder: AttentionRecorder, place: str) -> StepProfile:
    """Run a step once under the profiler."""
    on_gpu = place == "cuda"
    ready = step.before()
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with recorder.recording(), profile(activities=activities) as found, record_function(STEP):
        step.run(ready)
        synchronize(place)
    events = [one for one in found.events() or () if one.device_type == DeviceType.CPU]
    whole = next(one for one in events if one.name == STEP)
    return StepProfile(float(whole.cpu_time_total) / 1e3, tuple(_calls(events, recorder, on_gpu=on_gpu)))


def synchronize(place: str) -> None:
    """Wait for the GPU, where it is one."""
    if place == "cuda":
        torch.cuda.synchronize()


def _calls(events: list[Any], recorder: AttentionRecorder, *, on_gpu: bool) -> Iterator[CallProfile]:
    ranges = {int(e.name.removeprefix(MARK)): e for e in events if e.name.startswith(MARK)}
    starts = [one.first for one in recorder.calls]
    backward: dict[int, list[Any]] = {}
    for event in events:
        if event.name.startswith(BACKWARD):
            at = bisect_right(starts, event.sequence_nr) - 1
            if at >= 0 and event.sequence_nr < recorder.calls[at].behind:
                backward.setdefault(at, []).append(event)
    for number in range(len(recorder.calls)):
        parts = [ranges[number], *backward.get(number, [])]
        us = sum(float(one.device_time_total if on_gpu else one.cpu_time_total) for one in parts)
        below = [event for part in parts for event in _below(part)]
        names = dict.fromkeys(one.name.removeprefix("aten::") for one in _below(ranges[number]))
        operators = sorted(
            (name for name in names if name in CHOICE_OF_OPERATOR),
            key=lambda name: ORDER[CHOICE_OF_OPERATOR[name]],
        )
        ran: Any = CHOICE_OF_OPERATOR[operators[0]] if operators else "unknown"
        kernels = dict.fromkeys(kernel.name for event in below for kernel in event.kernels)
        yield CallProfile(us / 1e3, ran, tuple(operators), tuple(kernels))


def _below(event: Any) -> Iterator[Any]:
    yield event
    for child in event.cpu_children:
        yield from _below(child)

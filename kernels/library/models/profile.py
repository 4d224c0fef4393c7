"""What a step of a model spends in attention, and what ran there, by PyTorch's profiler.

Each attention call is a range that the profiler knows by its number. Its backward pass is found by the
numbers of the nodes that the call added to autograd's graph. On a GPU the times are those of the kernels that
were launched meanwhile, whoever launched them: PyTorch counts its own operators' alone.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
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
        kernels: The GPU's kernels, each once, what took longest first.
    """

    ms: float
    ran: Ran
    operators: tuple[str, ...]
    kernels: tuple[str, ...]


class StepProfile(NamedTuple):
    """One step under the profiler.

    Attributes:
        ms: Its time.
        calls: Its attention calls, in order.
        busy_ms: How long the GPU worked at anything meanwhile; None: it ran on a CPU.
    """

    ms: float
    calls: tuple[CallProfile, ...]
    busy_ms: float | None

    @property
    def attention_ms(self) -> float:
        """What all calls took."""
        return sum(one.ms for one in self.calls)


class DeviceWork(NamedTuple):
    """A kernel, a copy or a fill on the GPU.

    Attributes:
        name: As the profiler has it.
        launched: When the CPU asked for it, us; None: nobody saw that.
        start: When it began, us.
        end: When it ended.
    """

    name: str
    launched: float | None
    start: float
    end: float


class LaunchSpan(NamedTuple):
    """A part of a step on the CPU: begin and end, us."""

    start: float
    end: float


def profiled(step: ModelStep, recorder: AttentionRecorder, place: str) -> StepProfile:
    """Run a step once under the profiler."""
    on_gpu = place == "cuda"
    ready = step.before()
    synchronize(place)
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with recorder.recording(), profile(activities=activities) as found, record_function(STEP):
        step.run(ready)
        synchronize(place)
    events = list(found.events() or ())
    on_cpu = [one for one in events if one.device_type == DeviceType.CPU]
    whole = next(one for one in on_cpu if one.name == STEP)
    work = device_work(events) if on_gpu else None
    return StepProfile(
        float(whole.cpu_time_total) / 1e3,
        tuple(_calls(on_cpu, recorder, work)),
        None if work is None else busy_us(work) / 1e3,
    )


def synchronize(place: str) -> None:
    """Wait for the GPU, where it is one."""
    if place == "cuda":
        torch.cuda.synchronize()


def device_work(events: Iterable[Any]) -> list[DeviceWork]:
    """What the GPU did, by the profiler's events: the CUDA call that asked for it has the same number."""
    launches = {one.id: one.time_range.start for one in events if _is_launch(one)}
    return [
        DeviceWork(one.name, launches.get(one.id), one.time_range.start, one.time_range.end)
        for one in events
        if one.device_type == DeviceType.CUDA and not one.is_user_annotation
    ]


def _is_launch(event: Any) -> bool:
    """Whether an event is a call of CUDA itself: PyTorch numbers its operators by themselves."""
    return event.device_type == DeviceType.CPU and event.name.startswith("cu") and "::" not in event.name


def busy_us(work: Iterable[DeviceWork]) -> float:
    """How long the GPU did anything: what runs side by side counts once."""
    busy = reached = 0.0
    for one in sorted(work, key=lambda one: one.start):
        busy += max(0.0, one.end - max(one.start, reached))
        reached = max(reached, one.end)
    return busy


def work_of(spans: Sequence[LaunchSpan], work: Iterable[DeviceWork]) -> list[DeviceWork]:
    """What was asked for within some parts of a step, by their times on the CPU."""
    return [
        one
        for one in work
        if one.launched is not None and any(span.start <= one.launched <= span.end for span in spans)
    ]


def _calls(
    events: Sequence[Any], recorder: AttentionRecorder, work: Sequence[DeviceWork] | None
) -> Iterator[CallProfile]:
    """The calls of a step, by the profiler's events on the CPU and what the GPU did, if there is one."""
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
        names = dict.fromkeys(one.name.removeprefix("aten::") for one in _below(ranges[number]))
        operators = sorted(
            (name for name in names if name in CHOICE_OF_OPERATOR),
            key=lambda name: ORDER[CHOICE_OF_OPERATOR[name]],
        )
        ran: Any = CHOICE_OF_OPERATOR[operators[0]] if operators else "unknown"
        if work is None:
            us, kernels = sum(float(one.cpu_time_total) for one in parts), {}
        else:
            kernels = _by_kernel(
                work_of([LaunchSpan(e.time_range.start, e.time_range.end) for e in parts], work)
            )
            us = sum(kernels.values())
        yield CallProfile(us / 1e3, ran, tuple(operators), tuple(kernels))


def _by_kernel(work: Iterable[DeviceWork]) -> dict[str, float]:
    """What each kernel took, us, the longest first."""
    took: dict[str, float] = {}
    for one in work:
        took[one.name] = took.get(one.name, 0.0) + one.end - one.start
    return dict(sorted(took.items(), key=lambda pair: -pair[1]))


def _below(event: Any) -> Iterator[Any]:
    yield event
    for child in event.cpu_children:
        yield from _below(child)

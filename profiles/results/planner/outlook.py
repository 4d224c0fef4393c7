"""A model on a device: what each kernel holds, how long a context fits, and how long it would take."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from flashscope.kernels.catalogue.registry import LESSON, find_kernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.models import Model, Setting
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.planner.forecast import Forecast, forecast
from flashscope.profiles.results.planner.ledger import (
    GIB,
    Ledger,
    Longest,
    layer_problem,
    ledger,
    longest_context,
    total_bytes,
)

KERNELS = LESSON
ANY_GPU = Device(backend="cuda", name="any GPU", memory_bytes=0)
NO_SESSION = "there is no session to forecast from"


@dataclass(frozen=True)
class Prospect:
    """One kernel's part of it.

    Attributes:
        kernel: Its name.
        ledger: What is held at the context asked for; None where `reason` says why there is nothing.
        longest: The longest context that fits.
        fits: Whether the context asked for does.
        forecast: The runtime of one layer; None where `silent` says why there is none.
        reason: Why the kernel cannot run this.
        silent: Why nothing can be forecast.
    """

    kernel: str
    ledger: Ledger | None = None
    longest: Longest | None = None
    fits: bool = False
    forecast: Forecast | None = None
    reason: str = ""
    silent: str = ""


@dataclass(frozen=True)
class Outlook:
    """A model in a memory.

    Attributes:
        model: The model.
        setting: What is asked of it, its memory known.
        place: What has that memory, in words.
        prospects: One a kernel, standard first.
    """

    model: Model
    setting: Setting
    place: str
    prospects: tuple[Prospect, ...]

    @property
    def capacity(self) -> int:
        """Bytes of the device."""
        return capacity_of(self.setting)

    @property
    def standard(self) -> Prospect:
        """What holds S and P."""
        return self.prospects[0]

    @property
    def tiled(self) -> Prospect:
        """The tiled kernel that fits most; where several do, the last of the lesson."""
        return max(reversed(self.prospects[1:]), key=lambda one: one.longest.tokens if one.longest else -1)


def capacity_of(setting: Setting) -> int:
    """Bytes of the memory in a setting.

    Raises:
        ValueError: It is not known.
    """
    if setting.memory is None:
        raise ValueError("the memory of the device is not known")
    return round(setting.memory * GIB)


def outlook(
    model: Model,
    setting: Setting,
    place: str,
    rows: Sequence[PointRow] | None = None,
    device: Device | None = None,
) -> Outlook:
    """Work it out for each of the lesson's kernels.

    Args:
        model: The model.
        setting: What is asked of it; its memory is known.
        place: What has that memory, in words.
        rows: Measured points to forecast from; None: there are none.
        device: The GPU that is to run it; None: whichever runs the kernels.

    Raises:
        InputError: The model's numbers do not go together.
        ValueError: The memory is not known.
    """
    layer_problem(model, setting, 1)
    prospects = (_prospect(model, setting, name, rows, device or ANY_GPU) for name in KERNELS)
    return Outlook(model, setting, place, tuple(prospects))


def _prospect(
    model: Model, setting: Setting, kernel: str, rows: Sequence[PointRow] | None, device: Device
) -> Prospect:
    capacity = capacity_of(setting)
    try:
        problem = layer_problem(model, setting, setting.context)
        held = ledger(model, setting, kernel, setting.context)
    except InputError as error:
        return Prospect(kernel, reason=str(error))
    reason = find_kernel(kernel).unsupported(problem, device)
    if reason is not None:
        return Prospect(kernel, reason=reason)
    told = NO_SESSION if rows is None else forecast(rows, kernel, problem)
    # What is the same for every context and memory unit is asked for once.
    asked = msgspec.structs.replace(setting, context=1, memory=None)
    return Prospect(
        kernel,
        ledger=held,
        longest=longest_context(model, asked, kernel, capacity),
        fits=held.total <= capacity,
        forecast=told if isinstance(told, Forecast) else None,
        silent=told if isinstance(told, str) else "",
    )


@lru_cache(maxsize=64)
def ledger_curve(
    model: Model, setting: Setting, kernel: str, lengths: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    """(N, bytes in all) of a kernel at those of these contexts that can be planned."""
    totals = ((tokens, total_bytes(model, setting, kernel, tokens)) for tokens in lengths)
    return tuple((tokens, total) for tokens, total in totals if total is not None)

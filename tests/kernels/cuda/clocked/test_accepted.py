"""What tests on a GPU record is accepted, by its bars and its shared memory: seen without a GPU."""

from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Any

import pytest

from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.workload.timeline import TimelineRequest, check_bars
from tests.kernels.cuda import test_clocks
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked import test_recorded, test_recorded_backward, test_recorded_passes

Test = Callable[..., None]
MODULES = test_clocks, test_recorded, test_recorded_backward, test_recorded_passes
RECORDING = [
    (module, test)
    for module in MODULES
    for name, test in vars(module).items()
    if name.startswith("test_") and "cp" not in test.__code__.co_varnames
]


class Asked(Exception):  # noqa: N818 - no error: a test asked for its timeline
    """Instead of a timeline."""

    def __init__(self, request: TimelineRequest) -> None:
        self.request = request


def cases(test: Test) -> list[dict[str, Any]]:
    """What a test is run with."""
    choices = []
    for mark in getattr(test, "pytestmark", ()):
        names, values = mark.args
        several = not isinstance(names, str)
        choices.append([dict(zip(names, one, strict=True)) if several else {names: one} for one in values])
    return [{name: one for part in chosen for name, one in part.items()} for chosen in product(*choices)]


def asked_by(module: ModuleType, test: Test, monkeypatch: pytest.MonkeyPatch) -> list[TimelineRequest]:
    """The timelines that a test asks for, each case of it for one."""

    def ask(request: TimelineRequest, _told: object) -> None:
        raise Asked(request)

    monkeypatch.setattr(module, "record_timeline", ask)
    monkeypatch.setattr(module, "current_target", lambda: ON_HOPPER, raising=False)
    others = {"monkeypatch": monkeypatch} if "monkeypatch" in test.__code__.co_varnames else {}
    found = []
    for case in cases(test):
        with pytest.raises(Asked) as told:
            test(**case, **others)
        found.append(told.value.request)
    return found


@pytest.mark.parametrize(("module", "test"), RECORDING, ids=lambda one: one.__name__.rpartition(".")[2])
def test_a_timeline_that_is_recorded_on_a_gpu_has_room_for_its_bars_and_its_clocks(
    module: ModuleType, test: Test, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = asked_by(module, test, monkeypatch)
    assert requests
    for request in requests:
        check_bars(clocked_build(request.kernel, request.problem, ON_HOPPER).most_bars)

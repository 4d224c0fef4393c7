"""Which tests need what: one table of marker, condition and reason."""

import gc
import os
import shutil
import time
from collections.abc import Callable, Generator
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from hypothesis import is_hypothesis_test, seed, settings
from hypothesis.internal.conjecture import providers

from flashscope.installation import install_command
from flashscope.kernels.catalogue.spec import installed
from flashscope.profiles.worker.child import use_one_blas_thread
from tests.crashes import LastWords
from tests.end_to_end import program
from tests.first_imports import import_a_share
from tests.let_go import let_go, of_qt
from tests.matrix import ruled_out

# Some machines keep no compiled modules: each of hundreds of processes would compile anew all it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # of the processes that follow, pytest's own workers too
os.environ["PYTHONPATH"] = program.PYTHONPATH  # of processes that run the tests' code
os.environ["QT_QPA_PLATFORM"] = "offscreen"  # whatever folder makes a widget: without a screen, Qt aborts
SEARCH = "search"  # the profile that draws other examples in every run: --hypothesis-profile=search
EXAMPLES = 40  # of a property that says nothing else, in every run; the other profiles draw 100
STARTED = time.monotonic()  # of each of pytest's workers
use_one_blas_thread()  # before NumPy is imported: a product whose threads wait for a busy core takes seconds
settings.register_profile("every run", deadline=None, max_examples=EXAMPLES)
settings.load_profile("every run")
for thorough in ("matrix", SEARCH):
    settings.register_profile(thorough, deadline=None)


@cache
def _without_gpu() -> str | None:
    """Why CUDA kernels cannot run here, or None when they can."""
    from flashscope.kernels.cuda.device import describe  # noqa: PLC0415 - only a collected gpu test needs the look
    from flashscope.kernels.workload.errors import DeviceUnavailableError  # noqa: PLC0415 - as above

    try:
        describe()
    except DeviceUnavailableError as error:
        return str(error)
    return None


@cache
def _without_torch() -> str | None:
    """Why PyTorch's kernels cannot run here, or None when they can."""
    return f"PyTorch is not installed: {install_command('torch')}" if find_spec("torch") is None else None


@cache
def _without_flash_attn_4() -> str | None:
    """Why flash-attn-4 cannot run here, or None when it can."""
    if installed("flash_attn.cute"):
        return None
    return f"flash-attn-4 is not installed: {install_command('flash-attn-4')}"


@cache
def _without_flash_attn_3() -> str | None:
    """Why FlashAttention-3's own build cannot run here, or None when it can."""
    if installed("flash_attn_interface"):
        return None
    return f"FlashAttention-3 is not installed: {install_command('tokenspeed-fa3')}"


@cache
def _without_transformers() -> str | None:
    """Why models of Transformers cannot run here, or None when they can."""
    missing = [module for module in ("transformers", "torch") if not installed(module)]
    return f"{' and '.join(missing)} must be installed: {install_command('models')}" if missing else None


def _without(module: str, extra: str) -> Callable[[], str | None]:
    """What says why a library cannot run here, or None when it can."""
    return lambda: None if installed(module) else f"{extra} is not installed: {install_command(extra)}"


@cache
def _without_xvfb() -> str | None:
    """Why no window can be opened on a virtual display, or None when one can."""
    missing = [program for program in ("Xvfb", "xwininfo") if shutil.which(program) is None]
    return f"{' and '.join(missing)} must be installed" if missing else None


class Need(NamedTuple):
    """A marker, what stands in its way here, and the variable that turns such a skip into a failure."""

    marker: str
    missing: Callable[[], str | None]
    required_by: str


NEEDS = (
    Need("gpu", _without_gpu, "REQUIRE_GPU"),
    Need("torch", _without_torch, "REQUIRE_TORCH"),
    Need("flash_attn_3", _without_flash_attn_3, "REQUIRE_FLASH_ATTN_3"),
    Need("flash_attn_4", _without_flash_attn_4, "REQUIRE_FLASH_ATTN_4"),
    Need("cudnn_frontend", _without("cudnn", "nvidia-cudnn-frontend"), "REQUIRE_CUDNN_FRONTEND"),
    Need("flashinfer", _without("flashinfer", "flashinfer-python"), "REQUIRE_FLASHINFER"),
    Need("transformers", _without_transformers, "REQUIRE_TRANSFORMERS"),
    Need("triton", _without("triton", "triton"), "REQUIRE_TRITON"),
    Need("cluster", _without("distributed", "cluster"), "REQUIRE_CLUSTER"),
    Need("xvfb", _without_xvfb, "REQUIRE_XVFB"),
)


def _hindrance(item: pytest.Item) -> tuple[Need, str] | None:
    """The first need of a test that is not met here, and why; None when the test can run."""
    marked = {mark.name for mark in item.iter_markers()}
    wanted = (need for need in NEEDS if need.marker in marked)
    return next(((need, reason) for need in wanted if (reason := need.missing()) is not None), None)


def _hindered(item: pytest.Item) -> str | None:
    """Why a test cannot run here, where nobody requires that it does."""
    found = _hindrance(item)
    return None if found is None or os.environ.get(found[0].required_by) == "1" else found[1]


@pytest.hookimpl(trylast=True)  # when the parameters have made their cases
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Of cases that are not to run no tests are made, but one of each function: thousands take seconds."""
    unwanted = ruled_out(metafunc.config.option.markexpr)
    of_all = {mark.name for mark in metafunc.definition.iter_markers()}
    calls = metafunc._calls
    wanted = [one for one in calls if unwanted.isdisjoint(of_all.union(mark.name for mark in one.marks))]
    kept = wanted or calls[:1]
    calls[:] = kept[:1] if _hindered(metafunc.definition) else kept


@pytest.hookimpl(trylast=True)  # of the cases that are selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the cases of a test that cannot run here one is skipped and told: thousands of them take seconds."""
    told: set[tuple[str, str]] = set()
    kept: list[pytest.Item] = []
    repeated: list[pytest.Item] = []
    for item in items:
        reason = _hindered(item)
        what = (item.nodeid.partition("[")[0], reason or "")
        (repeated if reason and what in told else kept).append(item)
        told.add(what)
    if repeated:
        config.hook.pytest_deselected(items=repeated)
        items[:] = kept


def _draw_from_no_source() -> None:
    """Hypothesis also draws constants of every module that is imported: others, and so other examples, where
    other tests have run. Each worker would look for them for a second, in a fresh clone for several.
    """
    providers._get_local_constants = lambda: providers._local_constants  # which holds none yet


def _draw_the_same(item: pytest.Item) -> None:
    """Let a property draw the same examples in every run: a failure by chance says nothing of a change."""
    if item.config.getoption("--hypothesis-profile") == SEARCH or not isinstance(item, pytest.Function):
        return
    if is_hypothesis_test(item.function):
        seed(crc32(item.nodeid.encode()))(item.function)


def pytest_runtest_setup(item: pytest.Item) -> None:
    most: float | None = item.config.getoption("--most-seconds")
    if most is not None and time.monotonic() - STARTED > most:
        pytest.skip(f"it would begin after the {most:.0f} s of --most-seconds")
    _draw_the_same(item)
    found = _hindrance(item)
    if found is None:
        return
    need, reason = found
    if os.environ.get(need.required_by) == "1":
        pytest.fail(f"{need.required_by}=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(trylast=True)  # after pytest's own, which would write among all other lines
def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(LastWords(config))
    if not config.getoption("--hypothesis-profile"):
        _draw_from_no_source()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", metavar="DIR", help="keep session and pictures of the GPU sweep in DIR")
    parser.addoption("--most-seconds", type=float, metavar="S", help="skip what would begin after S seconds")


def pytest_collection(session: pytest.Session) -> None:
    import_a_share(session.config)


def pytest_collectstart() -> None:
    """What is imported and collected stays: nobody need look for garbage in it."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Nor is it walked through again in every test."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    """While windows are tested Python collects nothing by itself: a thread might collect what is Qt's."""
    if not of_qt(item):
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        if not of_qt(nextitem):
            let_go()
            gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` stands for: a worker for each core, 8 at most, and one while others wait for a child."""
    return min(len(os.sched_getaffinity(0)), 8) + 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The correctness report, where kernels ran on a GPU."""
    from tests.kernels import report  # noqa: PLC0415 - needs NumPy, which not every selection of tests does

    lines = report.table(one for kind in terminalreporter.stats.values() for one in kind)
    if lines:
        terminalreporter.section("kernels against float64")
        for line in lines:
            terminalreporter.line(line)

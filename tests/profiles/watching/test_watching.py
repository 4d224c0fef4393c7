"""Each save is measured in a fresh worker, beside the version before; what goes wrong costs one version."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from queue import Queue
from time import monotonic_ns

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine import jobs
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.watching.saves import Save
from flashscope.profiles.watching.versions import RIGHT, UNREADABLE, Version
from flashscope.profiles.watching.watching import SUPERSEDED, Timing, WatchedFile, Watching
from flashscope.profiles.wire.events import Event, PointStarted
from tests.profiles.heard import PATIENCE_S, QUICK

PLAN = Plan(
    backend="cpu",
    kernels=("flash2",),
    problems=(Problem(seqlen_q=64, seqlen_k=64, head_dim=32, heads=2),),
    protocol=replace(QUICK, repeats=5),
)
PLAIN = """import numpy as np

def attend(q, k, v):
    s = q @ np.swapaxes(k, -1, -2) / np.float32(q.shape[-1] ** 0.5)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p @ v / p.sum(-1, keepdims=True)).astype(np.float32)
"""
HANGS = PLAIN.replace("    s = q", "    while True: pass\n    s = q")


class Bench:
    """A file that is watched, an engine that measures it, and what is told of its versions.

    Attributes:
        path: The file; only saves that are handed over are measured.
        watching: What measures them.
        told: Each version that has ended, with how long that took.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.path = folder / "mine.py"
        self.told: list[tuple[Version, Timing]] = []
        self._events: Queue[Event] = Queue()
        self.driver = Driver(LocalEngine, self._events.put)
        watched = WatchedFile(self.path, "", "mine")
        self.watching = Watching(self.driver, watched, plan, None, lambda v, t, _: self.told.append((v, t)))

    def save(self, text: str) -> None:
        """Save the file, and say so."""
        self.path.write_text(text, encoding="utf-8")
        data = text.encode()
        self.watching.saved(Save(data, sha256(data).hexdigest(), monotonic_ns()))
        self.watching.go_on()

    def until(self, reached: Callable[[Event], bool]) -> None:
        """Take in what the engine says until this."""
        while True:
            event = self._events.get(timeout=PATIENCE_S)
            self.watching.take(event)
            self.watching.go_on()
            if reached(event):
                return

    def version(self, number: int) -> Version:
        """A version, once it has ended."""
        known = self._find(number)
        if known is None:
            self.until(lambda _: self._find(number) is not None)
            known = self._find(number)
        assert known is not None
        return known

    def _find(self, number: int) -> Version | None:
        return next((version for version, _ in self.told if version.number == number), None)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Plan], Bench]]:
    monkeypatch.setattr(jobs, "first_tasks", lambda _device: ())
    made: list[Bench] = []

    def one(plan: Plan) -> Bench:
        made.append(Bench(tmp_path, plan))
        return made[-1]

    yield one
    for bench in made:
        bench.driver.close()
        bench.driver.wait()


@pytest.fixture
def bench(make: Callable[[Plan], Bench]) -> Bench:
    return make(PLAN)


@pytest.mark.matrix
def test_each_version_is_measured_beside_the_newest_right_one_and_the_peer(bench: Bench) -> None:
    texts = (
        PLAIN,
        PLAIN.replace("s.max", "0 * s.max"),
        PLAIN.replace("p @ v", "p @ v + 1"),
        PLAIN + "# more\n",
    )
    for number, text in enumerate(texts, 1):
        bench.save(text)
        bench.version(number)
    first, second, wrong, fourth = bench.watching.strip.versions
    assert [one.verdict for one in (first, second, wrong, fourth)] == [RIGHT, RIGHT, "wrong", RIGHT]
    assert [one.before for one in (first, second, wrong, fourth)] == ["", "mine-v1", "mine-v2", "mine-v2"]
    assert [ratio.to for ratio in fourth.cells[0].ratios] == ["mine-v2", "flash2"]
    assert all(ratio.interval is not None for ratio in fourth.cells[0].ratios)
    assert "O differs" in wrong.reason
    assert tuple(one.source for one in (first, second, wrong, fourth)) == texts
    for _, timing in bench.told:
        assert 0 < timing.verdict_s <= timing.ended_s


@pytest.mark.matrix  # it takes seconds
def test_the_version_before_runs_by_its_own_text_though_the_file_holds_another(
    bench: Bench, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    first = PLAIN.replace("    s = q", f"    print('first', file=open({str(trace)!r}, 'a'))\n    s = q")
    bench.save(first)
    bench.version(1)
    trace.unlink()
    bench.save(PLAIN)
    assert [ratio.to for ratio in bench.version(2).cells[0].ratios] == ["mine-v1", "flash2"]
    assert len(trace.read_text(encoding="utf-8").splitlines()) >= PLAN.protocol.repeats
    bench.path.unlink()
    bench.watching.saved(Save(first.encode(), sha256(first.encode()).hexdigest(), monotonic_ns()))
    bench.watching.go_on()
    assert bench.version(3).verdict == RIGHT  # what was saved is measured, be the file gone meanwhile


@pytest.mark.matrix  # it takes a second or more
def test_the_source_of_a_function_is_that_of_its_version(bench: Bench) -> None:
    """Triton and others read it again where the function is said to be from."""
    text = PLAIN + (
        "\nimport inspect, linecache\n"
        "def shown(): return 'MARK'\n"
        "if 'MARK' not in inspect.getsource(shown): raise ValueError('another source')\n"
    )
    bench.save(text.replace("MARK", "first"))
    assert bench.version(1).verdict == RIGHT, bench.version(1).reason
    bench.save("\n\n" + text.replace("MARK", "second"))
    version = bench.version(2)
    assert version.verdict == RIGHT, version.reason
    assert [ratio.to for ratio in version.cells[0].ratios] == ["mine-v1", "flash2"]


@pytest.mark.matrix  # it takes seconds
def test_nothing_that_a_version_leaves_in_its_process_reaches_the_next(bench: Bench) -> None:
    helper = bench.path.with_name("beside_mine.py")
    helper.write_text("FACTOR = 1\n", encoding="utf-8")
    text = PLAIN.replace("(p @ v", "beside_mine.FACTOR * (p @ v") + "import beside_mine\n"
    bench.save(text)
    assert bench.version(1).verdict == RIGHT, bench.version(1).reason
    helper.write_text("FACTOR = 20\n", encoding="utf-8")
    bench.save(text + "# again\n")
    assert bench.version(2).verdict == "wrong"
    bench.save(PLAIN + "import numpy\nnumpy.exp = numpy.sin\n")
    assert bench.version(3).verdict == "failed"  # what it did to NumPy is seen
    bench.save(PLAIN)
    assert bench.version(4).verdict == RIGHT, bench.version(4).reason


@pytest.mark.matrix  # it takes a second or more
def test_what_raises_is_told_with_its_line_and_what_ends_the_process_costs_its_version(bench: Bench) -> None:
    bench.save(PLAIN)
    bench.version(1)
    bench.save(PLAIN.replace("p @ v /", "p @ vv /"))
    assert bench.version(2).verdict == "failed"
    told = (
        "name 'vv' is not defined in line 6: return (p @ vv / p.sum(-1, keepdims=True)).astype(np.float32)."
    )
    assert bench.version(2).reason.endswith(told)
    bench.save(PLAIN.replace("    s = q", "    import os; os._exit(3)\n    s = q"))
    assert "ended with exit code 3" in bench.version(3).reason
    bench.save(PLAIN + "# back\n")
    assert (bench.version(4).verdict, bench.version(4).before) == (RIGHT, "mine-v1")


@pytest.mark.matrix  # it takes seconds
def test_a_hang_is_killed_at_its_deadline_and_the_next_save_is_measured(
    make: Callable[[Plan], Bench],
) -> None:
    bench = make(replace(PLAN, protocol=replace(PLAN.protocol, deadline_s=4.0)))
    bench.save(HANGS)
    assert bench.version(1).verdict == "timeout"
    assert "deadline of 4 s" in bench.version(1).reason
    bench.save(PLAIN)
    assert bench.version(2).verdict == RIGHT


@pytest.mark.matrix
def test_a_version_that_is_not_checked_yet_is_given_up_for_a_newer_save(bench: Bench) -> None:
    bench.save(HANGS)
    bench.until(lambda event: isinstance(event, PointStarted))
    bench.save(PLAIN)
    assert bench.version(2).verdict == RIGHT
    assert (bench.version(1).verdict, bench.version(1).reason) == ("cancelled", SUPERSEDED)


def test_of_saves_in_quick_succession_each_is_told_and_the_last_is_measured(bench: Bench) -> None:
    for text in (PLAIN, PLAIN + "# 2\n", PLAIN + "# 3\n"):
        bench.save(text)
    assert bench.version(3).verdict == RIGHT
    for number in (1, 2):
        assert (bench.version(number).verdict, bench.version(number).reason) == ("cancelled", SUPERSEDED)


@pytest.mark.matrix
def test_a_save_that_declares_no_kernel_breaks_nothing_off(bench: Bench) -> None:
    bench.save(PLAIN)
    bench.until(lambda event: isinstance(event, PointStarted))
    bench.save(PLAIN.replace("return (", "return (("))
    ((version, _),) = bench.told
    assert version.number == 2
    assert version.verdict == UNREADABLE
    assert version.reason.startswith("mine.py, line 6: '(' was never closed: return ((p @ v")
    assert bench.version(1).verdict == RIGHT
    bench.save("nothing = 1\n")
    assert "has no function f(q, k, v" in bench.version(3).reason

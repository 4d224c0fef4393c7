"""`sweep --watch` measures a file at each save until Ctrl-C; `versions` reads what it saved."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO, Any

import pytest

from flashscope.profiles.store import load
from tests.end_to_end.program import document, inside, started

PATIENCE_S = 60
SMALL = ("--backend", "cpu", "--seqlen", "64", "--head-dim", "32", "--repeats", "5")
PLAIN = """import numpy as np

def attend(q, k, v, *, causal, scale):
    s = scale * (q @ np.swapaxes(k, -1, -2))
    if causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p @ v / p.sum(-1, keepdims=True)
"""
HANGS = PLAIN.replace("    s = ", "    print('it hangs', flush=True)\n    while True: pass\n    s = ")


class Watch:
    """A running `sweep --watch --json`.

    Attributes:
        path: The file that it watches.
        process: The program.
        told: Its lines on stderr, as they come.
    """

    def __init__(self, path: Path, process: "subprocess.Popen[str]") -> None:
        self.path, self.process = path, process
        self.told: Queue[str] = Queue()
        self._versions: Queue[str] = Queue()
        for stream, lines in ((process.stderr, self.told), (process.stdout, self._versions)):
            assert stream is not None
            Thread(target=_read, args=(stream, lines), daemon=True).start()

    def version(self) -> dict[str, Any]:
        """The next version that is told."""
        found: dict[str, Any] = json.loads(self._versions.get(timeout=PATIENCE_S))
        return found

    def save(self, text: str) -> dict[str, Any]:
        """Save the file as many editors do, by a rename, and return what is told of it."""
        beside = self.path.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.path)
        return self.version()

    def hear(self, said: Callable[[str], bool]) -> str:
        """The next line on stderr of which this holds."""
        while True:
            line = self.told.get(timeout=PATIENCE_S)
            if said(line):
                return line

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


def _read(stream: IO[str], lines: "Queue[str]") -> None:
    for line in stream:
        lines.put(line)


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    path = tmp_path / "mine.py"
    path.write_text(PLAIN, encoding="utf-8")
    asked = ("--kernel", str(path), "--watch", "--json", "--out", str(tmp_path / "w.flashscope"))
    with started("sweep", *SMALL, *asked, home=tmp_path / "home") as process:
        yield Watch(path, process)


def ratios(version: dict[str, Any]) -> list[str]:
    """What a version is compared with."""
    return [one["to"] for one in version["points"][0]["ratios"]]


@pytest.mark.matrix
def test_saves_are_compiled_judged_and_timed_and_errors_are_told_with_their_line(
    watch: Watch, tmp_path: Path
) -> None:
    first = watch.version()
    assert (first["version"], first["kernel"], first["verdict"]) == (1, "mine-v1", "right")
    assert (first["before"], ratios(first)) == (None, ["flash2"])

    second = watch.save(PLAIN.replace("p @ v", "(p @ v)"))
    assert (second["verdict"], second["before"]) == ("right", "mine-v1")
    assert ratios(second) == ["mine-v1", "flash2"]
    assert all(one["low"] <= one["high"] for one in second["points"][0]["ratios"])
    assert 0 < second["verdict_s"] <= second["ended_s"]

    broken = watch.save(PLAIN.replace("p @ v", "(p @ v"))
    assert (broken["version"], broken["verdict"], broken["file"]) == (3, "unreadable", None)
    assert "mine.py, line 8: '(' was never closed: return (p @ v /" in broken["reason"]

    raising = watch.save(PLAIN.replace("p @ v", "p @ w"))
    assert raising["verdict"] == "failed"
    assert "NameError: name 'w' is not defined in line 8: return p @ w /" in raising["reason"]

    wrong = watch.save(PLAIN.replace("p @ v", "2 * p @ v"))
    assert wrong["verdict"] == "wrong"
    assert "O differs from the float64 oracle" in wrong["reason"]

    last = watch.save(PLAIN)
    assert (last["version"], last["verdict"], last["before"]) == (6, "right", "mine-v2")
    assert last["sha256"] == first["sha256"]
    assert watch.interrupt() == 130

    files = {one["version"]: Path(one["file"]) for one in (first, second, raising, wrong, last)}
    assert sorted(tmp_path.glob("*.flashscope")) == [tmp_path / f"w-v{n}.flashscope" for n in (1, 2, 4, 5, 6)]
    assert [one.name for one in load(files[6]).plan.own] == ["mine-v6", "mine-v2"]
    assert [one.source for one in load(files[2]).plan.own] == [PLAIN.replace("p @ v", "(p @ v)"), PLAIN]

    shown = inside("versions", *map(str, files.values()), "--between", "1,2", "--form", "diff")
    assert shown.returncode == 0, shown.stderr
    assert "-    return p @ v /" in shown.stdout
    assert "+    return (p @ v) /" in shown.stdout
    assert "in turns" in shown.stdout
    twice = inside("versions", str(files[1]), str(files[2]), str(files[1]))
    assert (twice.returncode, twice.stdout) == (2, "")
    assert f"{files[1]} is given twice" in twice.stderr
    told = document(inside("versions", *map(str, files.values()), "--json"))
    assert [one["verdict"] for one in told["versions"]] == ["right", "right", "failed", "wrong", "right"]


@pytest.mark.matrix  # it takes seconds
def test_a_file_that_is_deleted_is_waited_for_and_a_hang_ends_with_the_next_save(watch: Watch) -> None:
    watch.version()
    watch.path.unlink()
    watch.hear(lambda line: "mine.py is not there; waiting for it" in line)
    assert watch.save(PLAIN + "# back\n")["version"] == 2
    watch.path.write_text(HANGS, encoding="utf-8")
    watch.hear(lambda line: "it hangs" in line)
    given_up = watch.save(PLAIN)
    assert (given_up["version"], given_up["verdict"]) == (3, "cancelled")
    assert "saved anew" in given_up["reason"]
    assert watch.version()["verdict"] == "right"


@pytest.mark.matrix  # it takes seconds
def test_ctrl_c_while_a_version_is_measured_keeps_what_is_known_of_it(watch: Watch, tmp_path: Path) -> None:
    watch.version()
    watch.path.write_text(
        PLAIN.replace("    s = ", "    while True: print('it hangs', flush=True)\n    s = ")
    )
    watch.hear(lambda line: "it hangs" in line)
    assert watch.interrupt() == 130
    assert watch.version()["verdict"] == "cancelled"
    assert load(tmp_path / "w-v2.flashscope").outcome == "cancelled"


@pytest.mark.matrix  # it takes seconds
def test_a_line_tells_a_version_without_json(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLAIN, encoding="utf-8")
    asked = ("--kernels", "flash1", "--kernel", str(path), "--watch")
    with started("sweep", *SMALL, *asked, home=tmp_path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 143
    assert line.startswith("v1, ")
    for words in (", right, ", "× flash1 (", " s to the verdict, ", "-cpu-mine-v1.flashscope"):
        assert words in line
    (saved,) = (tmp_path / "sessions").glob("*-cpu-mine-v1.flashscope")
    assert load(saved).outcome == "finished"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--watch",), "--watch takes one kernel of one's own; name it with --kernel FILE"),
        (("--watch", "--kernel", "{}", "--kernel", "{}"), "--watch takes one kernel"),
        (("--watch", "--kernel", "{}", "--runs", "3"), "--watch does not go with --runs"),
        (("--watch", "--kernel", "{}", "--preset", "peers"), "--watch does not go with --preset"),
        (("--watch", "--kernel", "{}", "--out", "{}.flashscope"), "mine.py-v1.flashscope exists already"),
    ],
)
def test_what_does_not_go_with_watching_is_refused_in_one_line(
    words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLAIN, encoding="utf-8")
    path.with_name("mine.py-v1.flashscope").touch()
    done = inside("sweep", *SMALL, *(word.format(path) for word in words), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_kernel_for_a_gpu_alone_is_refused_on_the_cpu(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    header = "// flashscope: grid = Nq, H, B\n// flashscope: threads = 32\n"
    path.write_text(header + 'extern "C" __global__ void f(float* q, float* o) {}\n', encoding="utf-8")
    done = inside("sweep", *SMALL, "--kernel", str(path), "--watch", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine runs on cuda alone" in done.stderr

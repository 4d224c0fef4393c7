"""Sampling with a program in ncu's place: what it prints is joined, what it refuses told, and it ends."""

import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.cuda.reading.step import StepSource, read_problem
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.cuda.sass.resources import Resources
from flashscope.kernels.workload.errors import DeviceUnavailableError, UnsupportedError
from flashscope.kernels.workload.stalls import StallRequest, text_digest
from flashscope.profiles.wire.events import StallsProgress
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.worker import ncu_tool
from flashscope.profiles.worker.child import CancelledError
from flashscope.profiles.worker.stalls import recording
from flashscope.profiles.worker.stalls.printed import read_samples
from tests.profiles.worker.stalls.test_printed import ALONE, PRINTED, RAW, SOURCE, VERSION

H100 = next(card for card in CARDS if card.name == "H100")
REQUEST = StallRequest(problem=read_problem(128), kernel="flash3")
TEXT = "one\ntwo\n"
ANSWERS = f"""case "$*" in
*--version*) echo "{VERSION}";;
*--export*) ;;
*"--page source"*) cat {PRINTED}/source.csv;;
*--import*) cat {PRINTED}/raw.csv;;
*) cat {PRINTED}/alone.txt;;
esac"""


class Link:
    """In place of the engine's pipe: what was said."""

    def __init__(self) -> None:
        self.said: list[Message] = []

    def send(self, message: Message) -> None:
        self.said.append(message)

    def check(self, timeout_s: float = 0) -> None:
        time.sleep(min(timeout_s, 0.01))


def built(*_: object, entry: str = "flash3", first: str = "LDC") -> BuildListing:
    """The build with lines of what was sampled: all of line 2, the first of none."""
    code = [
        Instruction(one.address, one.text, "", (SourcePlace("flash3.cu", 2),) if at else ())
        for at, one in enumerate(read_samples(SOURCE)[0].instructions)
    ]
    code[0] = Instruction(0, f"{first} R1, R2")
    kernel = KernelListing(entry, code, Resources(168, 0, 0, 0, 0), 384, 0, 1)
    source = StepSource("flash3", "flash3.cu", "a heading", TEXT)
    return BuildListing(source, "sm_90a", "NVRTC 13.0", [kernel])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an H100 and, in this folder, a program in ncu's place."""
    monkeypatch.setattr(recording, "describe", lambda: H100.device)
    monkeypatch.setattr(recording, "listing_of", built)
    monkeypatch.setattr(recording, "find_ncu", lambda: str(tmp_path / "ncu"))
    program(tmp_path, ANSWERS)
    return tmp_path


def program(folder: Path, text: str) -> None:
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def record(link: Link) -> Any:
    return recording.record_stalls(REQUEST, link)


def test_what_ncu_prints_is_joined_with_the_lines_and_each_step_is_told(place: Path) -> None:
    link = Link()
    profile = record(link)
    assert [(one.done, one.total) for one in link.said if isinstance(one, StallsProgress)] == [
        (0, 4),
        (1, 4),
        (2, 4),
        (3, 4),
    ]
    (launch,) = read_samples(SOURCE)
    assert (profile.request, profile.device, profile.entry) == (REQUEST, "NVIDIA H100", "flash3")
    assert (profile.sampler, profile.interval, profile.launches) == ("Nsight Compute 2025.3.1", 2048, 2)
    assert profile.samples.numpy().sum() == launch.total
    assert profile.line.numpy().tolist() == [0, *[2] * (len(launch.instructions) - 1)]
    assert profile.text[0] == "LDC R1, R2", "as the disassembler writes it"
    assert (profile.file, profile.source) == ("flash3.cu", text_digest(TEXT))
    assert (profile.profiled_ns, profile.sampled_ns, profile.others) == (736_960, 737_408, 0)
    assert profile.plain_ns.numpy().min() == 736_096


def test_the_timed_build_runs_with_clocks_and_caches_left_alone(place: Path) -> None:
    words = " ".join(recording.sampling_command("ncu", REQUEST, place / "a.ncu-rep"))
    assert "--profile-from-start off --clock-control none --cache-control none" in words
    assert "flashscope.profiles.worker.stalls.launched:main flash3" in words
    assert "lineinfo" not in words


def test_without_ncu_the_sentence_says_where_it_comes_from(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "find_ncu", lambda: None)
    with pytest.raises(DeviceUnavailableError, match="comes with the CUDA toolkit"):
        record(Link())


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission",
            "as root, or have the driver loaded",
        ),
        ("==ERROR== LibraryNotLoaded", "as in a sandbox such as gVisor"),
        ("==ERROR== Failed to find metric smsp__x.", "gave no answer: Failed to find metric smsp__x."),
        ("", "gave no answer: it said nothing"),
    ],
)
def test_what_ncu_refuses_is_a_sentence_with_the_remedy(place: Path, printed: str, told: str) -> None:
    program(place, f'echo "{printed}"; exit 9')
    with pytest.raises(DeviceUnavailableError, match=told):
        record(Link())


def test_ncu_that_prints_something_else_is_told_as_such(place: Path) -> None:
    program(place, "echo nothing to see")
    with pytest.raises(DeviceUnavailableError, match="something else than is known of it: there is no table"):
        record(Link())


def test_samples_that_were_lost_are_no_profile(place: Path) -> None:
    lost = place / "lost.csv"
    lines = RAW.splitlines()
    names = lines[0].split('","')
    values = lines[2].replace('"737,408"', '"737408"').split('","')
    at = names.index("smsp__pcsamp_dropped_bytes")
    lost.write_text("\n".join([*lines[:2], '","'.join([*values[:at], "64", *values[at + 1 :]])]))
    program(place, ANSWERS.replace(f"{PRINTED}/raw.csv", str(lost)))
    with pytest.raises(DeviceUnavailableError, match="lost samples"):
        record(Link())


def test_other_machine_code_than_that_with_lines_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "listing_of", lambda *_: built(first="MOV"))
    with pytest.raises(UnsupportedError, match="differs at byte 0x0: LDC"):
        record(Link())


def test_a_kernel_that_takes_the_problem_nowhere_is_refused_before_anything_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rtx = next(card for card in CARDS if card.name == "RTX 4090")
    monkeypatch.setattr(recording, "describe", lambda: rtx.device)
    link = Link()
    with pytest.raises(UnsupportedError, match=r"compute capability 9\.0"):
        record(link)
    assert link.said == []


def test_what_is_given_up_ends_ncu_and_the_program_that_it_runs(place: Path) -> None:
    program(place, f"sleep 300 & echo $! > {place}/child; echo $$ > {place}/self; wait")
    with pytest.raises(CancelledError):
        record(Waiting(place / "self"))
    for name in ("child", "self"):
        assert gone(int((place / name).read_text()))


class Waiting(Link):
    """Gives up once a file is there."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def check(self, timeout_s: float = 0) -> None:
        if self._file.exists() and self._file.read_text().strip():
            raise CancelledError
        time.sleep(min(timeout_s, 0.01))


def gone(number: int) -> bool:
    """Whether a process has ended, or does so now; one that nobody waits for is a zombie."""
    try:
        process = psutil.Process(number)
        with suppress(psutil.TimeoutExpired):
            process.wait(0 if process.status() == psutil.STATUS_ZOMBIE else 5)
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_an_unknown_word_of_ncu_is_told_without_its_marks() -> None:
    assert ncu_tool.why_refused("a\n==ERROR== Bad thing.\nb") == "Nsight Compute gave no answer: Bad thing."
    assert ALONE.startswith("==WARNING==")

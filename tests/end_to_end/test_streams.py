"""Every command on standard streams that are closed, full, broken or short of characters: no traceback."""

import os
import shlex
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.matrix import chosen, matrix
from tests.profiles.store import builders

SWEEP = "sweep --backend cpu --heads 1 --head-dim 16 --repeats 3 --seqlen 32,64 --kernels flash2"
COMMANDS = [
    "--help",
    "--version",
    "sweep --help",
    "show {session}",
    "show {session} --json",
    "show {session} --csv",
    "show {session} --against flash2",
    "trace --scores 1,2,3",
    "trace --scores 1,2,3 --json",
    "kernels",
    "kernels --json",
    "doctor",
    "doctor --json",
    SWEEP,
    f"{SWEEP} --json",
]
SOME = {"--help", "show {session}", "show {session} --json"}  # one of each way to print
FAILING = ["show {session}x", "sweep --heads 0", "swep", "window", "shots {session}", "trace --scores x"]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope")


def run(
    command: str, redirection: str, session: Path, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of the program under a shell that redirects its streams."""
    typed = shlex.join([sys.executable, "main.py", *shlex.split(command.format(session=session))])
    return subprocess.run(  # noqa: S602 - redirections are a shell's
        f"{typed} {redirection}",
        shell=True,
        check=False,
        capture_output=True,
        timeout=program.TIMEOUT_S,
        env=program.environment(session.parent / "home", **environment),
        cwd=program.ROOT,
    )


def is_saved(session: Path) -> bool:
    """Whether the sweep that ran is among the sessions, whole."""
    (path,) = (session.parent / "home" / "sessions").iterdir()
    return {point.status for point in load(path).points} == {"done"}


@pytest.mark.matrix
@chosen(
    "command, redirection",
    product(COMMANDS, [">&-", "> /dev/full"]),
    {*product(SOME, [">&-"]), (SWEEP, "> /dev/full")},
)
def test_output_that_cannot_be_written_is_told_in_one_line_and_exits_1(
    command: str, redirection: str, session: Path
) -> None:
    done = run(command, redirection, session)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(b"python main.py: ")
    assert not command.startswith(SWEEP) or is_saved(session)


@pytest.mark.matrix
@chosen(
    "command, redirection",
    product(COMMANDS, ["2>&-", "2> /dev/full"]),
    {("show {session}", "2>&-"), (SWEEP, "2> /dev/full")},
)
def test_messages_that_cannot_be_written_change_nothing(
    command: str, redirection: str, session: Path
) -> None:
    done = run(command, redirection, session)
    assert done.returncode == 0
    assert done.stdout
    assert not command.startswith(SWEEP) or is_saved(session)


@pytest.mark.matrix  # it takes a second
@matrix("command redirection", product(FAILING, ["2>&-", "2> /dev/full", ">&- 2>&-", "<&- >&- 2>&-"]), few=1)
def test_what_fails_fails_alike_when_it_cannot_be_told(command: str, redirection: str, session: Path) -> None:
    done = run(command, redirection, session)
    assert done.returncode == run(command, "", session).returncode != 0
    assert (done.stdout, done.stderr) == (b"", b"")


READ_IN_PART = ["show {session}", "show {session} --json", "source flash3-b", "export {session} - --to csv"]


@chosen("command", READ_IN_PART, {"show {session}"})
def test_a_reader_who_has_had_enough_is_no_failure(command: str, session: Path) -> None:
    """The reader has closed before anything is written."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as broken:
        done = subprocess.run(
            [sys.executable, "main.py", *shlex.split(command.format(session=session))],
            check=False,
            stdout=broken,
            stderr=subprocess.PIPE,
            timeout=program.TIMEOUT_S,
            env=program.environment(session.parent / "home"),
            cwd=program.ROOT,
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.matrix
@chosen("command", [SWEEP, f"{SWEEP} --json"], {SWEEP})
def test_a_sweep_whose_reader_leaves_goes_on_and_is_saved(command: str, session: Path) -> None:
    done = run(command, "2>&1 | head -1", session)
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stdout + done.stderr
    assert is_saved(session)


@pytest.mark.matrix  # it takes a second
@chosen("command", COMMANDS, {"show {session}", "show {session} --json"})
def test_a_terminal_of_ascii_gets_everything_and_documents_stay_utf_8(command: str, session: Path) -> None:
    done = run(command, "", session, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    if "--json" in command:
        msgspec.json.decode(done.stdout)
    elif "--csv" not in command:
        assert done.stdout.isascii()


@pytest.mark.matrix  # it takes seconds
def test_bytes_that_are_no_text_may_stand_in_a_path(session: Path) -> None:
    strange = os.fsdecode(os.fsencode(session.parent) + b"/\xff\xfe.flashscope")
    done = run(f"{SWEEP} --json --out {shlex.quote(strange)}", "", session)
    assert done.returncode == 0, done.stderr
    document = msgspec.json.decode(done.stdout)
    assert document["session"]["file"].endswith("\N{REPLACEMENT CHARACTER}.flashscope")
    for form in ("", "--json", "--csv", "--against flash2"):
        shown = run(f"show {shlex.quote(strange)} {form}", "", session)
        assert (shown.returncode, shown.stderr) == (0, b"")
    again = run(f"{SWEEP} --out {shlex.quote(strange)}", "", session)
    assert again.returncode == 2
    assert b"exists already" in again.stderr


@chosen(
    "command",
    ["show {}", "{}", "window {}", "shots {}", "shots folder --open {}", f"{SWEEP} --out {{}}.flashscope"],
    {"{}"},
)
def test_a_name_that_is_too_long_is_told_in_one_line(command: str, session: Path) -> None:
    typed = command.replace("folder", str(session.parent / "pictures")).format("n" * 300)
    done = run(typed, "", session)
    assert done.returncode in {1, 2}
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
@pytest.mark.parametrize("command", ["show {}", "{}", "window {}", "shots {}", f"{SWEEP} --out {{}}"])
def test_a_folder_that_may_not_be_looked_into_is_told_in_one_line(command: str, session: Path) -> None:
    folder = session.parent / "closed"
    folder.mkdir()
    folder.chmod(0o600)
    done = run(command.format(folder / "b.flashscope"), "", session)
    folder.chmod(0o700)
    assert done.returncode in {1, 2}
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


@chosen("command", ["show", "trace", "doctor", "sweep", "kernels", "window", "shots"], {"show", "window"})
def test_ctrl_c_while_the_program_starts_ends_it_without_a_word(command: str, tmp_path: Path) -> None:
    """Stopped by a module of the program that is looked for in vain, as a slow disk would."""
    script, begun = tmp_path / "main.py", "from flashscope.app import cli"
    wait = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    source = (program.SOURCES / "flashscope" / "__main__.py").read_text(encoding="utf-8")
    assert begun in source
    # Also where a job in the background has it ignored.
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    script.write_text(heard + source.replace(begun, f"exec({wait!r})\n    {begun}"))
    with program.started(command, script=script, PYTHONPATH=str(program.SOURCES)) as process:
        printed, told = process.communicate(timeout=program.TIMEOUT_S)
    assert process.returncode == -signal.SIGINT
    assert (printed, told) == ("", "")

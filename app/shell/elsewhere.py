"""Pictures drawn by another process: painting one takes a second, and only the GUI thread may paint plots."""

import subprocess
from pathlib import Path

from flashscope.app.look.picture import PictureOptions
from flashscope.installation import PROGRAM
from flashscope.profiles.store import SessionFileError
from flashscope.profiles.wire.process import python_command

COMMAND = "export"
PROGRAM_MAIN = "flashscope.__main__:main"
TIMEOUT_S = 300


def draw_elsewhere(path: Path, kind: str, look: PictureOptions, target: Path) -> None:
    """Have `export` draw a session's picture; for a thread that may wait.

    Args:
        path: The session.
        kind: `svg` or `png`.
        look: What the picture shows and how.
        target: The file to make; one that is there is replaced.

    Raises:
        SessionFileError: It was not drawn, for this reason.
    """
    asked = [
        COMMAND,
        str(path.absolute()),
        str(target.absolute()),
        "--to",
        kind,
        "--force",
        *_words(kind, look),
    ]
    try:
        done = subprocess.run(
            python_command(PROGRAM_MAIN, *asked),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SessionFileError(f"Nothing was drawn: {error}; try again.") from error
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        why = told[-1].removeprefix(f"{PROGRAM} {COMMAND}: ")
        raise SessionFileError(f"Nothing was drawn: {why}", done.stderr)


def _words(kind: str, look: PictureOptions) -> list[str]:
    """The options that ask for it."""
    said = ["--theme", look.theme]
    said += ["--plot", look.plot] if look.plot else []
    said += [f"--curve={look.curve}"] if look.curve else []
    said += ["--scale", str(look.scale)] if kind == "png" else []
    return [*said, "--transparent"] if look.transparent else said

"""Where code that is not ours raised an error: its lines, without the way there through this program."""

import traceback
from pathlib import Path

PROGRAM_ROOT = Path(__file__).parents[2]  # as modules are imported, through links or not
INSTALLED = "site-packages"


def first_line(error: BaseException) -> str:
    """The kind of an error and the first line of what it says: `ValueError: no such size`."""
    said = next(iter(str(error).splitlines()), "").rstrip(".")
    return f"{type(error).__name__}{said and ': '}{said}"


def raised_at(error: BaseException, own: Path | None = None) -> str:
    """The lines that an error came through, the last one last; of this program's own errors the traceback.

    Args:
        error: What was raised.
        own: A file of the user's: where it is among them, only its lines are told.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)}, line {error.lineno}: {(error.text or '').strip()}"
    frames = traceback.extract_tb(error.__traceback__)
    users = [one for one in frames if own is not None and Path(one.filename).resolve() == own.resolve()]
    others = [one for one in frames if not Path(one.filename).is_relative_to(PROGRAM_ROOT)]
    if not others:
        return "".join(traceback.format_exception(error))
    told = users or [*[one for one in frames if one not in others][-1:], others[-1]]
    return "\n".join(f"{_short(one.filename)}, line {one.lineno}, in {one.name}: {one.line}" for one in told)


def _short(file: str) -> str:
    """A file without the folders that packages are installed in."""
    parts = Path(file).parts
    return str(Path(*parts[parts.index(INSTALLED) + 1 :])) if INSTALLED in parts else file

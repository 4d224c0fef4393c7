"""Mutated copies of the bundled recordings are read as sessions or refused, quickly, and never changed.

Every run takes a few dozen; `-m long` takes ten thousand.
"""

import io
import stat
import time
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from flashscope.app.commands import show
from flashscope.app.control.bundled import bundled_sessions
from flashscope.profiles.store import SessionFileError, list_sessions, load
from tests.matrix import on_demand
from tests.profiles.store.mutations import mutate

OLD = Path(__file__).with_name("version4.flashscope")  # migrated whenever it is read
FILES = 50  # in one test
SLOWEST_S = 5.0
pytestmark = pytest.mark.timeout(300)  # of FILES


def read(path: Path) -> str:
    """Read and print a file in every form; returns why it was refused."""
    (info,) = list_sessions(path.parent)
    try:
        load(path)
    except SessionFileError as error:
        assert str(error)  # noqa: PT017 - many files are as good as before
        return str(error)
    assert not info.error
    with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        for as_json, as_csv in ((True, False), (False, True), (False, False)):
            show.run(path, as_json=as_json, as_csv=as_csv, against=None)
    return ""


def as_it_is(folder: Path) -> dict[str, object]:
    """Kind, moment of the last change and content of everything in a folder."""
    found = {path.name: (path, path.lstat()) for path in folder.iterdir()}
    return {
        name: (one.st_mode, one.st_mtime_ns, path.read_bytes() if stat.S_ISREG(one.st_mode) else b"")
        for name, (path, one) in found.items()
    }


@on_demand("turn", range(200), {0})
def test_a_mutated_recording_is_read_or_refused_and_stays_as_it_is(tmp_path: Path, turn: int) -> None:
    small, large, *_ = sorted(bundled_sessions(), key=lambda path: path.stat().st_size)
    sources = [large, *(small, OLD) * 10]
    refused = 0
    for seed in range(turn * FILES, (turn + 1) * FILES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        what = mutate(sources[seed % len(sources)], folder / "a.flashscope", seed)
        before = as_it_is(folder)
        begun = time.process_time()  # what waits for ever is ended by the timeout
        try:
            refused += bool(read(folder / "a.flashscope"))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {what}") from error
        assert time.process_time() - begun < SLOWEST_S, f"seed {seed}: {what}"
        assert as_it_is(folder) == before, f"seed {seed}: {what}"
    assert 0 < refused < FILES

"""Whatever a session says that opens, every reader and every page deals with it in time and memory."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.store import CorruptFileError, SessionFileError, load
from tests.app.readers import READERS, read
from tests.app.rig import Rig
from tests.app.shell.played.drawn import drawn_on_every_page
from tests.limits import limited
from tests.matrix import chosen, on_demand
from tests.profiles.store.absurd import ABSURD, absurd
from tests.profiles.store.builders import first_part, next_part, recorded, whole_sweep
from tests.profiles.store.test_fuzz import OLD
from tests.profiles.store.typed_mutations import mutate_typed

FILES, FEW, WINDOWS = 25, 5, 10  # in one test, in that of every run, and in one of a window
OPENED = 0.75  # of many files
DEEP = "[" * 60_000 + "]" * 60_000
pytestmark = pytest.mark.timeout(900)  # of FILES


@chosen("name", ABSURD, {"negative errors"})
def test_every_reader_deals_with_an_absurd_session(tmp_path: Path, name: str) -> None:
    path = absurd(tmp_path, name)
    for reader in READERS:
        read(reader, path)


@pytest.mark.matrix
@on_demand("name", ABSURD, [*ABSURD][::3])  # each takes seconds
def test_every_page_deals_with_an_absurd_session(
    tmp_path: Path, rig: Rig, window: MainWindow, raised: list[str], name: str
) -> None:
    drawn_on_every_page(absurd(tmp_path / "absurd", name), rig, window)
    assert not raised, raised[0]


def test_a_length_that_no_int_of_c_holds_is_chosen_on_every_page(rig: Rig) -> None:
    rig.controller.seqlen_chosen.emit(1 << 50)
    assert rig.controller.seqlen == 1 << 50


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Small sessions of all kinds: old and new ones, with traces, in parts, of every quantity."""
    own, two = recorded(tmp_path / "own.flashscope", *whole_sweep()), tmp_path / "two.flashscope"
    recorded(two, *first_part())
    recorded(two, *next_part(load(two)))
    by_size = sorted(bundled_sessions(), key=lambda path: path.stat().st_size)
    return [own, two, by_size[0], own, OLD, by_size[2], two, by_size[1]]


def mutated(sources: list[Path], folder: Path, seed: int) -> tuple[Path, str] | None:
    """A mutated copy alone in a folder, and what was changed; None where it is refused, with a sentence."""
    folder.mkdir()
    path = folder / "a.flashscope"
    what = f"seed {seed}: {mutate_typed(sources[seed % len(sources)], path, seed)}"
    try:
        with limited():
            load(path)
    except SessionFileError as error:
        assert str(error)  # noqa: PT017 - many files are as good as before
        return None
    except Exception as error:
        raise AssertionError(what) from error
    return path, what


def for_each(sources: list[Path], folder: Path, seeds: range, use: Callable[[Path], object]) -> None:
    """Use every mutated copy that opens; three of four do."""
    opened = 0
    for seed in seeds:
        found = mutated(sources, folder / str(seed), seed)
        if found is None:
            continue
        path, what = found
        try:
            use(path)
        except Exception as error:
            raise AssertionError(f"{what}: {error}") from error
        opened += 1
        shutil.rmtree(path.parent)
    assert opened >= len(seeds) * OPENED - 3 * (len(seeds) * OPENED * (1 - OPENED)) ** 0.5


@pytest.mark.matrix
@on_demand("turn", range(201), {0})
def test_every_reader_deals_with_a_mutated_session(tmp_path: Path, sources: list[Path], turn: int) -> None:
    seeds = range((turn - 1) * FILES, turn * FILES) if turn else range(FEW)

    def use(path: Path) -> None:
        for reader in READERS:
            read(reader, path)

    for_each(sources, tmp_path, seeds, use)


@on_demand("turn", range(30), set())
def test_every_page_deals_with_a_mutated_session(  # noqa: PLR0917 - fixtures
    tmp_path: Path, sources: list[Path], rig: Rig, window: MainWindow, raised: list[str], turn: int
) -> None:
    def use(path: Path) -> None:
        drawn_on_every_page(path, rig, window)
        assert not raised, raised[0]

    for_each(sources, tmp_path, range(turn * WINDOWS, (turn + 1) * WINDOWS), use)


def test_values_nested_without_end_are_refused_with_a_sentence_also_by_the_window(
    tmp_path: Path, rig: Rig, qtbot: QtBot
) -> None:
    path = Path(shutil.copy(bundled_sessions()[0], tmp_path / "deep.flashscope"))
    with sqlite3.connect(path, isolation_level=None) as connection:
        nested = "substr(machine, 1, length(machine) - 1) || ',\"zz\":' || ? || '}'"
        connection.execute(f"UPDATE session SET machine = {nested}", (DEEP,))  # noqa: S608 - constants
    connection.close()
    with pytest.raises(CorruptFileError, match="no session holds"):
        load(path)
    with qtbot.waitSignal(rig.controller.error_raised, timeout=60_000) as raised:
        rig.controller.open_session(path)
    assert "no session holds" in raised.args[0]

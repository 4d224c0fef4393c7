"""The mark of a run in files of every version that is bundled."""

import shutil
from pathlib import Path

import pytest

from flashscope.profiles.plan.run_mark import run_marks
from flashscope.profiles.store import ChangedFileError, ReplacedFileError, load, mark_run

RECORDINGS = sorted((Path(__file__).parents[3] / "assets" / "sessions").glob("*.flashscope"))
FIRST, SECOND = run_marks(2)


@pytest.mark.parametrize("name", ["h200-standard-flash2", "h200-traffic", "h200-decode", "h100-caches"])
def test_a_file_of_an_older_version_takes_a_mark_and_gives_it_back(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.flashscope"
    shutil.copy(next(path for path in RECORDINGS if path.stem == name), file)
    before = load(file)
    mark_run(file, FIRST, None, before.id)
    assert load(file).run_mark == FIRST
    with pytest.raises(ChangedFileError, match="says otherwise by now"):
        mark_run(file, SECOND, None, before.id)
    with pytest.raises(ReplacedFileError):
        mark_run(file, SECOND, FIRST, "of another session")
    assert load(file).run_mark == FIRST
    mark_run(file, None, FIRST, before.id)
    after = load(file)
    assert after.run_mark is None
    assert not after.altered
    assert after.points == before.points

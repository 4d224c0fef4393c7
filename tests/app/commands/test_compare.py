"""`compare` as it is typed: what it prints, what it writes, how it ends."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from msgspec.structs import replace

from flashscope.app.cli import main
from flashscope.app.commands.compare import REMEDY, _told
from flashscope.app.control.bundled import bundled_sessions
from flashscope.profiles.results.compare import Comparison, compare
from flashscope.profiles.results.compare.document import ComparisonDocument
from flashscope.profiles.results.compare.regressions import Regressions
from tests.app.hostile import hostile_file
from tests.app.test_escapes import CONTROLS, HARMFUL
from tests.end_to_end.program import ROOT
from tests.profiles.store import builders

RECORDED = ROOT / "assets" / "sessions" / "h200-standard-flash2.flashscope"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copy(RECORDED, tmp_path / "copy.flashscope"))


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    """A sweep of which one point is done."""
    return builders.recorded(tmp_path / "partial.flashscope")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["compare", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def recorded_run(folder: Path, number: int) -> Path:
    """One of several runs of a plan in a folder."""
    folder.mkdir(exist_ok=True)
    started, *others = builders.whole_sweep()
    return builders.recorded(
        folder / f"{number}.flashscope", replace(started, session_id=uuid4().hex), *others
    )


def test_a_copy_has_no_change_and_no_regression(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, RECORDED, copied, "--fail-on-regression", "8")
    assert code == 0
    assert "Summary: no change found: 15 of 16 points the same, 1 not compared" in out
    assert "No regression of 8.0% or more" in out


def test_a_change_that_would_not_be_found_passes_no_check_unless_that_is_allowed(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, RECORDED, copied, "--fail-on-regression", "2")
    assert code == 1
    assert "Undecided: standard, d 64, no mask, N = 1024: 7.7% would be found (it takes 5.4% to count)" in out
    assert "Undecided: a change of 2.0% would not be found in 2 points." in out
    assert run(capsys, RECORDED, copied, "--fail-on-regression", "2", "--allow-inconclusive")[0] == 0
    code, _, err = run(capsys, RECORDED, copied, "--allow-inconclusive")
    assert (code, "belongs to --fail-on-regression" in err) == (2, True)


def test_several_runs_are_a_side_by_a_word_between_them_or_by_their_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [[recorded_run(tmp_path / side, number) for number in range(2)] for side in "ab"]
    said = run(capsys, *sides[0], "vs", *sides[1])
    assert said[0] == 0
    assert "the baseline 2 runs, the first 0 (" in said[1]
    assert run(capsys, tmp_path / "a", tmp_path / "b") == said
    made = msgspec.json.decode(
        run(capsys, tmp_path / "a", tmp_path / "b", "--json")[1], type=ComparisonDocument
    )
    assert [one.file for one in made.base_runs] == list(map(str, sides[0]))
    assert [one.file for one in made.comparisons[0].runs] == list(map(str, sides[1]))


def test_what_differs_stands_above_the_summary_and_that_above_the_points(
    partial: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, RECORDED, partial)
    assert code == 0
    places = [out.index(text) for text in ("Backend: cuda", "Device: NVIDIA H200", "Summary: ", "Without a")]
    assert places == sorted(places)


def test_a_point_without_a_partner_is_a_regression(
    partial: Path, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, RECORDED, copied, partial, "--fail-on-regression", "50")
    assert code == 1
    assert "Regressions: 15 without a partner" in out
    assert run(capsys, RECORDED, copied, partial)[0] == 0


def test_rounds_that_can_decide_nothing_are_told(
    copied: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_few(*arguments: Any) -> Comparison:
        return dataclasses.replace(compare(*arguments), caution="5 rounds cannot decide among 15 pairs.")

    monkeypatch.setattr("flashscope.app.commands.compare.compare", too_few)
    code, out, _ = run(capsys, RECORDED, copied)
    assert (code, out.splitlines()[1]) == (0, "Note: 5 rounds cannot decide among 15 pairs.")
    found = Regressions(0.02, worse=0, broken=0, missing=0, unjudged=0, inconclusive=12, undecided=12)
    assert not found.found
    assert list(_told(found)) == [f"Undecided: a change of 2.0% would not be found in 12 points. {REMEDY}"]


def test_nothing_to_compare_is_no_pass(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, RECORDED, copied, "--quantity", "sustained_ms", "--fail-on-regression", "2")
    assert code == 1
    assert "Failed: nothing could be compared" in out


def test_the_document_holds_every_session_and_nothing_else_is_printed(
    partial: Path, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, RECORDED, copied, partial, "--json", "--quantity", "footprint")
    made = msgspec.json.decode(out, type=ComparisonDocument)
    assert (code, err) == (0, "")
    assert [one.session.file for one in made.comparisons] == [str(copied), str(partial)]
    assert (made.quantity, made.unit) == ("footprint", "bytes")
    assert {pair.verdict for pair in made.comparisons[0].pairs} == {"equal", None}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ((RECORDED, RECORDED), 2, "is given twice"),
        ((RECORDED, RECORDED.parent / ".." / "sessions" / RECORDED.name), 2, "is given twice"),
        ((RECORDED, *(f"{n}.flashscope" for n in range(6))), 2, "up to 5 others, not 6"),
        ((RECORDED,), 2, "name a baseline and what is compared with it"),
        ((RECORDED, "vs"), 2, "no file stands on one side of `vs`"),
        ((RECORDED, ROOT / "tests"), 2, "holds no .flashscope file"),
        ((RECORDED, "no.flashscope"), 1, "No such file"),
        ((RECORDED, ROOT / "README.md"), 1, "README.md"),
        ((RECORDED, "x", "--quantity", "runtme"), 2, "did you mean runtime?"),
        ((RECORDED, "x", "--quantity", "?"), 2, "there are runtime, speed-up"),
        ((RECORDED, "x", "--fail-on-regression", "much"), 2, "is not a number of percent"),
        ((RECORDED, "x", "--fail-on-regression", "-1"), 2, "is not a number of percent from 0"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(
    arguments: tuple[object, ...], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, out, err = run(capsys, *arguments)
    assert (ended, out) == (code, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_hostile_file_prints_no_escape(
    form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = hostile_file(tmp_path / "a\x1b[31m.flashscope", CONTROLS)
    code, out, err = run(capsys, RECORDED, hostile, *form)
    assert code == 0
    assert "owned" in out
    assert not HARMFUL.findall(out + err)
    if form:
        json.loads(out)


def test_no_page_is_written_over_a_session_that_is_compared(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = copied.read_bytes()
    code, _, err = run(capsys, RECORDED, copied, "--html", copied, "--force")
    assert code == 1
    assert "is a session, which nothing is written over" in err
    assert copied.read_bytes() == before


def test_pairs_are_told_apart_from_all_else_that_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    few, many = (
        next(p for p in bundled_sessions() if p.stem == f"h200-{name}") for name in ("thin", "peers")
    )
    assert main(["compare", str(few), str(many)]) == 0
    assert "d 128, causal, 16 heads, batch 4" in capsys.readouterr().out  # of 24 problems four are in both

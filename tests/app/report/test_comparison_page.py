"""The page of a comparison: what differs, the verdicts, and nothing of a file as markup."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashscope.app.cli import main
from flashscope.app.control.bundled import NAMES, alike_recordings
from flashscope.app.report.comparison_page import comparison_page
from flashscope.profiles.plan.run_mark import run_marks
from flashscope.profiles.results.compare import compare
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import load
from tests.app.hostile import hostile_file
from tests.app.report.pages import seen
from tests.app.report.test_session_page import MARKUP
from tests.app.test_escapes import CONTROLS, HARMFUL
from tests.profiles.results.compare.built import rounds, session

SIDES = ([Path("before.flashscope")], [Path("after.flashscope")])
BASE = session({("flash2", n): rounds(1.0) for n in (512, 1024)} | {("flash3", 512): rounds(1.0)})
OTHER = session(
    {("flash2", 512): rounds(1.1), ("flash2", 1024): rounds(1.0), ("flash3", 512): "oom"},
    machine={"driver": "590"},
)


def test_a_page_says_what_differs_before_the_summary_and_that_before_the_points() -> None:
    comparison = compare(BASE, [OTHER])
    text = seen(comparison_page(comparison, SIDES)).text
    told = (
        "beside before",
        "after (",
        "NVIDIA driver",
        comparison.contrasts[0].summary,
        "Ratio to the baseline",
    )
    places = [text.index(said) for said in told]
    assert places == sorted(places)
    for said in ("1.100", "slower", "was done, now out of memory"):
        assert said in text


def test_rounds_that_can_decide_nothing_are_told_above_everything() -> None:
    comparison = replace(compare(BASE, [OTHER]), caution="5 rounds cannot decide among 12 pairs.")
    text = seen(comparison_page(comparison, SIDES)).text
    assert text.index("5 rounds cannot decide") < text.index("after (")


@pytest.mark.parametrize("key", QUANTITIES)
def test_every_quantity_of_sessions_makes_a_page(key: str) -> None:
    page = seen(comparison_page(compare(BASE, [OTHER, BASE], QUANTITIES[key]), (*SIDES, SIDES[0])))
    assert page.count("figure") == 4
    assert QUANTITIES[key].title in page.text


@pytest.mark.parametrize("text", [MARKUP, CONTROLS], ids=["markup", "controls"])
def test_no_text_of_a_file_becomes_markup_of_a_comparison(tmp_path: Path, text: str) -> None:
    files = [hostile_file(tmp_path / f"{name}.flashscope", text + name) for name in "ab"]
    base, other = map(load, files)
    page = comparison_page(compare(base, [other]), [[file] for file in files])
    assert not HARMFUL.findall(page.decode())
    assert "<script>" in seen(page).text


def test_compare_writes_a_page_and_over_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, out = list(map(str, alike_recordings())), tmp_path / "page.html"
    assert main(["compare", *files, "--html", str(out)]) == 0
    assert NAMES["h200-peers"].encode() in out.read_bytes()
    assert main(["compare", *files, "--html", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["compare", *files, "--html", str(out), "--force"]) == 0


def test_runs_of_one_plan_are_named_once_and_each_is_drawn_faintly() -> None:
    marks = run_marks(3)
    runs = [
        replace(session({("flash2", n): rounds(1.0 + 0.01 * k) for n in (512, 1024)}), run_mark=mark)
        for k, mark in enumerate(marks)
    ]
    other = session({("flash2", n): rounds(1.3) for n in (512, 1024)})
    files = [Path(f"before-{mark.run}.flashscope") for mark in marks]
    page = comparison_page(compare(runs, [other]), (files, [Path("after.flashscope")]))
    text = seen(page).text
    assert "beside 3 runs of before (" in text
    assert "faint: each run" in text
    assert page.count(b'class="run ') == 3
    alone = comparison_page(compare(runs[:1], [other]), (files[:1], [Path("after.flashscope")]))
    assert b'class="run ' not in alone

"""The report of a session: what it says, and that nothing in a file becomes a part of the page itself."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from flashscope.app import cli
from flashscope.app.commands.declared import measuring
from flashscope.app.commands.sweep import make_plan
from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.report.session_page import session_page
from flashscope.app.words.results.provenance import of_session
from flashscope.app.words.units import ms_text
from flashscope.installation import PROGRAM
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import RanksReady
from tests.app.hostile import hostile_file
from tests.app.report.pages import Seen, seen
from tests.app.test_escapes import CONTROLS, HARMFUL
from tests.profiles import rank_results
from tests.profiles.results.compare.built import shuffled
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

MARKUP = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt;<!--]]>"


def report(session: Session) -> Seen:
    return seen(session_page(session, of_session(session, "saved")))


@pytest.fixture(scope="module")
def lesson() -> Session:
    return load(bundled_sessions()[0])


def test_a_report_says_who_measured_what_how_and_with_which_result(lesson: Session) -> None:
    text = report(lesson).text
    for said in (
        "SAVED · GPU NVIDIA H200 · 2026-11-22",
        "16 points of 2 kernels: 15 done, 1 will not fit. flash2 is 2.48× as fast as standard",
        "15 of 16 points were compared with float64 attention, all passed.",
        "Drift check: At the end N = 512 took",
        "3 warm-up runs, 10 repeats, cold cache, kernels in turns, seed 0",
        "580.159.04",
        "It needs 256.50 GiB",
        f"{PROGRAM} sweep --backend cuda",
    ):
        assert said in text


def test_every_figure_that_is_done_has_a_mark_in_the_plots_and_every_other_a_glyph(lesson: Session) -> None:
    page = report(lesson)
    classes = [(attributes.get("class") or "").split() for tag, attributes in page.tags if tag == "path"]
    done = [row for row in rows(lesson) if row.done]
    assert page.count("figure") == 4
    compared = {row.problem for row in done if row.kernel == "standard"}
    drawn = 3 * len(done) + sum(row.problem in compared for row in done)
    assert sum("mark" in one for one in classes) == drawn + 2  # and the legend's
    assert sum("glyph" in one for one in classes) == 4
    for row in done:
        assert row.times is not None
        assert f"{row.kernel}, N = " in page.text
        assert ms_text(row.times.median) in page.text


def test_an_audit_is_reported_with_its_calls_and_both_roads(tmp_path: Path) -> None:
    session = load(builders.recorded(tmp_path / "audited.flashscope"))
    page = report(session)
    audit = builders.audit()
    for said in (
        f"Audit of {audit.model}",
        "prefill: a step takes 10.2 ms",
        "model.layers.0,2.self_attn",
        "window 16",
        "eager: cannot be put in place: It has none.",
        "no kernel here takes dropout",
        "Only 4 of 32 layers were built",
    ):
        assert said in page.text, said


@pytest.mark.matrix
def test_a_report_of_480_points_has_a_section_for_every_curve() -> None:
    session = load(bundled_sessions()[1])
    page = report(session)
    assert page.count("figure") == 24
    assert page.count("details") == 6
    assert (
        "flash3 is 3.30× as fast as standard (geometric mean over 30 problems, 2.21× at least)" in page.text
    )


@pytest.mark.matrix
@pytest.mark.parametrize("place", [0, 1])
def test_the_command_of_a_report_measures_the_same_again(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    session = load(bundled_sessions()[place])
    asked: list[tuple[Any, Any]] = []
    monkeypatch.setattr(measuring, "run", lambda _, choices, preset, **__: asked.append((choices, preset)))
    (command,) = re.findall(rf"{PROGRAM} (sweep .*? --out sweep\.flashscope)", report(session).text)
    cli.main(shlex.split(command))
    device = session.machine.device("cuda")
    assert device is not None
    assert make_plan(asked[0][0], device, asked[0][1]) == session.plan


@pytest.mark.parametrize("text", [MARKUP, CONTROLS], ids=["markup", "controls"])
def test_no_text_of_a_file_becomes_markup_or_a_control_character(tmp_path: Path, text: str) -> None:
    session = load(hostile_file(tmp_path / "hostile.flashscope", text))
    page = session_page(session, of_session(session, "saved"))
    assert not HARMFUL.findall(page.decode())
    said = seen(page)
    assert HARMFUL.sub("\N{REPLACEMENT CHARACTER}", text) in said.text
    assert said.count("script") == said.count("img") == 0
    assert said.count("title") > 1


def test_a_report_of_a_resumed_session_tells_its_parts_and_warns_above_its_figures() -> None:
    text = report(builders.resumed()).text
    assert "Part 1: 1 point from 2026-01-02" in text
    assert "flash2 at N = 256, measured anew; timeout before: Too slow." in text
    warned = text.index("Warning: Part 2 differs from the parts before it")
    assert warned < text.index("points of 2 kernels")


@pytest.mark.matrix
def test_a_heading_says_heads_and_dtype_once() -> None:
    page = report(load(next(path for path in bundled_sessions() if path.stem == "h200-thin")))
    assert "d 64, no mask, 8 heads, batch 1, bfloat16" in page.text
    assert "8 heads, batch 1, 8 heads" not in page.text


def test_a_session_of_ranks_alone_has_its_sentence_and_its_table() -> None:
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    session = session_of([started, RanksReady(result=rank_results.result())])
    text = session_page(session, of_session(session, "saved")).decode()
    assert "zigzag reaches 91.7% of 2 times one GPU at N = 64k, forward" in text
    assert "limit of the mask" in text
    assert "Measure it again" not in text


def test_ranks_of_another_number_or_mask_have_a_sentence_of_their_own_and_the_model_a_table() -> None:
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    kept = [rank_results.result(one) for one in (rank_results.measured(), rank_results.on_four())]
    kept.append(rank_results.result(causal=False))
    session = session_of([started, *(RanksReady(result=one) for one in kept)])
    page = session_page(session, of_session(session, "saved")).decode()
    for told in ("forward, causal, 2 ranks", "forward, causal, 4 ranks", "forward, no mask, 2 ranks"):
        assert f"{told}, 16 heads, d = 128, bfloat16, peer: zigzag reaches" in page
    assert "measured less model" in page
    assert "−14.1 pp" in page


def test_the_plots_of_a_page_are_over_the_baseline_of_its_tables() -> None:
    made = shuffled()
    assert rows(made)[0].kernel != made.plan.kernels[0]
    text = report(made).text
    assert f"over {made.plan.kernels[0]}" in text
    assert f"over {rows(made)[0].kernel}" not in text

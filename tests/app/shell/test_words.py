"""The pure parts of the shell: texts, plans, settings, matching."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.quick import quick_plan
from flashscope.app.control.settings import RECENTS, Settings
from flashscope.app.look.fonts import load_fonts, ui_font
from flashscope.app.look.stylesheet import stylesheet
from flashscope.app.look.theme import DARK, LIGHT, THEMES, Theme
from flashscope.app.plots.style import seconds_tick
from flashscope.app.shell.start_up.application import version_warning
from flashscope.app.words.kinds import heading, narrow_text, words_of
from flashscope.app.words.matching import match
from flashscope.app.words.results.progress import device_state_text, elapsed_text, job_text, memory_text
from flashscope.app.words.results.provenance import Provenance, of_machine, of_session
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.model.time_left import seconds_left
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.events import PlanFinished, PlanStarted, PointFailed, PointStarted, Reading
from tests.app.fakes import CPU_MACHINE, GIB, GPU_MACHINE, SECOND, sweep


def session_after(points: int | None) -> Session:
    first, *rest = sweep(points=points)
    assert isinstance(first, PlanStarted)
    session = Session.begin(first)
    for event in rest:
        session.apply(event)
    return session


def test_no_time_is_promised_before_a_point_has_run() -> None:
    assert seconds_left(session_after(0)) is None


def test_the_time_left_shrinks_to_nothing() -> None:
    first, later, last = (seconds_left(session_after(points)) or 0 for points in (1, 3, None))
    assert first > later > last == 0


def test_the_time_left_counts_points_that_an_earlier_part_cancelled_as_whole_points() -> None:
    session = session_after(4)
    at = [state.ended_ns or 0 for state in session.points][3]
    session.apply(PointStarted(index=4, t_ns=at + SECOND))
    session.apply(PointFailed(index=4, t_ns=at + SECOND + 1, status="cancelled", reason="It was cancelled."))
    session.apply(PlanFinished(t_ns=at + SECOND + 1, outcome="cancelled"))
    session.apply(remaining_of(session).begin(CPU_MACHINE, None))
    assert session.points[4].status == "cancelled"
    assert len(session.to_come) == 4  # both that are repeated, both that are left
    assert (seconds_left(session) or 0) > 0.9 * 4


def test_there_is_no_job_between_points() -> None:
    assert job_text(session_after(None)) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (3661, "1:01:01"), (-1, "0:00")])
def test_durations_read_as_clocks(seconds: float, text: str) -> None:
    assert elapsed_text(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (0.5, "0.5 s"), (75, "1:15"), (-75, "-1:15")])
def test_ticks_of_time_read_as_clocks(seconds: float, text: str) -> None:
    assert seconds_tick(seconds) == text


def test_what_a_device_does_not_tell_is_left_out() -> None:
    assert device_state_text(Reading(t_ns=0)) == ""
    assert memory_text(Reading(t_ns=0), None) == ""
    told = Reading(t_ns=0, sm_clock_mhz=1980.0, temperature_c=61.0, throttle=("power cap",), memory_used=GIB)
    assert device_state_text(told) == "SM 1980 MHz · 61 °C · throttled: power cap"
    assert memory_text(told, 4 * GIB) == "1.00 GiB of 4.00 GiB"


def test_badges_name_what_of_a_source_is_on_show_and_what_is_a_model() -> None:
    assert replace(of_machine(None, "cpu"), of="trace of flash1").badge == "CPU · trace of flash1"
    assert Provenance("model", "cuda").badge == "MODEL"
    assert Provenance("model", "cuda", "NVIDIA H200", "2026-11-22").badge == (
        "MODEL · GPU NVIDIA H200 · 2026-11-22"
    )


def test_badges_name_gpu_cpu_and_recordings() -> None:
    assert of_machine(None, "cpu").badge == "CPU"
    assert of_machine(GPU_MACHINE, "cuda").badge == "LIVE GPU"
    session = session_after(None)
    assert of_session(session, "saved").badge == "SAVED · CPU Test CPU · 2026-11-21"
    assert of_session(session, "replay").badge == "REPLAY · CPU Test CPU · 2026-11-21"


@pytest.mark.parametrize(("machine", "backend"), [(None, "cpu"), (CPU_MACHINE, "cpu"), (GPU_MACHINE, "cuda")])
def test_the_quick_sweep_runs_on_the_best_device_within_its_time(machine: object, backend: str) -> None:
    plan = quick_plan(machine)  # type: ignore[arg-type] # None, or a Machine
    assert plan.backend == backend
    assert plan.protocol.time_cap_s * len(plan.points()) < 15
    assert {"standard", "flash2"} <= set(plan.kernels)


def test_settings_are_remembered(home: Path, tmp_path: Path) -> None:
    first = Settings()
    first.appearance, first.scale = "light", 150
    files = [tmp_path / f"{number}.flashscope" for number in range(RECENTS + 3)]
    for path in files:
        path.touch()
        first.add_recent(path)
    again = Settings()
    assert (again.appearance, again.scale) == ("light", 150)
    assert again.recents == files[::-1][:RECENTS]
    files[-1].unlink()
    assert files[-1] not in again.recents


def test_nonsense_in_the_settings_is_passed_over(home: Path) -> None:
    home.mkdir()
    (home / "settings.ini").write_text("[General]\nappearance=mauve\nscale=9000\nrecents=nowhere\n")
    found = Settings()
    assert (found.appearance, found.scale, found.recents) == ("system", 100, [])


@pytest.mark.parametrize(
    ("qt", "plotting", "warned"),
    [
        ("6.10.3", "0.14.0", False),
        ("6.11.1", "0.14.0", True),
        ("6.9.1", "0.14.0", True),
        ("6.10.3", "0.13.7", True),
    ],
)
def test_pairs_known_to_break_are_warned_of(qt: str, plotting: str, warned: bool) -> None:
    assert bool(version_warning(qt, plotting)) is warned


@given(st.text(max_size=8), st.text(max_size=30))
def test_a_match_means_that_the_letters_occur_in_order_or_the_words_in_any(query: str, text: str) -> None:
    letters = iter(text.casefold())
    occurs = all(any(letter == other for other in letters) for letter in query.casefold().replace(" ", ""))
    words_occur = all(word in text.casefold() for word in query.casefold().split())
    assert (match(query, text) is not None) is (occurs or words_occur)


def test_words_match_in_any_order_and_beside_the_text_letters_in_the_text_alone() -> None:
    assert match("table show", "Show the table") == match("show beside", "Show the table", "beside it")
    phrase, words, letters = (match(query, "Show the table") for query in ("the tab", "tab the", "shtab"))
    assert phrase is not None
    assert words is not None
    assert letters is not None
    assert phrase < words < letters
    assert match("bsd", "Show the table", "beside it") is None


def test_beginnings_of_words_match_better_than_their_middles() -> None:
    good, bad = match("st", "Show the table"), match("st", "xsxxt")
    assert good is not None
    assert bad is not None
    assert good < bad


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_text_stands_out_from_every_surface(theme: Theme) -> None:
    for surface in (theme.bg, theme.panel, theme.raised):
        assert contrast(theme.text, surface) >= 7
        for ink in (theme.dim, theme.error, theme.warn, theme.ok):
            assert contrast(ink, surface) >= 4.5, f"{ink} on {surface}"
    assert contrast(theme.on_accent, theme.accent) >= 4.5


def contrast(one: str, other: str) -> float:
    """Ratio of two colours' luminances (WCAG 2.1, success criterion 1.4.3)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_bundled_fonts_are_found(qapp: QApplication) -> None:
    assert {"Inter", "DejaVu Sans Mono"} <= set(load_fonts())
    assert ui_font().family() == "Inter"


def test_the_stylesheet_is_built_from_the_themes_colours_alone() -> None:
    for theme in (DARK, LIGHT):
        other = LIGHT if theme is DARK else DARK
        assert theme.panel in stylesheet(theme)
        assert other.bg not in stylesheet(theme)


def test_the_users_choice_of_a_theme_outlasts_the_systems(qapp: QApplication) -> None:
    appearance = appearance_of()
    appearance.choose("light")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert appearance.theme == LIGHT
    appearance.choose("dark")
    assert appearance.theme == DARK
    appearance.finish()  # a part of a window may still be there to be dressed anew


@pytest.mark.parametrize("value", [0.00213, 0.0215, 0.0999, 0.101, 3.7, 598.0])
def test_a_throughput_has_one_unit_and_the_same_digits_in_plots_and_tables(value: float) -> None:
    rate = next(quantity for quantity in QUANTITIES.values() if quantity.kind == "rate")
    assert words_of(rate).text(value) == f"{narrow_text(rate, value)} {heading(rate)}"
    assert float(narrow_text(rate, value)) == pytest.approx(value, rel=0.005)

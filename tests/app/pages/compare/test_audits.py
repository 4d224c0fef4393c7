"""Sessions that hold audits of models show these beside each other, too."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app.cli import main
from flashscope.app.pages.compare.audits import SESSION
from flashscope.app.pages.compare.tables import ALONE, AUDITS, PAIRS
from flashscope.kernels.workload.audit import AuditedCall
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.store import Recorder, load, sessions_dir
from flashscope.profiles.wire.events import AuditReady, Event, PlanStarted
from tests.app.pages.compare.conftest import Desk, press, recorded

BUNDLED = Path(__file__).parents[4] / "assets" / "sessions"
GEMMA, LLAMA = (BUNDLED / f"cpu-audit-{model}.flashscope" for model in ("gemma2", "llama3"))
SLOWER = "attention takes 3.00× as long in prefill, 3.00× in decode and 3.00× in training"


def audited(name: str, times: float) -> Path:
    """The recorded audit of Gemma-2 once more: its rounds alike, its attention so many times as long."""

    def steady(call: AuditedCall) -> AuditedCall:
        return replace(call, took_ms=tuple(times * (5 + 0.01 * k) for k in range(5)))

    def told(event: Event) -> Event:
        if isinstance(event, AuditReady):
            return AuditReady(audit=replace(event.audit, calls=tuple(map(steady, event.audit.calls))))
        return replace(event, session_id=name) if isinstance(event, PlanStarted) else event

    path = sessions_dir() / f"{name}.flashscope"
    recorder = Recorder(path)
    for event in RecordedEvents(load(GEMMA)).all_events():
        recorder.record(told(event))
    recorder.close()
    return path


def shown(desk: Desk) -> str:
    return desk.board.tables.audits.sentences.text()


def test_audits_of_one_model_come_to_the_front_with_a_line_for_each_kind_of_layers(desk: Desk) -> None:
    desk.choose(audited("base", 1), audited("other", 3))
    tables = desk.board.tables
    assert shown(desk) == f"gemma2: {SLOWER}; math ran in both."
    assert tables.tabs[AUDITS].text() == "Audits (15)"
    assert tables.tabs[AUDITS].isChecked()
    tables.audits.table.selectRow(0)
    heading, row = tables.audits.table.copied().splitlines()
    assert heading == "step\tlayers\tran\tbaseline\there\tratio\t95% interval\tverdict"
    assert row.startswith("prefill\tmodel.layers.0,2.self_attn\tmath\t5.02 ms, ")
    assert "\t3.000\t" in row
    assert row.endswith("\t▼ slower")


@pytest.mark.matrix
def test_the_command_line_says_the_same(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    base, other = audited("base", 1), audited("other", 3)
    desk.choose(base, other)
    assert main(["compare", str(base), str(other)]) == 0
    assert shown(desk) in " ".join(capsys.readouterr().out.split())


@pytest.mark.matrix
def test_of_several_sessions_each_line_and_sentence_says_whose_it_is(desk: Desk) -> None:
    desk.choose(audited("base", 1), audited("same", 1), audited("other", 3))
    table = desk.board.tables.audits.table
    assert not table.isColumnHidden(SESSION)
    same, other = (member.name for member in desk.board.findings.members[1:])  # type: ignore[union-attr]
    assert {table.list.row_at(row)[0] for row in range(table.list.rows_shown)} == {same, other}
    assert f"{other}: gemma2: {SLOWER}" in shown(desk)
    assert f"{same}: gemma2: no sure change in prefill, decode and training" in shown(desk)


def test_other_models_are_told_and_the_points_stay_in_front(desk: Desk) -> None:
    desk.choose(GEMMA, LLAMA)
    assert shown(desk) == "The models differ: gemma2 is audited in the baseline only, llama3 here only."
    assert [tab.text() for tab in desk.board.tables.tabs[1:]] == ["Without a partner (33)", "Audits (0)"]
    assert desk.board.tables.tabs[ALONE].isChecked()
    press(desk, "compare.audits")
    assert desk.board.tables.audits.table.isHidden()


def test_without_audits_there_is_no_tab_for_them(desk: Desk) -> None:
    tables = desk.board.tables
    desk.choose(recorded("base"), recorded("other", times=1.2))
    assert tables.tabs[AUDITS].isHidden()
    press(desk, "compare.audits")
    assert tables.tabs[PAIRS].isChecked()


@pytest.mark.matrix
def test_the_pairs_are_in_front_again_once_the_audits_are_gone(desk: Desk) -> None:
    desk.choose(audited("base", 1), audited("other", 3))
    assert desk.board.detail.isHidden(), "the samples of a pair give their room to the audits"
    press(desk, "compare.pairs")
    assert desk.board.tables.tabs[PAIRS].isChecked()
    assert not desk.board.detail.isHidden()
    press(desk, "compare.audits")
    assert desk.board.tables.tabs[AUDITS].isChecked()
    desk.choose(recorded("first"), recorded("second", times=1.2))
    assert desk.board.tables.tabs[PAIRS].isChecked()


@pytest.mark.matrix
def test_a_point_picked_in_a_plot_shows_its_samples_in_place_of_the_audits(desk: Desk) -> None:
    desk.choose(audited("base", 1), audited("other", 3))
    board = desk.board
    for plot in (board.ratios.lines, board.curves.plot):
        press(desk, "compare.audits")
        assert board.detail.isHidden()
        plot.picked.emit(1)
        assert not board.detail.isHidden()
        assert (board.place, board.tables.tabs[PAIRS].isChecked()) == (1, True)


def test_a_point_picked_in_a_plot_leaves_the_points_without_a_partner_in_front(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    press(desk, "compare.alone")
    desk.board.curves.plot.picked.emit(1)
    assert desk.board.tables.tabs[ALONE].isChecked()
    assert not desk.board.detail.isHidden()

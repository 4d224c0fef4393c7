"""Ratios in a terminal: no line is wider than it, and no kernel is left out."""

import pytest

from flashscope.app.commands.printed.against import PROBLEM, print_against
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import preset_plan
from tests.app.commands.terminal import pretend_terminal, uncoloured
from tests.profiles.sessions import script, session_of

SESSION = session_of(script(preset_plan("peers", "cuda", Protocol(drift_check=False))))


def headings(text: str) -> list[list[str]]:
    return [line.split()[len(PROBLEM) :] for line in text.splitlines() if line.startswith("d ")]


@pytest.mark.matrix
@pytest.mark.parametrize("columns", [80, 132])
def test_a_narrow_terminal_gets_several_tables_of_all_kernels(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_against(SESSION, ("flash2",))
    (whole,) = headings(capsys.readouterr().out)  # a pipe gets one table
    pretend_terminal(monkeypatch, columns)
    print_against(SESSION, ("flash2",))
    printed = uncoloured(capsys.readouterr().out)
    tables = headings(printed)
    assert len(tables) > 1
    assert [kernel for table in tables for kernel in table] == whole
    in_tables = [line for line in printed.splitlines() if line.startswith(("d ", "64 ", "128 ", "worst"))]
    assert max(map(len, in_tables)) <= columns


def test_the_best_ratio_of_a_problem_stands_out_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend_terminal(monkeypatch, 400)
    print_against(SESSION, ("flash2",))
    problems = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("64 ", "128 "))]
    assert problems
    assert all("\x1b[1;32m" in line for line in problems)


def test_without_the_peer_no_ratio_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    plan = preset_plan("thin", "cuda", Protocol(drift_check=False), kernels=("flash2",))
    print_against(session_of(script(plan)), ("torch-flash",))
    printed = capsys.readouterr().out
    assert printed.startswith("TFLOP/s, without ratios: torch-flash was not measured")
    assert "geometric mean" not in printed
    assert "worst" not in printed

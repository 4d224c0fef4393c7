"""What a window that is played with at random must not reach: a person, the system's dialogs, long work."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QFileDialog, QMessageBox

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.control.controller import Controller
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan

MOST_CELLS = 1 << 16  # queries x keys of a problem that is measured in a moment
Run = Callable[[Controller, Plan, int], bool]
TEXTS = ("", "a name", "line\nline", "<b>bold</b>", "ä" * 300)


def files_in(folder: Path) -> list[Path]:
    """What a user may open: recordings, one that is none, and one that is not there."""
    broken = folder / "broken.flashscope"
    broken.write_bytes(b"no session")
    return [*bundled_sessions(), broken, folder / "absent.flashscope"]


def closed_in(patch: pytest.MonkeyPatch, dice: random.Random, folder: Path) -> None:
    """Let every question be answered at random, in this folder, and every sweep be a short one."""
    files = files_in(folder)

    def saved(*_arguments: object, **_options: object) -> tuple[str, str]:
        return dice.choice(["", str(folder / f"saved-{dice.randrange(5)}")]), ""

    def asked(*_arguments: object, **_options: object) -> tuple[str, bool]:
        return dice.choice(TEXTS), dice.random() < 0.5

    patch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(dice.choice(files)), ""))
    patch.setattr(
        QFileDialog, "getOpenFileNames", lambda *_: ([str(dice.choice(files)) for _ in range(3)], "")
    )
    patch.setattr(QFileDialog, "getSaveFileName", saved)
    patch.setattr(QFileDialog, "getExistingDirectory", lambda *_: dice.choice(["", str(folder)]))
    patch.setattr(LineDialog, "ask", asked)
    patch.setattr(NoteDialog, "ask", asked)
    patch.setattr(QMessageBox, "exec", lambda _box: 0)
    patch.setattr(Controller, "run", _shortened(Controller.run))


def _shortened(run: Run) -> Run:
    def run_short(controller: Controller, plan: Plan, runs: int = 1) -> bool:
        problems = tuple(dict.fromkeys(map(_small, plan.problems[:3])))
        protocol = replace(plan.protocol, warmup=0, repeats=3, time_cap_s=0.05, sustain_s=0.0)
        return run(controller, replace(plan, problems=problems, protocol=protocol), min(runs, 2))

    return run_short


def _small(problem: Problem) -> Problem:
    """The problem itself, if it is small, or a small one in its place."""
    if problem.seqlen_q * problem.seqlen_k * problem.batch * problem.heads <= MOST_CELLS:
        return problem
    return Problem(seqlen_q=64, seqlen_k=64, head_dim=16, dtype="float32")

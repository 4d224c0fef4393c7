"""`selfcheck` asks other instruments where it has measured, and `--out` keeps what Nsight Compute says."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from flashscope.app.commands.selfcheck import Arbiters, StoppedError, problems_for, record_again
from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.figures.series import extract
from flashscope.app.words.kinds import in_full
from flashscope.kernels.workload.device import Device
from flashscope.profiles.results.formats.export import to_json
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import SessionFileError, load
from flashscope.profiles.wire.arbiters import ArbiterAsked, ArbiterEnded
from flashscope.profiles.wire.lines import LineKind
from flashscope.profiles.wire.measurement import Figure

COUNTED = {
    "dram_bytes": Figure(value=4.5e9, low=4.4e9, high=4.6e9, source="Nsight Compute, 3 runs"),
    "l2_bytes": Figure(value=9e9, source="Nsight Compute, 3 runs"),
}


@pytest.fixture
def recorded() -> Session:
    """Nsight Compute was not asked about it."""
    return load(next(path for path in bundled_sessions() if path.stem == "h200-standard-flash2"))


@pytest.fixture
def kept(recorded: Session, tmp_path: Path) -> Session:
    record_again(recorded, {0: COUNTED, 1: "ncu did not answer"}, tmp_path / "kept.flashscope")
    return load(tmp_path / "kept.flashscope")


def test_a_file_has_all_that_was_measured_and_the_third_tier(recorded: Session, kept: Session) -> None:
    assert kept.plan == recorded.plan
    assert (kept.outcome, kept.altered) == (recorded.outcome, "")
    assert [len(state.measurement.samples) for state in kept.points if state.measurement] == [
        len(state.measurement.samples) for state in recorded.points if state.measurement
    ]
    first, second, third, *_ = (point["traffic"]["ncu"] for point in json.loads(to_json(kept))["points"])
    assert (first["dram_bytes"]["value"], first["dram_bytes"]["source"]) == (4.5e9, "Nsight Compute, 3 runs")
    assert first["l2_bytes"]["value"] == 9e9
    assert second["dram_bytes"]["missing"] == "ncu did not answer"
    assert third["dram_bytes"]["missing"] == "Nsight Compute was not asked: `selfcheck --out FILE` does"


def test_a_plot_rings_what_the_other_instrument_says(kept: Session) -> None:
    quantity = QUANTITIES["dram_bytes"]
    by_kernel = {one.kernel: one for one in extract(rows(kept), quantity)}
    one = by_kernel[rows(kept)[0].kernel]
    assert one.at(512, one.beside) == 4.5e9
    assert one.at(1024, one.beside) is None
    assert "Ringed: Nsight Compute" in in_full(quantity)
    assert "Ringed" not in in_full(QUANTITIES["runtime"])


def test_no_file_is_written_over(recorded: Session, tmp_path: Path) -> None:
    record_again(recorded, {}, tmp_path / "kept.flashscope")
    with pytest.raises(SessionFileError):
        record_again(recorded, {}, tmp_path / "kept.flashscope")


def test_other_lengths_may_be_asked_for() -> None:
    gpu = Device(backend="cuda", name="A GPU", memory_bytes=1 << 37, compute_capability=(9, 0))
    assert [one.seqlen_q for one in problems_for(gpu)] == [4096, 8192]
    asked = problems_for(gpu, (1024, 2048))
    assert [(one.seqlen_q, one.head_dim) for one in asked] == [(1024, 128), (2048, 128)]


class AnsweringEngine:
    """Answers what instruments are asked with these, one after the other; None: a signal comes instead."""

    def __init__(self, *answers: ArbiterEnded | None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._answers = list(answers)

    def lines(self, kind: LineKind, asked: Sequence[ArbiterAsked], told: Callable[[Any], None]) -> Mock:
        (one,) = asked
        self.asked.append((one.by, one.kernel))
        if (answer := self._answers.pop(0)) is None:
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            told(answer)
        return Mock(kind=kind)


@pytest.fixture
def handlers() -> Iterator[None]:
    """Those of this process stay."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_instruments_answer_for_each_point_until_they_are_lost_and_no_longer(recorded: Session) -> None:
    lost = "GPU 0 at tls://lab:8786 is lost: nothing listens there."
    engine = AnsweringEngine(
        ArbiterEnded(figures=COUNTED), ArbiterEnded(missing="no"), ArbiterEnded(reason=lost)
    )
    arbiters = Arbiters(engine)  # type: ignore[arg-type]  # it has of an engine what is asked of it
    first, second, *_ = rows(recorded)
    assert arbiters.count(first) == COUNTED
    assert arbiters.time(first) == "no"
    assert not arbiters.cut_off
    assert arbiters.count(second) == lost
    assert arbiters.time(second) == lost
    assert engine.asked == [("ncu", first.kernel), ("torch", first.kernel), ("ncu", second.kernel)]
    assert arbiters.cut_off == lost
    assert arbiters.counted == {first.point.index: COUNTED, second.point.index: lost}


@pytest.mark.usefixtures("handlers")
def test_a_signal_stops_what_an_instrument_is_asked(recorded: Session) -> None:
    arbiters = Arbiters(AnsweringEngine(None))  # type: ignore[arg-type]  # as above
    with pytest.raises(StoppedError):
        arbiters.count(rows(recorded)[0])

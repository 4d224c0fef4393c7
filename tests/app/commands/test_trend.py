"""How a kernel developed over the sessions of a folder."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app.cli import main
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.store import Recorder, change
from flashscope.profiles.wire.events import Event, PlanStarted, PointFailed, PointMeasured
from tests.app.fakes import CPU, CPU_MACHINE, PLAN, sweep


def recorded(
    path: Path,
    day: int,
    slower: float = 1.0,
    device: str = "Test CPU",
    *,
    uuid: str | None = None,
    hour: str = "10:00:00+00:00",
    plan: Plan = PLAN,
) -> Path:
    recorder = Recorder(path)
    for event in sweep(plan):
        recorder.record(
            moved(event, f"2026-03-{day:02}T{hour}", slower, replace(CPU, name=device, uuid=uuid))
        )
    recorder.close()
    return path


def moved(event: Event, started_at: str, slower: float, device: Device) -> Event:
    if isinstance(event, PlanStarted):
        machine = replace(CPU_MACHINE, devices=(device,))
        return replace(event, started_at=started_at, machine=machine)
    if isinstance(event, PointMeasured):
        return replace(event, samples=tuple(replace(s, ms=s.ms * slower) for s in event.samples))
    return event


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "months"
    change(recorded(made / "b.flashscope", 20, 2.0), "name", "after the update")
    recorded(made / "a.flashscope", 3)
    recorded(made / "c.flashscope", 7, device="Another CPU")
    return made


def document(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> dict:  # type: ignore[type-arg]
    assert main(["trend", *arguments, "--json"]) == 0
    return dict(json.loads(capfdbinary.readouterr().out))


ASKED = ("--kernel", "flash2", "--seqlen", "512")


def test_each_machine_has_a_curve_by_date_with_quartiles(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    found = document(capfdbinary, str(folder), *ASKED)
    assert (found["quantity"], found["unit"]) == ("runtime", "ms")
    curves = {curve["machine"]: curve for curve in found["curves"]}
    assert set(curves) == {"Test CPU", "Another CPU"}
    first, second = curves["Test CPU"]["sessions"]
    assert (Path(first["file"]).stem, second["name"]) == ("a", "after the update")
    assert second["figure"]["value"] == pytest.approx(2 * first["figure"]["value"])
    assert first["figure"]["low"] < first["figure"]["value"] < first["figure"]["high"]


def test_a_relative_quantity_is_beside_the_baseline_of_each_session(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    found = document(capfdbinary, str(folder), *ASKED, "--quantity", "speed-up")
    values = [s["figure"]["value"] for curve in found["curves"] for s in curve["sessions"]]
    assert values == [pytest.approx(3.0)] * 3


def test_a_table_names_sessions_and_what_has_no_figure_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(folder / "d.flashscope")
    *events, ending = sweep()
    lost = next(i for i, event in enumerate(events) if isinstance(event, PointMeasured) and event.index == 3)
    at = events[lost]
    assert isinstance(at, PointMeasured)
    events[lost] = PointFailed(index=3, t_ns=at.t_ns, status="oom", reason="Out of memory.")
    for event in [*events, ending]:
        recorder.record(event)
    recorder.close()
    (folder / "bad.flashscope").write_bytes(b"no session")
    assert main(["trend", str(folder), *ASKED]) == 0
    told = capsys.readouterr()
    assert "after the update" in told.out
    assert "Out of memory." in told.out
    assert "bad.flashscope is not a Flashscope session" in told.err


def test_a_kernel_that_no_session_has_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trend", str(folder), "--kernel", "flash3", "--seqlen", "512"]) == 2
    assert "no session in" in capsys.readouterr().err


def test_two_cards_of_one_model_are_two_machines(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for day, uuid in enumerate(("GPU-11111111-aaaa", "GPU-22222222-bbbb", "GPU-11111111-aaaa"), 1):
        recorded(folder / f"h{day}.flashscope", day, device="H200", uuid=uuid)
    curves = [one for one in document(capfdbinary, str(folder), *ASKED)["curves"] if one["machine"] == "H200"]
    of_card = {one["card"]: [Path(session["file"]).stem for session in one["sessions"]] for one in curves}
    assert of_card == {"GPU-11111111-aaaa": ["h1", "h3"], "GPU-22222222-bbbb": ["h2"]}


def test_a_curve_says_whose_card_it_is_or_that_it_goes_by_the_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(folder / "h.flashscope", 5, device="Another CPU", uuid="GPU-11111111-aaaa")
    assert main(["trend", str(folder), *ASKED]) == 0
    told = capsys.readouterr().out
    assert "Another CPU, GPU-11111111, d 64" in told
    assert "Another CPU, by model, d 64" in told


def test_other_dtypes_and_heads_are_other_problems(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (curve, *_) = document(capfdbinary, str(folder), *ASKED)["curves"]
    assert curve["problem"] == "d 64, no mask, 2 heads, batch 1, float32"


def test_curves_run_on_in_time_whatever_the_zone_of_a_session(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    recorded(tmp_path / "later.flashscope", 3, hour="10:00:00-05:00")
    recorded(tmp_path / "sooner.flashscope", 3, hour="12:00:00+02:00")
    (curve,) = document(capfdbinary, str(tmp_path), *ASKED)["curves"]
    assert [Path(one["file"]).stem for one in curve["sessions"]] == ["sooner", "later"]


def test_what_was_sampled_otherwise_has_a_curve_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = replace(PLAN, protocol=replace(PLAN.protocol, interleave=False))
    recorded(folder / "d.flashscope", 9, plan=alone)
    assert main(["trend", str(folder), *ASKED]) == 0
    assert "cold cache, one kernel after the other" in capsys.readouterr().out

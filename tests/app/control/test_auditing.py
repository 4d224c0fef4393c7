"""An audit that the window asks for: its process, then the sweep that replays its calls."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.auditing import BEING_AUDITED, NO_REPLAY, PUT_AWAY, Auditing
from flashscope.app.control.endings import REPLAYING, SWEEPING
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.audits import AuditAnswer, AuditAsked, AuditEnded, AuditProgress
from flashscope.profiles.wire.events import AuditReady
from tests.app.fakes import CPU_MACHINE
from tests.profiles.store import builders

DEVICE = CPU_MACHINE.device("cpu")
assert DEVICE is not None
ASKED = AuditAsked(model="a-model", device=DEVICE, dtype="float32")
AUDIT = next(one.audit for one in builders.whole_sweep() if isinstance(one, AuditReady))


class FakeProcess:
    """Says what a test has it say."""

    def __init__(self, asked: Sequence[AuditAsked], told: Callable[[AuditAnswer], None]) -> None:
        self.asked, self.say, self.ended = asked, told, False

    def end(self) -> None:
        self.ended = True


class FakeSweeps:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.why_no_sweep = self.refusal = ""
        self.replayed: list[tuple[Plan, ModelAudit]] = []
        self.reasons: list[str] = []

    def replay_calls(self, plan: Plan, audit: ModelAudit) -> str:
        if not self.refusal:
            self.replayed.append((plan, audit))
            self.why_no_sweep = SWEEPING
        return self.refusal

    def occupy(self, owner: object, reason: str) -> None:
        del owner
        self.reasons.append(reason)


@pytest.fixture
def sweeps() -> FakeSweeps:
    return FakeSweeps()


@pytest.fixture
def auditing(qapp: object, sweeps: FakeSweeps) -> Auditing:
    made = Auditing(FakeProcess, sweeps)
    made.ask(ASKED)
    return made


def process(auditing: Auditing) -> FakeProcess:
    assert isinstance(auditing._process, FakeProcess)
    return auditing._process


def test_no_sweep_starts_while_a_model_runs_and_how_far_it_is_is_told(
    auditing: Auditing, sweeps: FakeSweeps, qtbot: QtBot
) -> None:
    assert sweeps.reasons == [BEING_AUDITED]
    with qtbot.waitSignal(auditing.progressed) as told:
        process(auditing).say(AuditProgress(text="prefill", done=1, total=4))
    assert told.args == ["prefill", 1, 4]
    made = process(auditing)
    auditing.cancel()
    assert made.ended
    assert sweeps.reasons == [BEING_AUDITED, ""]


def test_at_its_end_its_calls_are_replayed_by_a_sweep_whose_session_has_it(
    auditing: Auditing, sweeps: FakeSweeps, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(auditing.changed):
        process(auditing).say(AuditEnded(audit=AUDIT))
    ((plan, audit),) = sweeps.replayed
    assert audit == AUDIT
    assert plan.backend == "cpu"
    assert not plan.protocol.cold
    assert sweeps.reasons[-1] == ""


@pytest.mark.parametrize("why", [SWEEPING, REPLAYING, "Claims are being tested."])
def test_what_came_first_is_waited_for(
    auditing: Auditing, sweeps: FakeSweeps, qtbot: QtBot, why: str
) -> None:
    sweeps.why_no_sweep = why
    with qtbot.waitSignal(auditing.changed):
        process(auditing).say(AuditEnded(audit=AUDIT))
    auditing.follow()
    assert not sweeps.replayed
    assert auditing.waits_for == why
    sweeps.why_no_sweep = ""
    auditing.follow()
    auditing.follow()
    assert len(sweeps.replayed) == 1
    assert not auditing.waits_for


def test_a_replay_that_is_refused_waits_on_until_it_is_cancelled(
    auditing: Auditing, sweeps: FakeSweeps, qtbot: QtBot
) -> None:
    sweeps.refusal = "The engine is busy."
    with qtbot.waitSignal(auditing.changed):
        process(auditing).say(AuditEnded(audit=AUDIT))
    assert auditing.waits_for == sweeps.refusal
    auditing.cancel()
    sweeps.refusal = ""
    auditing.follow()
    assert not auditing.waits_for
    assert not sweeps.replayed


@pytest.mark.parametrize("waits", [True, False])
def test_an_audit_that_is_put_away_with_its_device_says_so_once(
    auditing: Auditing, sweeps: FakeSweeps, qtbot: QtBot, *, waits: bool
) -> None:
    told = list[tuple[str, str]]()
    auditing.failed.connect(lambda *words: told.append(words))
    if waits:
        sweeps.why_no_sweep = SWEEPING
        with qtbot.waitSignal(auditing.changed):
            process(auditing).say(AuditEnded(audit=AUDIT))
    auditing.put_away()
    assert auditing.asked is None
    assert not auditing.waits_for
    auditing.put_away()
    assert told == [(PUT_AWAY, "")]


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (AuditEnded(reason="There is no such model.", detail="more"), "There is no such model."),
        (AuditEnded(audit=replace(AUDIT, calls=())), NO_REPLAY),
    ],
    ids=["no model", "no call"],
)
def test_where_nothing_can_be_replayed_the_reason_is_told(
    auditing: Auditing, sweeps: FakeSweeps, qtbot: QtBot, ended: AuditEnded, reason: str
) -> None:
    with qtbot.waitSignal(auditing.failed) as told:
        process(auditing).say(ended)
    assert told.args[0] == reason
    assert not sweeps.replayed
    assert sweeps.reasons[-1] == ""

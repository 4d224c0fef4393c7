"""`claims`: put every checkable claim of the documents to the test, and print what came of each.

Exit codes: 0 whatever the claims turn out to be; 128 plus the signal's number after Ctrl-C or SIGTERM.
"""

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.hosts import Hosts, engine_of
from flashscope.app.commands.local import Events, driver_of, find_machine
from flashscope.app.commands.messages import say, say_json, tell
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.words.learn.claims import (
    HEADINGS,
    Found,
    claims_summary,
    count_rows,
    verdict_text,
    where_text,
)
from flashscope.kernels.workload.device import Device
from flashscope.profiles.claims import CLAIMS, Lab
from flashscope.profiles.claims.assess import assess
from flashscope.profiles.claims.bench import ClaimBench
from flashscope.profiles.claims.document import claims_document

EVERY = 25  # claims between two lines of progress


def run(*, as_json: bool, connect: str | None = None) -> int:
    """Test them one after the other, on a GPU or by the bundled recordings.

    Args:
        as_json: Print one JSON document.
        connect: The connection file or address of the host whose GPU it is; None: the one here.
    """
    with engine_of(Hosts.one(connect)) as make_engine:
        with driver_of(make_engine) as (driver, events):
            machine = find_machine(driver, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        device, stop = machine.device("cuda"), StopSignal(events)
        findings = _tested(ClaimBench(device, stop, make_engine) if device else None, stop)
    if stop.number is not None:
        return SIGNALLED + stop.number
    if as_json:
        say_json(claims_document(findings, device.name if device else None))
    else:
        _print(findings, device)
    return 0


class StopSignal:
    """Whether a signal has come.

    Attributes:
        number: Its number, None before.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.number: int | None = None

    def __call__(self) -> bool:
        """Look for one."""
        while not self._events.empty():
            event = self._events.get()
            if isinstance(event, int):
                self.number = event
        return self.number is not None


def _tested(bench: ClaimBench | None, stop: StopSignal) -> list[Found]:
    lab = Lab(BUNDLED, bench, stop)
    findings: list[Found] = []
    for claim in CLAIMS:
        if stop():
            break
        findings.append((claim, assess(claim, lab)))
        if len(findings) % EVERY == 0:
            tell(f"{len(findings)} of {len(CLAIMS)} claims")
    return findings


def _print(findings: list[Found], device: Device | None) -> None:
    """Each claim with its verdict, what was measured and from where; then how many of each."""
    for claim, finding in findings:
        say(f"{verdict_text(finding.verdict)}: {claim.says} ({claim.place})")
        say(f"    {finding.measured}")
        say(f"    {claim.trial.words} [{finding.source}]")
    say("")
    print_table(HEADINGS, count_rows(findings))
    say("")
    say(f"{claims_summary(findings)} {where_text(device)}")

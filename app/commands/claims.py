"""`claims`: put every checkable claim of the documents to the test, and print what came of each.

Exit codes: 0 whatever the claims turn out to be; 128 plus the signal's number after Ctrl-C or SIGTERM.
"""

from app.commands.exit_codes import SIGNALLED
from app.commands.local import Events, find_machine, local_engine
from app.commands.messages import say, say_json, tell
from app.commands.printing import print_table
from app.control.bundled import BUNDLED
from app.words.claims import HEADINGS, Found, count_rows, summary, verdict_text, where_text
from kernels.device import Device
from profiles.claims import CLAIMS, Lab
from profiles.claims.assess import assess
from profiles.claims.bench import Bench
from profiles.claims.document import document

EVERY = 25  # claims between two lines of progress


def run(*, as_json: bool) -> int:
    """Test them one after the other, on the GPU here or by the bundled recordings."""
    with local_engine() as (engine, events):
        machine = find_machine(engine, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    device, stop = machine.device("cuda"), Stop(events)
    findings = _tested(device, stop)
    if stop.number is not None:
        return SIGNALLED + stop.number
    if as_json:
        say_json(document(findings, device.name if device else None))
    else:
        _print(findings, device)
    return 0


class Stop:
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


def _tested(device: Device | None, stop: Stop) -> list[Found]:
    lab = Lab(BUNDLED, Bench(device, stop) if device else None, stop)
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
    say(f"{summary(findings)} {where_text(device)}")

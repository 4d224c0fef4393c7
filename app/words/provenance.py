"""Where the figures on show come from, as the badge and every export say it."""

from typing import Literal

import msgspec

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.session import Session

ProvenanceKind = Literal["live", "saved", "replay"]
LABELS: dict[Backend, str] = {"cuda": "GPU", "cpu": "CPU"}


class Provenance(msgspec.Struct, frozen=True):
    """Where the figures on show come from.

    Attributes:
        kind: Measured now on this machine, read from a file, or a file played again.
        backend: Where the kernels run or ran.
        device: The device's name, empty when unknown.
        date: The day of the measurement as YYYY-MM-DD, empty when it is now.
    """

    kind: ProvenanceKind
    backend: Backend
    device: str = ""
    date: str = ""

    @property
    def badge(self) -> str:
        """The badge: `LIVE GPU`, `CPU`, `SAVED · GPU NVIDIA H200 · 2026-11-21`, `REPLAY · ...`."""
        if self.kind == "live":
            return "LIVE GPU" if self.backend == "cuda" else "CPU"
        where = f"{LABELS[self.backend]} {self.device}".rstrip()
        return " · ".join(part for part in (self.kind.upper(), where, self.date) if part)


def of_session(session: Session, kind: ProvenanceKind) -> Provenance:
    """Provenance of a session on show."""
    device = session.machine.device(session.backend)
    date = "" if kind == "live" else session.started_at[:10]
    return Provenance(kind, session.backend, device.name if device else "", date)


def of_machine(machine: Machine | None, backend: Backend) -> Provenance:
    """Provenance of measurements that this machine would make now."""
    device = machine.device(backend) if machine else None
    return Provenance("live", backend, device.name if device else "")

"""Where the figures on show come from, as the badge and every export say it."""

from typing import Literal

import msgspec

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.session import Session

ProvenanceKind = Literal["live", "saved", "replay", "model", "compiled"]
LABELS: dict[Backend, str] = {"cuda": "GPU", "cpu": "CPU"}


class Provenance(msgspec.Struct, frozen=True):
    """Where the figures on show come from.

    Attributes:
        kind: Measured now on this machine, read from a file, a file played again, computed by formulas,
            with what a session says of times where there is one, or compiled here and not run.
        backend: Where the kernels run or ran, or what they are compiled for.
        device: The device's name, empty when unknown.
        date: The day of the measurement as YYYY-MM-DD, empty when it is now.
        host: The machine's name where it was reached from another one; empty: it is not known, or this one.
        of: What is on show of it, where that is not all, as `trace of flash1`; may be empty.
        count: How many such devices measure or measured, each its share.
    """

    kind: ProvenanceKind
    backend: Backend
    device: str = ""
    date: str = ""
    of: str = ""
    host: str = ""
    count: int = 1

    @property
    def badge(self) -> str:
        """The badge: `LIVE GPU`, `CPU`, `SAVED · GPU NVIDIA H200 · 2026-11-21`, `REPLAY · ...`, `MODEL`."""
        return " · ".join(part for part in (*self._source, self.of) if part)

    @property
    def _source(self) -> tuple[str, ...]:
        device = self.device if self.count == 1 else f"{self.count} × {self.device}"
        if self.kind == "live":
            here = "LIVE GPU" if self.backend == "cuda" else "CPU"
            named = self.host or self.count > 1
            return (f"{here} {device}".rstrip(), self.host) if named else (here,)
        if self.kind == "model" and not self.device:
            return ("MODEL",)
        return self.kind.upper(), f"{LABELS[self.backend]} {device}".rstrip(), self.host, self.date


def of_session(session: Session, kind: ProvenanceKind) -> Provenance:
    """Provenance of a session on show."""
    device = session.machine.device(session.backend)
    date = "" if kind == "live" else session.started_at[:10]
    parts = [session.machines(part) for part in range(1, len(session.resumed) + 2)]
    hosts = dict.fromkeys(machine.host for part in parts for machine in part)
    return Provenance(
        kind,
        session.backend,
        device.name if device else "",
        date,
        host=" and ".join(filter(None, hosts)),
        count=max(map(len, parts)),
    )


def of_kept(session: Provenance, backend: Backend, device: str) -> Provenance:
    """Provenance of a trace or timeline in a session, which may have been kept there on another device."""
    if (backend, device) == (session.backend, session.device):
        return session
    return Provenance("saved", backend, device)


def of_machine(machine: Machine | None, backend: Backend, count: int = 1, host: str = "") -> Provenance:
    """Provenance of measurements that this machine, or so many equal devices of these, would make now."""
    if machine is None:
        return Provenance("live", backend)
    device = machine.device(backend)
    name = device.name if device else ""
    return Provenance("live", backend, name, host=host or machine.host, count=count)

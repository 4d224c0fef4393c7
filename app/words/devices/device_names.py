"""The devices of a session by name."""

from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import bytes_text
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.session import Session


def device_names(session: Session) -> list[str]:
    """Number, host and name of each device; one whose place another has taken in a later part after it."""
    parts = [session.machines(part) for part in range(1, len(session.resumed) + 2)]
    named = [
        dict.fromkeys(_name(part[number], session) for part in parts if number < len(part))
        for number in range(max(map(len, parts)))
    ]
    return [f"{number} · {', then '.join(names)}" for number, names in enumerate(named)]


def devices_text(session: Session) -> str:
    """How many devices share what runs, of which kind and host, `2 × H100 of lab`; empty: one has it."""
    machines = session.machines(len(session.resumed) + 1)
    if len(machines) == 1:
        return ""
    first = machines[0].device(session.backend)
    hosts = " and ".join(filter(None, dict.fromkeys(machine.host for machine in machines)))
    kind = cut_short(first.name, MOST_OF_NAME) if first else session.backend
    return f"{len(machines)} × {kind}" + (f" of {hosts}" if hosts else "")


def device_details(session: Session, number: int) -> str:
    """The same with memory, UUID and driver, a line for each that had this number."""
    parts = [session.machines(part) for part in range(1, len(session.resumed) + 2)]
    return "\n".join(dict.fromkeys(_detail(part[number], session) for part in parts if number < len(part)))


def _name(machine: Machine, session: Session) -> str:
    device = machine.device(session.backend)
    told = filter(None, (machine.host, device.name if device else session.backend))
    return " · ".join(cut_short(one, MOST_OF_NAME) for one in told)


def _detail(machine: Machine, session: Session) -> str:
    device = machine.device(session.backend)
    memory = bytes_text(device.memory_bytes) if device else ""
    uuid = cut_short(device.uuid or "", MOST_OF_NAME) if device else ""
    driver = f"driver {cut_short(machine.driver, MOST_OF_NAME)}" if machine.driver else ""
    return ", ".join(filter(None, (_name(machine, session), memory, uuid, driver)))

"""One row a point: what tables, plots, readouts and exports show of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.limits import why_impossible
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.model.trust import Trust, trust_of
from flashscope.profiles.results.statistics.stats import Quartiles, quartiles, quartiles_of
from flashscope.profiles.wire.ceilings import Ceilings
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.measurement import Figure, Measurement, Sample

# NVIDIA's devices with stacked memory, from Pascal to Blackwell; all others have GDDR or LPDDR.
WITH_HBM = re.compile(r"\b(P100|V100|TITAN V|A100|A30|A800|H20|H[128]00|G[HB][23]00|B[123]00)\b")

# In the order of the table's columns, to which the next one is added.
ASKED = (
    *("deterministic", "query_lengths", "key_lengths", "page_size"),
    *("softcap", "sinks", "alibi", "head_dim_v"),
)


@dataclass(frozen=True, eq=False)
class PointRow:
    """One point as it stands.

    Attributes:
        point: The cell of the plan.
        backend: Where it runs.
        status: Where it stands; one that is done is *impossible* where no device like its own can be so fast.
        reason: Why it is not `done`; empty otherwise.
        predicted_bytes: Footprint predicted before the launch.
        sampling_ns: When its sampling began, the same for points that took turns; None before.
        measurement: What it yielded, None before its check.
        altered: Whether its rows in the file are other than those written; None: the file does not tell.
        part: In which part of its session it was started, from 1; None before.
        device: On which of that part's devices, from 0; None before.
        cache_bytes: Size of the last cache before its device's memory, None where that is not known.
        memory: What that memory is called.
    """

    point: Point
    backend: Backend
    status: PointStatus
    reason: str
    predicted_bytes: int
    sampling_ns: int | None
    measurement: Measurement | None
    altered: bool | None = False
    part: int | None = None
    device: int | None = None
    cache_bytes: int | None = None
    memory: str = "memory"

    @classmethod
    def of(cls, backend: Backend, state: PointState, session: Session | None = None) -> "PointRow":
        """The row of a point as it stands now; what its device is and reaches comes from its session."""
        status, reason = _standing(backend, state, session)
        return cls(
            point=state.point,
            backend=backend,
            status=status,
            reason=reason,
            predicted_bytes=state.predicted_bytes,
            sampling_ns=state.sampling_ns,
            measurement=state.measurement,
            altered=state.altered,
            part=state.part,
            device=None if state.part is None else state.device,
            cache_bytes=_cache_bytes(session, state) if session else None,
            memory=memory_name(session) if session else "memory",
        )

    def with_measurement(self, measurement: Measurement) -> "PointRow":
        """The same point with another measurement."""
        return replace(self, measurement=measurement)

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.point.kernel

    @property
    def problem(self) -> Problem:
        """What it computes."""
        return self.point.problem

    @property
    def seqlen(self) -> int:
        """N, see Problem."""
        return self.point.problem.seqlen

    @property
    def done(self) -> bool:
        """Whether its figures count: a point that is wrong, impossible or failed is never compared."""
        return self.status == "done"

    @property
    def note(self) -> str:
        """What kernel and engine have to say of it."""
        return self.measurement.note if self.measurement else ""

    @property
    def block_mask(self) -> str:
        """The block mask in words, empty without one."""
        mask = self.problem.block_mask
        return mask.words if mask else ""

    @property
    def asked(self) -> dict[str, Any]:
        """What its problem asks for beside shape, dtype, masks and pass, by the keys that documents have."""
        return {name: getattr(self.problem, name) for name in ASKED}

    @cached_property
    def accepted(self) -> tuple[Sample, ...]:
        """The samples that count, in order."""
        return tuple(s for s in self.measurement.samples if s.rejected is None) if self.measurement else ()

    @cached_property
    def times(self) -> Quartiles | None:
        """Quartiles of the accepted samples in ms, None when there is none."""
        return quartiles(self.measurement.samples) if self.measurement else None

    @cached_property
    def clocks(self) -> Quartiles | None:
        """Quartiles of the clocks of the accepted samples in MHz, None when none is known."""
        return quartiles_of([s.sm_clock_mhz for s in self.accepted if s.sm_clock_mhz is not None])

    @cached_property
    def trust(self) -> Trust | None:
        """How far its figures can be trusted; None before it has any."""
        known = self.measurement if self.status in {"done", "wrong", "impossible"} else None
        return trust_of(known, self.reason if self.status == "impossible" else "") if known else None

    def measured(self, key: str) -> Figure | None:
        """What a worker read of it, None when nobody did."""
        return self.measurement.figures.get(key) if self.measurement else None


def rows(session: Session) -> list[PointRow]:
    """A row for each of the plan's kernels x problems, in running order; the drift check has none."""
    return [PointRow.of(session.backend, state, session) for state in session.cells]


def _standing(backend: Backend, state: PointState, session: Session | None) -> tuple[PointStatus, str]:
    """A point's status and the reason of it; what its device reaches refutes one that is done too soon."""
    if state.status != "done" or state.measurement is None or session is None:
        return state.status, state.reason
    refuted = _refuted(backend, state, state.measurement, session.ceilings.get(state.part or 1))
    return ("impossible", refuted) if refuted else (state.status, state.reason)


def _refuted(backend: Backend, state: PointState, measurement: Measurement, ceilings: Ceilings | None) -> str:
    """Why a point is impossible, judged once of what it yielded: rows are made again and again."""
    if state.judged is None or state.judged[0] is not measurement or state.judged[1] is not ceilings:
        why = why_impossible(state.point.kernel, state.point.problem, backend, measurement, ceilings)
        state.judged = measurement, ceilings, why
    return state.judged[2]


def _cache_bytes(session: Session, state: PointState) -> int | None:
    """As the point's part of the session measured it, or as the device tells."""
    ceilings, device = session.ceilings.get(state.part or 1), session.machine.device(session.backend)
    return (ceilings.cache_bytes if ceilings else None) or (device.l2_bytes if device else None)


def memory_name(session: Session) -> str:
    """What the device's memory is called: HBM where it is such by the name of the device."""
    device = session.machine.device(session.backend)
    return "HBM" if device and session.backend == "cuda" and _has_hbm(device.name) else "memory"


@cache  # every row of a session asks
def _has_hbm(device: str) -> bool:
    return WITH_HBM.search(device) is not None


class LiveRows:
    """The rows of one session, made anew only where a point has changed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[int, PointRow] = {}

    def current(self) -> Sequence[PointRow]:
        """The rows as they stand now."""
        return [self._row(state) for state in self._session.cells]

    def _row(self, state: PointState) -> PointRow:
        known = self._known.get(state.point.index)
        if known is None or known.measurement is not state.measurement or known.status != state.status:
            known = PointRow.of(self._session.backend, state, self._session)
            self._known[state.point.index] = known
        return known

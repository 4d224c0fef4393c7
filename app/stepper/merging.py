"""The merge of a row's parts with the numbers of a step: what is added to which sum, and its share."""

import math
from dataclasses import dataclass

import numpy as np

from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.recording import Recording, RowState
from flashscope.app.stepper.snapshots import Snapshot
from flashscope.app.stepper.step_view import StepView


@dataclass(frozen=True)
class MergeTerms:
    """The numbers of one row in one addition: of the sum before (m, l, o), of what is added, and after.

    Of O it is component 0. `share` is what is added of the whole row: exp(its LSE - that of the row).
    """

    m: float
    l: float
    o: float
    m_added: float
    l_added: float
    o_added: float
    m_new: float
    l_new: float
    o_new: float
    share: float

    @property
    def keep(self) -> float:
        """The factor on the sum."""
        return _exp(self.m - self.m_new)

    @property
    def take(self) -> float:
        """The factor on what is added."""
        return _exp(self.m_added - self.m_new)

    @property
    def result(self) -> float:
        """O / l, which the last addition writes; 0 for a row without keys."""
        return self.o_new / self.l_new if self.l_new else 0.0


def merge_terms(view: StepView, local: int) -> MergeTerms:
    """Collect the numbers of one row of an addition."""
    recording, step = view.recording, view.step
    before, after = view.before, view.state
    added = recording.added(step.addition, step.i)
    row = step.i * recording.block_q + local
    numbers = (_numbers(state, local) for state in (before, added, after))
    (m, l, o), (m_added, l_added, o_added), (m_new, l_new, o_new) = numbers
    lse = m_added + math.log(l_added) if l_added > 0 else -math.inf
    share = _exp(lse - float(recording.trace.lse.numpy()[row]))
    return MergeTerms(m, l, o, m_added, l_added, o_added, m_new, l_new, o_new, share)


def merge_rows(view: StepView, local: int) -> list[tuple[str, str]]:
    """Each formula of an addition in symbols and with numbers, as `formulas` has them."""
    x, name = merge_terms(view, local), _index(view.recording, view.step)
    keep, take, n = number(x.keep), number(x.take), number
    rows = [
        (f"<m>m′</m> = max(<m>m</m>, m{name})", f"max({n(x.m)}, {n(x.m_added)}) = <m>{n(x.m_new)}</m>"),
        (
            f"<a>α</a> = exp(<m>m</m> − <m>m′</m>),  w = exp(m{name} − <m>m′</m>)",
            f"<a>{keep}</a>,  {take}",
        ),
        (
            f"<l>ℓ′</l> = <a>α</a><l>ℓ</l> + w ℓ{name}",
            f"{keep} · {n(x.l)} + {take} · {n(x.l_added)} = <l>{n(x.l_new)}</l>",
        ),
        (
            f"<o>Ō′</o> = <a>α</a><o>Ō</o> + w Ō{name}",
            f"{keep} · {n(x.o)} + {take} · {n(x.o_added)} = <o>{n(x.o_new)}</o>",
        ),
        (f"share of the row = exp(L{name} − L)", number(x.share)),
    ]
    if view.step.addition == len(view.recording.additions) - 1:
        written = f"{n(x.o_new)} / {n(x.l_new)} = <o>{n(x.result)}</o>"
        rows.append(("<o>O</o> = <o>Ō</o> / <l>ℓ</l>", written))
    return rows


def addition_words(recording: Recording, addition: int) -> str:
    """What an addition adds to what; parts and sums count from 0."""
    into, of_parts, which = recording.additions[addition]
    lanes = 1 + max(one[0] for one in recording.additions)
    to = f" to sum {into}" if lanes > 1 else ""
    return f"part {which} added{to}" if of_parts else f"sum {which} added{to}"


def _index(recording: Recording, step: Snapshot) -> str:
    _, of_parts, which = recording.additions[step.addition]
    return f"<sub>{'part' if of_parts else 'sum'} {which}</sub>"


def _numbers(state: RowState, local: int) -> tuple[float, float, float]:
    return float(state.m[local]), float(state.l[local]), float(state.o[local, 0])


def _exp(exponent: float) -> float:
    """exp, and 0 where both are -inf: an empty part added to an empty sum."""
    with np.errstate(all="ignore"):
        return 0.0 if math.isnan(exponent) else float(np.exp(exponent))

"""The update rule with the numbers of a step. The tags <m>, <a>, <l>, <o> say which colour a value gets."""

from dataclasses import dataclass

import numpy as np

from flashscope.app.stepper.faulty_formulas import CHANGED, faulty_rows
from flashscope.app.stepper.merging import merge_rows
from flashscope.app.stepper.numbers import difference, number
from flashscope.app.stepper.pseudocode import LAZY_MAXIMUM, MAXIMUM_IN_8_BITS
from flashscope.app.stepper.recording import RecordedFloats
from flashscope.app.stepper.snapshots import StepPhase
from flashscope.app.stepper.step_view import StepView


@dataclass(frozen=True)
class Formula:
    """One formula.

    Attributes:
        phase: The step that evaluates it.
        symbols: The formula in symbols, as HTML with these tags.
        numbers: The same with numbers; empty before it is evaluated.
        active: Whether this very step evaluates it.
    """

    phase: StepPhase
    symbols: str
    numbers: str
    active: bool


@dataclass(frozen=True)
class RowTerms:
    """The numbers of one row in one tile: before it, after it (`_new`), and of the tile alone (`_tile`).

    Of O and PV it is component 0.
    """

    m: float
    m_tile: float
    m_new: float
    alpha: float
    beta: float
    l: float
    l_tile: float
    l_new: float
    o: float
    pv: float
    o_new: float

    @property
    def result(self) -> float:
        """O / l, which flash2 writes at the end; 0 for a row that is masked throughout."""
        return self.o_new / self.l_new if self.l_new else 0.0


@np.errstate(all="ignore")  # what is not finite is shown as such
def terms(view: StepView, local: int) -> RowTerms:
    """Collect the numbers of one row of the current tile."""
    recording, step = view.recording, view.step
    after, before = recording.state(step.tile, step.i), view.before
    scores = recording.scores(step.tile)[local]
    weights = recording.weights(step.tile, local=view.local_max)[local]
    m_tile, m_new = float(scores.max()), float(after.m[local])
    return RowTerms(
        m=float(before.m[local]),
        m_tile=m_tile,
        m_new=m_new,
        alpha=float(recording.alpha[step.tile, local]),
        beta=_beta(recording.weights(step.tile)[local], recording.weights(step.tile, local=True)[local]),
        l=float(before.l[local]),
        l_tile=float(weights.sum()),
        l_new=float(after.l[local]),
        o=float(before.o[local, 0]),
        pv=_product(view, weights, local),
        o_new=float(after.o[local, 0]),
    )


def _beta(shared: RecordedFloats, own: RecordedFloats) -> float:
    """exp(m_tile - m_new) as the ratio of the two sums; 0 when the tile keeps nothing of this row."""
    return float(shared.sum() / own.sum()) if own.sum() else 0.0


def _product(view: StepView, weights: RecordedFloats, local: int) -> float:
    recording = view.recording
    if recording.fault == "stale-keys" or recording.in_8_bits:  # V and P are not those that are shown
        return _added(view, local)
    first = view.step.j * recording.block_k
    values = recording.trace.v.numpy()[first : first + len(weights), 0]
    return float(weights @ values)


def _added(view: StepView, local: int) -> float:
    """What the tile has added to O before any division, by the states around it."""
    recording, step, before = view.recording, view.step, view.before
    after, alpha = recording.state(step.tile, step.i), float(recording.alpha[step.tile, local])
    old, new = float(before.o[local, 0]), float(after.o[local, 0])
    if recording.normalised:
        old, new = old * float(before.l[local]), new * float(after.l[local])
    return new - alpha * old


def formulas(view: StepView) -> tuple[Formula, ...]:
    """All formulas of the loop order for the row watched; none when it is not in the current tile."""
    local = view.local_row
    if local is None:
        return ()
    if view.step.merges:
        return tuple(Formula("merge", *row, active=True) for row in merge_rows(view, local))
    x = terms(view, local)
    order, fault = view.recording.order, view.recording.fault
    rows = faulty_rows(x, order, fault) if fault in CHANGED else _right_rows(view, x)
    step = view.step
    return tuple(
        Formula(phase, symbols, numbers if step.reached(phase) else "", step.phase == phase)
        for phase, symbols, numbers in rows
    )


def _right_rows(view: StepView, x: RowTerms) -> list[tuple[StepPhase, str, str]]:
    recording, step = view.recording, view.step
    if recording.in_8_bits:
        again = bool(recording.computed_twice(step.tile)[view.local_row or 0])
        maximum = _maximum_in_8_bits(x, again=again)
    else:
        maximum = _maximum(x, view.local_max, headroom=recording.headroom)
    return [
        maximum,
        *_factors(x, view.local_max),
        _sum(x, view.local_max),
        *_output(x, view.recording.order, view.local_max)[: 1 if view.recording.splits > 1 else None],
    ]  # a part is divided by no l: its O, m and l go to the merge


def _maximum(x: RowTerms, local_max: bool, *, headroom: float) -> tuple[StepPhase, str, str]:
    if headroom:
        far = "is" if x.m_new > x.m else "is not"
        limit = f"{number(x.m)} + {number(headroom)}"
        numbers = f"{number(x.m_tile)} {far} above {limit}: <m>{number(x.m_new)}</m>"
        return "maximum", f"<m>m′</m> = {LAZY_MAXIMUM}", numbers
    symbols = "<m>m′</m> = max(<m>m</m>, m̃)" if local_max else "<m>m′</m> = max(<m>m</m>, rowmax S)"
    return "maximum", symbols, f"max({number(x.m)}, {number(x.m_tile)}) = <m>{number(x.m_new)}</m>"


def _maximum_in_8_bits(x: RowTerms, *, again: bool) -> tuple[StepPhase, str, str]:
    """M stays while P keeps its range; a tile with a mask takes the new maximum at once."""
    told = f"max({number(x.m)}, {number(x.m_tile)}) = <m>{number(x.m_new)}</m>"
    if again:
        numbers = f"P overflows: {told}"
    else:
        numbers = told if x.m_new > x.m else f"P has room: <m>{number(x.m_new)}</m>"
    return "maximum", f"<m>m′</m> = {MAXIMUM_IN_8_BITS}", numbers


def _factors(x: RowTerms, local_max: bool) -> list[tuple[StepPhase, str, str]]:
    numbers = f"exp({difference(x.m, x.m_new)}) = <a>{number(x.alpha)}</a>"
    rows: list[tuple[StepPhase, str, str]] = [("maximum", "<a>α</a> = exp(<m>m</m> − <m>m′</m>)", numbers)]
    if local_max:
        numbers = f"exp({difference(x.m_tile, x.m_new)}) = {number(x.beta)}"
        rows.append(("maximum", "β = exp(m̃ − <m>m′</m>)", numbers))
    return rows


def _sum(x: RowTerms, local_max: bool) -> tuple[StepPhase, str, str]:
    symbols = "<l>ℓ′</l> = <a>α</a><l>ℓ</l> + " + ("β Σ P̃" if local_max else "Σ P")
    tile = f"{number(x.beta)} · {number(x.l_tile)}" if local_max else number(x.l_tile)
    return "weights", symbols, f"{number(x.alpha)} · {number(x.l)} + {tile} = <l>{number(x.l_new)}</l>"


def _output(x: RowTerms, order: str, local_max: bool) -> list[tuple[StepPhase, str, str]]:
    product, tile = ("β P̃V", f"{number(x.beta)} · {number(x.pv)}") if local_max else ("PV", number(x.pv))
    alpha, new = number(x.alpha), f"<o>{number(x.o_new)}</o>"
    if order == "flash1":
        numbers = f"({alpha} · {number(x.l)} · {number(x.o)} + {tile}) / {number(x.l_new)} = {new}"
        return [("output", f"<o>O′</o> = (<a>α</a><l>ℓ</l> <o>O</o> + {product}) / <l>ℓ′</l>", numbers)]
    result = f"{number(x.o_new)} / {number(x.l_new)} = <o>{number(x.result)}</o>"
    return [
        ("output", f"<o>Ō′</o> = <a>α</a><o>Ō</o> + {product}", f"{alpha} · {number(x.o)} + {tile} = {new}"),
        ("write", "<o>O</o> = <o>Ō</o> / <l>ℓ</l>", result),
    ]

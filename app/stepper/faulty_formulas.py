"""The update rule as a fault has it, with the numbers of a step; tags as in `app.stepper.formulas`."""

from typing import TYPE_CHECKING

from flashscope.app.stepper.numbers import difference, number
from flashscope.app.stepper.snapshots import StepPhase
from flashscope.kernels.workload.trace import Fault

if TYPE_CHECKING:
    from flashscope.app.stepper.formulas import RowTerms

CHANGED: frozenset[Fault] = frozenset(
    {"no-rescale", "no-maximum", "softmax-per-tile", "float16-accumulators"}
)
"""The faults that change the rule itself; the others change what it is fed with."""
Rows = list[tuple[StepPhase, str, str]]


def faulty_rows(x: "RowTerms", order: str, fault: Fault) -> Rows:
    """All formulas of one of the faults that change the rule, in symbols and with numbers."""
    return [*_maximum(x, fault), _sum(x, fault), *_output(x, order, fault)]


def _maximum(x: "RowTerms", fault: Fault) -> Rows:
    new = f"<m>{number(x.m_new)}</m>"
    if fault == "no-maximum":
        return [("maximum", "<m>m′</m> = 0", new)]
    if fault == "softmax-per-tile":
        return [("maximum", "<m>m′</m> = rowmax S", new)]
    forgotten = ", forgotten" if fault == "no-rescale" else ""
    numbers = f"exp({difference(x.m, x.m_new)}) = <a>{number(x.alpha)}</a>{forgotten}"
    return [
        ("maximum", "<m>m′</m> = max(<m>m</m>, rowmax S)", f"max({number(x.m)}, {number(x.m_tile)}) = {new}"),
        ("maximum", "<a>α</a> = exp(<m>m</m> − <m>m′</m>)", numbers),
    ]


def _sum(x: "RowTerms", fault: Fault) -> tuple[StepPhase, str, str]:
    new, own = f"<l>{number(x.l_new)}</l>", number(x.l_tile)
    if fault == "softmax-per-tile":
        return "weights", "<l>ℓ′</l> = Σ P", new
    if fault == "float16-accumulators":
        numbers = f"{number(x.alpha)} · {number(x.l)} + {own} ≈ {new}"
        return "weights", "<l>ℓ′</l> = fp16(<a>α</a><l>ℓ</l> + Σ P)", numbers
    return "weights", "<l>ℓ′</l> = <l>ℓ</l> + Σ P", f"{number(x.l)} + {own} = {new}"


def _output(x: "RowTerms", order: str, fault: Fault) -> Rows:
    old, own, new = number(x.o), number(x.pv), f"<o>{number(x.o_new)}</o>"
    if fault == "softmax-per-tile":
        numbers = f"{old} + {own} / {number(x.l_new)} = {new}"
        return [("output", "<o>O′</o> = <o>O</o> + PV / <l>ℓ′</l>", numbers)]
    half = fault == "float16-accumulators"
    factor, times = ("<a>α</a>", f"{number(x.alpha)} · ") if half else ("", "")
    rounded, equal = ("fp16({})", "≈") if half else ("{}", "=")
    if order == "flash1":
        symbols = rounded.format(f"({factor}<l>ℓ</l> <o>O</o> + PV) / <l>ℓ′</l>")
        numbers = f"({times}{number(x.l)} · {old} + {own}) / {number(x.l_new)} {equal} {new}"
        return [("output", f"<o>O′</o> = {symbols}", numbers)]
    symbols = rounded.format(f"{factor}<o>Ō</o> + PV")
    result = f"{number(x.o_new)} / {number(x.l_new)} = <o>{number(x.result)}</o>"
    return [
        ("output", f"<o>Ō′</o> = {symbols}", f"{times}{old} + {own} {equal} {new}"),
        ("write", "<o>O</o> = <o>Ō</o> / <l>ℓ</l>", result),
    ]

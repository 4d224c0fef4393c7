"""The lines of a backward pass, as HTML: its pseudocode, and its formulas with the numbers of a step."""

from dataclasses import dataclass

from flashscope.app.stepper.backward.recording import SUMS, BackwardRecording, Sums
from flashscope.app.stepper.backward.steps import BackwardPhase, BackwardStep
from flashscope.app.stepper.backward.view import BackwardView
from flashscope.app.stepper.numbers import difference, number, power

D = {"dq": "dQ", "dk": "dK", "dv": "dV"}
P_LINE = "P = exp(Q<sub>i</sub>K<sub>j</sub><sup>T</sup> · scale − L<sub>i</sub>)"
DP_LINE = "dP = dO<sub>i</sub> V<sub>j</sub><sup>T</sup>"
DS_LINE = "dS = P ∘ (dP − δ<sub>i</sub>)"
ADDED: dict[Sums, str] = {
    "dq": "dQ<sub>i</sub> += dS K<sub>j</sub>",
    "dk": "dK<sub>j</sub> += dS<sup>T</sup> Q<sub>i</sub>",
    "dv": "dV<sub>j</sub> += P<sup>T</sup> dO<sub>i</sub>",
}


@dataclass(frozen=True)
class BackwardLine:
    """One line of the algorithm.

    Attributes:
        depth: How deep it is indented.
        text: What it says, as HTML.
        phase: The step that executes it; empty: none does.
        apart: Whether it is of the launch that computes dQ alone.
    """

    depth: int
    text: str
    phase: BackwardPhase | None = None
    apart: bool = False

    def active(self, step: BackwardStep, *, apart: bool) -> bool:
        """Whether the step, of the main launch or of that of dQ, executes this line."""
        return step.phase == self.phase and apart == self.apart


def backward_lines(recording: BackwardRecording) -> tuple[BackwardLine, ...]:
    """The algorithm as its launches run it: the keys outside; of dQ alone the queries."""
    trace, tile = recording.trace, _tile_lines
    kernel, apart = trace.request.kernel, trace.dq_pass is not None
    delta = "δ<sub>i</sub> = rowsum(dO<sub>i</sub> ∘ O<sub>i</sub>)"
    once, each = ("", f"; {delta}") if kernel == "flash1" else (f"first: {delta} of all queries", "")
    head = (BackwardLine(0, once, "start"),) if once else ()
    heads = " of each query head" if trace.request.group > 1 else ""
    keys = (
        *head,
        BackwardLine(
            0, "for j in K, V blocks: &nbsp;dK<sub>j</sub> = dV<sub>j</sub> = 0", None if once else "start"
        ),
        BackwardLine(1, f"for i in Q blocks{heads}:"),
        BackwardLine(2, f"load Q<sub>i</sub>, dO<sub>i</sub>, L<sub>i</sub>{each}", "load"),
        *tile(2, ("dv", "dk") if apart else ("dv", "dk", "dq"), apart=False),
        BackwardLine(1, "write dK<sub>j</sub> · scale, dV<sub>j</sub>", "write"),
    )
    if not apart:
        return (*keys, BackwardLine(0, "last: dQ · scale"))
    return (
        *keys,
        BackwardLine(0, "last launch: for i in Q blocks: &nbsp;dQ<sub>i</sub> = 0"),
        BackwardLine(1, "for j in K, V blocks:"),
        BackwardLine(2, "load K<sub>j</sub>, V<sub>j</sub>", "load", apart=True),
        *tile(2, ("dq",), apart=True),
        BackwardLine(1, "write dQ<sub>i</sub> · scale", "write", apart=True),
    )


def _tile_lines(depth: int, sums: tuple[Sums, ...], *, apart: bool) -> tuple[BackwardLine, ...]:
    weights: tuple[tuple[str, BackwardPhase], ...] = (
        (P_LINE, "weights"),
        (DP_LINE, "dp"),
        (DS_LINE, "ds"),
    )
    added = tuple((ADDED[name], name) for name in sums)
    return tuple(BackwardLine(depth, text, phase, apart) for text, phase in (*weights, *added))


@dataclass(frozen=True)
class BackwardFormula:
    """One formula, with the numbers of a step.

    Attributes:
        symbols: In symbols, as HTML.
        numbers: With numbers; empty before it is evaluated.
        active: Whether this very step evaluates it.
    """

    symbols: str
    numbers: str
    active: bool


def backward_formulas(view: BackwardView) -> list[BackwardFormula]:
    """Those of the pair that is watched, and of the sums that its tile adds to; none before a tile."""
    if not view.started:
        return []
    recording, step, t = view.recording, view.step, view.tile
    row, key = view.pair
    head, query = view.place.head, view.area[0].start + row
    trace = recording.trace
    score = float(trace.q.numpy()[head, query] @ trace.k.numpy()[view.area[1].start + key])
    score *= trace.request.problem.softmax_scale
    lse = float(trace.lse.numpy()[head, query])
    p, dp, ds = (float(recording.weights(name, t)[row, key]) for name in ("p", "dp", "ds"))
    delta = float(recording.delta(t)[row])
    told = [
        ("P = exp(S − L)", f"exp({difference(score, lse)}) = {number(p)}", "weights"),
        ("dP = dO · v", number(dp), "dp"),
        ("dS = P (dP − δ)", f"{number(p)} ({difference(dp, delta)}) = {number(ds)}", "ds"),
    ]
    rows = [
        BackwardFormula(symbols, numbers if step.reached(phase) else "", step.phase == phase)  # type: ignore[arg-type]
        for symbols, numbers, phase in told
    ]
    return [*rows, *(_sum_formula(view, name) for name in ("dv", "dk", "dq") if recording.has(name, t))]


def _sum_formula(view: BackwardView, name: Sums) -> BackwardFormula:
    """Component 0 of the row of a gradient that the pair adds to."""
    recording, t = view.recording, view.tile
    row, key = view.pair
    local, number_of = (row, view.area[0].start + row) if name == "dq" else (key, view.area[1].start + key)
    before, after = recording.before(name, t), recording.after(name, t)
    if before is None or after is None:
        raise ValueError(f"tile {t} adds nothing to {name}")
    old, new = float(before[local, 0]), float(after[local, 0])
    sign = "−" if new < old else "+"
    symbols = f"{D[name]}<sub>{number_of},0</sub>"
    told = f"{number(old)} {sign} {number(abs(new - old))} = {number(new)}"
    return BackwardFormula(symbols, told if view.step.reached(name) else "", view.step.phase == name)


def errors_text(recording: BackwardRecording) -> str:
    """How far the gradients are from the oracle's, with exponents in HTML."""
    errors = ", ".join(f"{D[name]} {power(recording.max_errors[name])}" for name in SUMS)
    return f"max |gradient − exact|: {errors}, measured"

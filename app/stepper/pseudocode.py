"""Pseudocode of the two loop orders, as HTML, and which of its lines a step executes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flashscope.app.stepper.snapshots import Snapshot, StepPhase
from flashscope.kernels.workload.trace import Fault

WRONG = "✗ "  # before a line that a fault has changed
MAXIMUM_IN_8_BITS = "max(m, rowmax S) if P overflows, else m"
LAZY_MAXIMUM = "rowmax S if that is above m + 8 ln 2, else m"


@dataclass(frozen=True)
class CodeLine:
    """One line of the algorithm.

    Attributes:
        depth: How deep it is indented.
        text: What it says, as HTML.
        phases: The steps that execute it.
        first_only: Whether only the first tile of a query block executes it.
    """

    depth: int
    text: str
    phases: tuple[StepPhase, ...] = ()
    first_only: bool = False

    def active(self, step: Snapshot) -> bool:
        """Whether the step executes this line."""
        return step.phase in self.phases and (step.first or not self.first_only)


def lines(
    order: str,
    *,
    local_max: bool,
    reverse: bool,
    memory: str,
    lazy: bool = False,
    fault: Fault = "",
    splits: int = 1,
    in_8_bits: bool = False,
) -> tuple[CodeLine, ...]:
    """The algorithm of a loop order.

    Args:
        order: `flash1` (Dao et al. 2022, algorithm 1) or `flash2` (Dao 2023, algorithm 1).
        local_max: Write it with the tile's own maximum and the factor beta.
        reverse: Key blocks run from the last to the first.
        memory: What the arrays are in.
        lazy: m follows the maximum only where that is more than 2⁸ times as large, as an exponent.
        fault: What it gets wrong on purpose: the lines that do are marked.
        splits: Parts of a query block's keys, merged by a second launch.
        in_8_bits: P is rounded to e4m3, and a tile is computed again where it would leave its range.
    """
    if splits > 1:
        return _in_parts(reverse=reverse, lazy=lazy, splits=splits)
    if in_8_bits:
        return _in_8_bits(reverse=reverse)
    right = _lines(order, local_max=local_max and not fault, reverse=reverse, memory=memory, lazy=lazy)
    wrong = {} if not fault else _wrong_lines(order)[fault]
    return tuple(_changed(line, wrong) for line in right)


def _changed(line: CodeLine, wrong: Mapping[StepPhase, str]) -> CodeLine:
    """A line as the fault has it; what is loaded once is loaded rightly."""
    if line.first_only or not line.phases or line.phases[0] not in wrong:
        return line
    if line.phases == ("load",) and "K<sub>" not in line.text:
        return line
    return replace(line, text=WRONG + wrong[line.phases[0]])


def _wrong_lines(order: str) -> Mapping[Fault, Mapping[StepPhase, str]]:
    """What stands in the lines that a fault changes."""
    end, first = ";  m = m′;  ℓ = ℓ′", order == "flash1"
    without = f"O = (ℓ O + PV<sub>j</sub>) / ℓ′{end}" if first else f"Ō = Ō + PV<sub>j</sub>{end}"
    half = f"O = fp16((αℓ O + PV<sub>j</sub>) / ℓ′){end}" if first else f"Ō = fp16(αŌ + PV<sub>j</sub>){end}"
    alone: dict[StepPhase, str] = {
        "maximum": "m′ = rowmax S",
        "weights": "P = exp(S − m′);  ℓ′ = Σ P",
        "output": f"O = O + PV<sub>j</sub> / ℓ′{end}",
    }
    edge = (
        "S = Q<sub>i</sub>K<sub>j</sub><sup>T</sup> · scale, −∞ where k {} q + N<sub>k</sub> − N<sub>q</sub>"
    )
    return {
        "no-rescale": {"weights": "P = exp(S − m′);  ℓ′ = ℓ + Σ P", "output": without},
        "no-maximum": {"maximum": "m′ = 0", "weights": "P = exp(S);  ℓ′ = ℓ + Σ P", "output": without},
        "softmax-per-tile": alone if first else {**alone, "write": "write O<sub>i</sub>"},
        "float16-accumulators": {"weights": "P = exp(S − m′);  ℓ′ = fp16(αℓ + Σ P)", "output": half},
        "diagonal-masked": {"scores": edge.format("≥")},
        "key-beyond-diagonal": {"scores": edge.format("> 1 +")},
        "stale-keys": {"load": "load K<sub>j</sub>, V<sub>j</sub>, and do not wait for all of it"},
    }


def _lines(order: str, *, local_max: bool, reverse: bool, memory: str, lazy: bool) -> tuple[CodeLine, ...]:
    inner = _softmax(order, local_max=local_max, lazy=lazy)
    keys = "reversed(K, V blocks)" if reverse else "K, V blocks"
    if order == "flash1":
        return (
            CodeLine(0, f"O = 0;  m = −∞;  ℓ = 0 &nbsp;in {memory}", ("start",)),
            CodeLine(0, f"for j in {keys}:"),
            CodeLine(1, "load K<sub>j</sub>, V<sub>j</sub>", ("load",), first_only=False),
            CodeLine(1, "for i in Q blocks:"),
            CodeLine(2, "load Q<sub>i</sub>, O<sub>i</sub>, m<sub>i</sub>, ℓ<sub>i</sub>", ("load",)),
            *(CodeLine(2, line.text, line.phases) for line in inner),
            CodeLine(2, "write O<sub>i</sub>, m<sub>i</sub>, ℓ<sub>i</sub>", ("write",)),
        )
    return (
        CodeLine(0, "for i in Q blocks:", ("start",)),
        CodeLine(1, "load Q<sub>i</sub>;  m = −∞;  ℓ = 0;  Ō = 0", ("load",), first_only=True),
        CodeLine(1, f"for j in {keys}:"),
        CodeLine(2, "load K<sub>j</sub>, V<sub>j</sub>", ("load",)),
        *(CodeLine(2, line.text, line.phases) for line in inner),
        CodeLine(1, "O<sub>i</sub> = Ō / ℓ;  L<sub>i</sub> = m + log ℓ;  write both", ("write",)),
    )


def _in_8_bits(*, reverse: bool) -> tuple[CodeLine, ...]:
    """flash2's order as flash3-fp8 has it."""
    keys = "reversed(K, V blocks)" if reverse else "K, V blocks"
    return (
        CodeLine(0, "first launch: Q, K, V to e4m3", ("start",)),
        CodeLine(0, "for i in Q blocks:"),
        CodeLine(1, "load Q<sub>i</sub>;  m = −∞;  ℓ = 0;  Ō = 0", ("load",), first_only=True),
        CodeLine(1, f"for j in {keys}:"),
        CodeLine(2, "load K<sub>j</sub>, V<sub>j</sub>", ("load",)),
        CodeLine(2, "S = Q<sub>i</sub>K<sub>j</sub><sup>T</sup> · scale", ("scores",)),
        CodeLine(2, f"m′ = {MAXIMUM_IN_8_BITS}", ("maximum",)),
        CodeLine(2, "α = exp(m − m′)", ("maximum",)),
        CodeLine(2, "P = exp(S − m′);  ℓ′ = αℓ + Σ P", ("weights",)),
        CodeLine(2, "Ō = αŌ + e4m3(P)V<sub>j</sub>;  m = m′;  ℓ = ℓ′", ("output",)),
        CodeLine(1, "O<sub>i</sub> = Ō / ℓ;  L<sub>i</sub> = m + log ℓ;  write both", ("write",)),
    )


def _in_parts(*, reverse: bool, lazy: bool, splits: int) -> tuple[CodeLine, ...]:
    """flash2's order with the keys in parts, and their merge."""
    keys = "reversed(K, V blocks of p)" if reverse else "K, V blocks of p"
    inner = _softmax("flash2", local_max=False, lazy=lazy)
    return (
        CodeLine(0, f"for i in Q blocks, p in {splits} parts of the keys, side by side:", ("start",)),
        CodeLine(1, "load Q<sub>i</sub>;  m = −∞;  ℓ = 0;  Ō = 0", ("load",), first_only=True),
        CodeLine(1, f"for j in {keys}:"),
        CodeLine(2, "load K<sub>j</sub>, V<sub>j</sub>", ("load",)),
        *(CodeLine(2, line.text, line.phases) for line in inner),
        CodeLine(1, "write Ō, m, ℓ of p", ("write",)),
        CodeLine(0, "second launch: for each part or sum x of i:", ()),
        CodeLine(1, "m′ = max(m, m<sub>x</sub>);  α = exp(m − m′);  w = exp(m<sub>x</sub> − m′)", ("merge",)),
        CodeLine(1, "ℓ = αℓ + w ℓ<sub>x</sub>;  Ō = αŌ + w Ō<sub>x</sub>;  m = m′", ("merge",)),
        CodeLine(0, "O<sub>i</sub> = Ō / ℓ;  L<sub>i</sub> = m + log ℓ;  write both", ()),
    )


def _softmax(order: str, *, local_max: bool, lazy: bool) -> tuple[CodeLine, ...]:
    texts = (
        [f"m′ = {LAZY_MAXIMUM}", "α = exp(m − m′)"] if lazy else ["m′ = max(m, rowmax S);  α = exp(m − m′)"]
    )
    if local_max:
        texts = ["m̃ = rowmax S;  m′ = max(m, m̃)", "α = exp(m − m′);  β = exp(m̃ − m′)"]
    weights = "P̃ = exp(S − m̃);  ℓ′ = αℓ + β Σ P̃" if local_max else "P = exp(S − m′);  ℓ′ = αℓ + Σ P"
    product = "β P̃V<sub>j</sub>" if local_max else "PV<sub>j</sub>"
    output = f"O = (αℓ O + {product}) / ℓ′" if order == "flash1" else f"Ō = αŌ + {product}"
    return (
        CodeLine(0, "S = Q<sub>i</sub>K<sub>j</sub><sup>T</sup> · scale", ("scores",)),
        *(CodeLine(0, text, ("maximum",)) for text in texts),
        CodeLine(0, weights, ("weights",)),
        CodeLine(0, f"{output};  m = m′;  ℓ = ℓ′", ("output",)),
    )

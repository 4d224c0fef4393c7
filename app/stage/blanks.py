"""The blanks of a sentence, `{runtime of flash2}`, and what is on show filled into them.

`{n}` is N under the crosshair, `{idea of K}` what a kernel adds, `{fate of K}` what became of it there. A
quantity stands for its figure: `{footprint of K}`; `against` makes it a comparison in words, such as
`2.7× faster` or `1.2× more`; `{growth of footprint of K}` is its ratio to half the N. `at N` looks elsewhere
than under the crosshair. Where no kernel is named the last one on show is meant, and against it the baseline.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from flashscope.app.stage.numbers import NUMBERS, OF_STALLS, OF_TIMELINE
from flashscope.app.stage.scene import Scene
from flashscope.app.words.kinds import words_of
from flashscope.app.words.units import bytes_text, ms_text, ratio_text, seqlen_text
from flashscope.kernels.catalogue.registry import known_kernel
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.events import PointStatus

BLANK = re.compile(r"\{([^{}]*)\}")
FORM = re.compile(
    r"(?P<growth>growth of )?(?P<what>[^\s]+)(?: of (?P<kernel>[^\s]+))?"
    r"(?P<against> against(?: (?P<other>(?!at )[^\s]+))?)?(?: at (?P<seqlen>[1-9]\d{0,8}))?"
)
OF_KERNELS = ("idea", "fate")
ALIASES = {"speedup": "speed-up"}
ALIKE = "1.00×"
UNKNOWN = "…"
FATES: dict[PointStatus, str] = {
    "pending": "is still to come",
    "running": "is running",
    "wrong": "computed a wrong result",
    "oom": "ran out of memory",
    "will-not-fit": "will not fit",
    "unsupported": "cannot run this",
    "timeout": "did not end in time",
    "failed": "failed",
    "cancelled": "was cancelled",
    "impossible": "is faster than its device can be",
    "altered": "has altered figures",
    "interrupted": "was interrupted",
}


class Unknown(Exception):  # noqa: N818 - nothing has gone wrong
    """What a blank asks for is not on show; the text says why, for the audience."""


@dataclass(frozen=True)
class Blank:
    """One blank.

    Attributes:
        what: A quantity's key, one of NUMBERS, `n`, `idea` or `fate`.
        kernel: Whose; empty: the scene's.
        other: What it is compared with; None: with nothing, empty: with the scene's baseline.
        seqlen: Where; None: under the crosshair.
        growth: Whether the ratio to half the N is meant.
    """

    what: str
    kernel: str = ""
    other: str | None = None
    seqlen: int | None = None
    growth: bool = False


def blanks(sentence: str) -> list[Blank]:
    """The blanks of a sentence, in their order.

    Raises:
        InputError: One asks for what there is not; the text says what there is.
    """
    return [_read(found[1]) for found in BLANK.finditer(sentence)]


def fill(sentence: str, scene: Scene) -> str:
    """The sentence with its blanks filled; one that cannot be told says why instead, as a whole."""
    return unfilled(sentence, scene) or BLANK.sub(lambda found: _text(_read(found[1]), scene), sentence)


def unfilled(sentence: str, scene: Scene) -> str:
    """Why a blank of a sentence cannot be filled; empty: all can."""
    if scene.waiting and BLANK.search(sentence):
        return scene.waiting
    try:
        for blank in blanks(sentence):
            _text(blank, scene)
    except Unknown as why:
        return str(why)
    return ""


class Filled(NamedTuple):
    """A blank as it is written, and what fills it, or why nothing does."""

    blank: str
    value: str = ""
    problem: str = ""


def filled(sentence: str, scene: Scene) -> list[Filled]:
    """Each blank of a sentence in its order, for who writes it: what is no blank is told, too.

    As long as the scene waits for something, nothing is known of a blank that is one.
    """
    return [_filled(found[1], scene) for found in BLANK.finditer(sentence)]


def _filled(words: str, scene: Scene) -> Filled:
    written = f"{{{words}}}"
    try:
        blank = _read(words)
        return Filled(written, UNKNOWN if scene.waiting else _text(blank, scene))
    except (InputError, Unknown) as why:
        return Filled(written, problem=str(why))


def _read(words: str) -> Blank:
    form = FORM.fullmatch(" ".join(words.split()))
    if form is None:
        raise InputError(f"{{{words[:60]}}} is no blank; write it as {{runtime of flash2 against standard}}")
    what = ALIASES.get(form["what"], form["what"])
    there = ("n", *OF_KERNELS, *NUMBERS, *QUANTITIES)
    if what not in there:
        meant = get_close_matches(what, there, n=1)
        told = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(there)}"
        raise InputError(f"nothing on show is called {what[:40]!r}; {told}")
    if (form["growth"] or form["against"]) and what not in QUANTITIES:
        raise InputError(f"{{{words[:60]}}} compares what is no quantity; take one, such as runtime")
    other = (form["other"] or "") if form["against"] else None
    seqlen = int(form["seqlen"]) if form["seqlen"] else None
    return Blank(what, form["kernel"] or "", other, seqlen, bool(form["growth"]))


def _text(blank: Blank, scene: Scene) -> str:
    if blank.what in QUANTITIES:
        return _figure(blank, QUANTITIES[blank.what], scene)
    if blank.what in NUMBERS:
        return _number(blank, scene)
    if blank.what == "n":
        return _seqlen(scene.seqlen)
    kernel = blank.kernel or scene.kernel
    if blank.what == "idea":
        return _idea(kernel, scene.runs)
    return _fate(_row(scene, kernel, _place(blank, scene)))


def _place(blank: Blank, scene: Scene) -> int | None:
    return scene.seqlen if blank.seqlen is None else blank.seqlen


def _figure(blank: Blank, quantity: Quantity, scene: Scene) -> str:
    kernel, seqlen = blank.kernel or scene.kernel, _place(blank, scene)
    if blank.growth:
        return ratio_text(_growth(quantity, scene, kernel, seqlen))
    mine = _known(quantity, scene, kernel, seqlen)
    if blank.other is None:
        return words_of(quantity).text(mine.value)
    return _compared(quantity, mine, _known(quantity, scene, blank.other or scene.baseline, seqlen))


def _number(blank: Blank, scene: Scene) -> str:
    name = blank.what
    for names, what in ((OF_TIMELINE, "No timeline on show tells"), (OF_STALLS, "No stalls on show tell")):
        if blank.what in names:
            name = f"{blank.what} of {blank.kernel or scene.kernel}"
            if name not in scene.numbers:
                raise Unknown(f"{what} {name}.")
    if name not in scene.numbers:
        raise Unknown("This step is still being computed.")
    return scene.numbers[name]


def _seqlen(seqlen: int | None) -> str:
    if seqlen is None:
        raise Unknown("Nothing has been measured yet.")
    return seqlen_text(seqlen)


def _idea(kernel: str, passes: Passes) -> str:
    known = known_kernel(kernel)
    if known is None:
        raise Unknown(f"{kernel or 'This kernel'} is not one of this program's kernels.")
    return known.idea_of(passes)


def _fate(row: PointRow) -> str:
    if row.done and row.times is not None:
        return f"takes {ms_text(row.times.median)}"
    needs = f": it needs {bytes_text(row.predicted_bytes)}" if row.status == "will-not-fit" else ""
    return f"{FATES.get(row.status, 'has no time')}{needs}"


def _row(scene: Scene, kernel: str, seqlen: int | None) -> PointRow:
    row = scene.row(kernel, seqlen)
    if row is None:
        raise Unknown(f"{kernel or 'No kernel'} was not measured at N = {_seqlen(seqlen)}.")
    return row


class KnownFigure(NamedTuple):
    """A figure that there is, with the ends of its spread, which may be itself."""

    value: float
    low: float
    high: float


def _known(quantity: Quantity, scene: Scene, kernel: str, seqlen: int | None) -> KnownFigure:
    row = _row(scene, kernel, seqlen)
    base = scene.row(scene.baseline, seqlen) if quantity.relative else None
    figure = quantity.figure(row, base if base is not None and base.done else None) if row.done else None
    if figure is None or figure.value is None:
        where = f"at N = {_seqlen(seqlen)}"
        raise Unknown(f"{kernel} has no {quantity.short} {where}: it {_why(row, quantity)}.")
    ends = (figure.value if end is None else end for end in (figure.low, figure.high))
    return KnownFigure(float(figure.value), *map(float, ends))


def _why(row: PointRow, quantity: Quantity) -> str:
    return (
        f"has nothing to compare its {quantity.short} with" if row.done and quantity.relative else _fate(row)
    )


def _growth(quantity: Quantity, scene: Scene, kernel: str, seqlen: int | None) -> float:
    half = _known(quantity, scene, kernel, None if seqlen is None else seqlen // 2)
    return _ratio(_known(quantity, scene, kernel, seqlen).value, half.value, quantity)


def _compared(quantity: Quantity, mine: KnownFigure, other: KnownFigure) -> str:
    """How much more or less, the larger over the smaller, so that the word never lies.

    Where the spreads meet, as where both would read the same, neither is called more.
    """
    less, more = sorted((mine, other))
    times = "as fast" if quantity.kind == "time" else "as much"
    text = ratio_text(_ratio(more.value, less.value, quantity))
    if more.low <= less.high or text == ALIKE:
        return times
    words = ("faster", "slower") if quantity.kind == "time" else ("less", "more")
    return f"{text} {words[mine is more]}"


def _ratio(over: float, under: float, quantity: Quantity) -> float:
    if not under:
        raise Unknown(f"There is no ratio to {words_of(quantity).text(under)}.")
    return over / under

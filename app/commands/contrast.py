"""A session beside its baseline, for a terminal: what differs around it, a sentence, the pairs, the rest."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.commands.messages import say
from app.commands.printing import Cell, Styled, print_table
from app.words.figures import NOTHING
from app.words.kinds import words_of
from app.words.units import seqlen_text
from profiles.results.compare import Contrast, Lone, Pair
from profiles.results.curves import curve_of
from profiles.results.quantity import Quantity
from profiles.results.session import Session
from profiles.wire.measurement import Figure

HEADINGS = ("kernel", "problem", "N", "baseline", "here", "ratio", "95% interval", "verdict")
KEYS = 3  # the columns that say which point a line is about
REMARKS = 3  # of one kernel that are printed; --json holds all
STYLES = {True: "bold green", False: "bold red", None: ""}


def titled(session: Session, file: Path) -> str:
    """A session by name, or its file's, with device and day."""
    device = session.machine.device(session.backend)
    day = session.started_at[:16].replace("T", " ")
    return f"{session.name or file.stem} ({device.name if device else session.backend}, {day})"


def print_contrast(quantity: Quantity, contrast: Contrast, file: Path) -> None:
    """Print what differs, the summary, a line for each pair, and what the lines leave open."""
    say(titled(contrast.other, file))
    for difference in contrast.differences:
        say(f"  {difference.sentence}")
    say(f"Summary: {contrast.summary}")
    if contrast.pairs:
        print_table(HEADINGS, [_line(quantity, pair) for pair in contrast.pairs], keys=KEYS)
    for text in _remarks([(pair.kernel, _remark(pair)) for pair in contrast.pairs]):
        say(text)
    for where, lone in (("in the baseline", contrast.base_only), ("here", contrast.other_only)):
        _print_lone(where, lone)


def _line(quantity: Quantity, pair: Pair) -> tuple[Cell, ...]:
    figures = (_value(quantity, figure) for figure in (pair.base_figure, pair.other_figure))
    ratio = NOTHING if pair.ratio is None else f"{pair.ratio:.3f}"
    ends = NOTHING if pair.ratio_low is None else f"{pair.ratio_low:.3f} .. {pair.ratio_high:.3f}"
    word = pair.verdict or f"{pair.base.status}, {pair.other.status}"
    return (*_place(pair), *figures, ratio, ends, Styled(word, STYLES[pair.better]))


def _place(pair: Pair) -> tuple[str, str, str]:
    return pair.kernel, curve_of(pair.base).label, seqlen_text(pair.base.seqlen)


def _value(quantity: Quantity, figure: Figure | None) -> str:
    known = None if figure is None else figure.value
    return NOTHING if known is None else words_of(quantity).text(known)


def _remark(pair: Pair) -> str:
    """What a line of the table leaves open; empty where it says all."""
    if not pair.reason or pair.verdict == "same":
        return ""
    return f"{curve_of(pair.base).label}, N = {pair.base.seqlen}: {pair.reason}"


def _print_lone(where: str, lone: Sequence[Lone]) -> None:
    if lone:
        say(f"Without a partner, {where} only: {len(lone)}")
    texts = [(one.row.kernel, f"N = {one.row.seqlen}: nearest has {one.reason}") for one in lone]
    for text in _remarks(
        [(k, t if one.nearest else one.reason) for (k, t), one in zip(texts, lone, strict=True)]
    ):
        say(f"  {text}")


def _remarks(told: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Remarks on each kernel's points, the first few of each."""
    of_kernel: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for kernel, text in told:
        of_kernel[kernel].update({text: None} if text else {})
    for kernel, texts in of_kernel.items():
        yield from (f"{kernel}, {text}" for text in list(texts)[:REMARKS])
        if len(texts) > REMARKS:
            yield f"{kernel}: {len(texts) - REMARKS} more remarks; --json holds all"

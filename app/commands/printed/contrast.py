"""A session beside its baseline, for a terminal: what differs around it, a sentence, the pairs, the rest."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import Styled, TableCell, print_table
from flashscope.app.words.learn.audit_changes import (
    CHANGE_HEADINGS,
    CHANGE_KEYS,
    audit_sentences,
    change_cells,
)
from flashscope.app.words.results.pairs import (
    HEADINGS,
    KEYS,
    contrast_curves,
    lone_text,
    pair_remark,
    pair_texts,
    side_titled,
)
from flashscope.app.words.results.verdicts import differing_text
from flashscope.profiles.results.compare import Contrast, Lone, Pair
from flashscope.profiles.results.compare.audited import AuditChange, audit_contrast
from flashscope.profiles.results.quantities.quantity import Quantity

REMARKS = 3  # of one kernel that are printed; --json holds all
STYLES = {True: "bold green", False: "bold red", None: ""}


def print_contrast(quantity: Quantity, contrast: Contrast, files: Sequence[Path]) -> None:
    """Print what differs, the summary, a line for each pair, and what the lines leave open."""
    say(side_titled(contrast.other_runs, files))
    if contrast.differences:
        say(f"  {differing_text(contrast.differences)}")
    for difference in contrast.differences:
        say(f"  {difference.sentence}")
    say(f"Summary: {contrast.summary}")
    curves = contrast_curves(contrast)
    placed = [(pair, curves[pair.base.problem].label) for pair in contrast.pairs]
    if placed:
        print_table(HEADINGS, [_line(quantity, pair, label) for pair, label in placed], keys=KEYS)
    for text in _remarks([(pair.kernel, _remark(pair, label)) for pair, label in placed]):
        say(text)
    _print_audits(contrast)
    for where, lone in (("in the baseline", contrast.base_only), ("here", contrast.other_only)):
        _print_lone(where, lone)


def _print_audits(contrast: Contrast) -> None:
    """What became of the attention of audited models: a sentence each, and a line for each kind of layers."""
    audits = audit_contrast(contrast.base, contrast.other)
    if audits is None:
        return
    for text in audit_sentences(audits):
        say(text)
    if audits.lines:
        print_table(CHANGE_HEADINGS, list(map(_audit_line, audits.lines)), keys=CHANGE_KEYS)


def _audit_line(change: AuditChange) -> tuple[TableCell, ...]:
    *cells, verdict = change_cells(change)
    return (*cells, Styled(verdict, STYLES[change.faster]))


def _line(quantity: Quantity, pair: Pair, label: str) -> tuple[TableCell, ...]:
    *cells, verdict = pair_texts(quantity, pair, label)
    return (*cells, Styled(verdict, STYLES[pair.better]))


def _remark(pair: Pair, label: str) -> str:
    """What a line of the table leaves open, with its place; empty where it says all."""
    told = pair_remark(pair)
    return f"{label}, N = {pair.base.seqlen}: {told}" if told else ""


def _print_lone(where: str, lone: Sequence[Lone]) -> None:
    if lone:
        say(f"Without a partner, {where} only: {len(lone)}")
    told = [
        (one.row.kernel, f"N = {one.row.seqlen}: {lone_text(one)}" if one.nearest else one.reason)
        for one in lone
    ]
    for text in _remarks(told):
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

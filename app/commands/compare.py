"""`compare BASE OTHER...`: print what changed between saved sessions, and what may explain it."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from flashscope.app.commands.exit_codes import FAILED
from flashscope.app.commands.messages import say, say_json
from flashscope.app.commands.printed.contrast import print_contrast
from flashscope.app.report.comparison_page import comparison_page
from flashscope.app.words.kinds import words_of
from flashscope.app.words.ranks import holds_text
from flashscope.app.words.results.pairs import contrast_curves, side_titled
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.compare import MOST_OTHERS, Comparison, Pair, compare
from flashscope.profiles.results.compare.document import comparison_document
from flashscope.profiles.results.compare.regressions import Regressions, regressions
from flashscope.profiles.results.compare.wording import percent
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.store import load, write_atomically

REMEDY = "Take several runs a side (sweep --runs 5), or accept it with --allow-inconclusive."


def run(
    sides: Sequence[Sequence[Path]],
    *,
    as_json: bool,
    quantity: Quantity,
    fail_on: float | None,
    allow_inconclusive: bool,
    page: Path | None,
    force: bool,
) -> int:
    """Print the comparison as text or as one JSON document, and write it as a page where one is named.

    1 where there is a regression and that fails, or where nobody knows whether there is one.
    """
    if len(sides) > 1 + MOST_OTHERS:
        raise InputError(
            f"compare takes a baseline and up to {MOST_OTHERS} others, not {len(sides) - 1}; runs of one "
            "side stand together before or after `vs`, or in a folder"
        )
    comparison = compare(*_loaded(sides), quantity)
    found = None if fail_on is None else regressions(comparison, fail_on)
    if page is not None:
        write_atomically(page, comparison_page(comparison, sides), replace=force)
    if as_json:
        files = [list(map(str, side)) for side in sides]
        say_json(comparison_document(comparison, words_of(quantity).unit, files, found))
    else:
        _print(comparison, sides, found)
    if found is None:
        return 0
    return FAILED if found.found or (found.undecided and not allow_inconclusive) else 0


def _loaded(sides: Sequence[Sequence[Path]]) -> tuple[list[Session], list[list[Session]]]:
    base, *others = [[load(file) for file in side] for side in sides]
    return base, others


def _print(comparison: Comparison, sides: Sequence[Sequence[Path]], found: Regressions | None) -> None:
    base = comparison.contrasts[0].base_runs
    say(f"{comparison.quantity.title}, beside the baseline {side_titled(base, sides[0])}")
    if comparison.caution:
        say(f"Note: {comparison.caution}")
    for runs in (base, *(contrast.other_runs for contrast in comparison.contrasts)):
        if results := [one for run in runs for one in run.ranks]:
            say(f"Not compared: {holds_text(results)}; show prints them")
    for contrast, files in zip(comparison.contrasts, sides[1:], strict=True):
        say("")
        print_contrast(comparison.quantity, contrast, files)
    if found is not None:
        say("")
        for line in chain(_undecided(comparison, found), _told(found)):
            say(line)


def _undecided(comparison: Comparison, found: Regressions) -> Iterator[str]:
    """Each point of which nothing is known, with the least change that would have been found."""
    for contrast in comparison.contrasts:
        curves = contrast_curves(contrast)
        for pair in contrast.pairs:
            if not pair.decided(found.share):
                place = f"{pair.kernel}, {curves[pair.base.problem].label}, N = {pair.base.seqlen}"
                yield f"Undecided: {place}: {_least(pair)}"


def _least(pair: Pair) -> str:
    if pair.detectable is None:
        return pair.reason or "no change would be found"
    needed = "" if pair.threshold is None else f" (it takes {percent(pair.threshold)} to count)"
    return f"{percent(pair.detectable)} would be found{needed}"


def _told(found: Regressions) -> Iterator[str]:
    """What counts as a regression, how many there are, and of how many points nobody knows."""
    counts = (
        (found.worse, f"worse by {percent(found.share)} or more"),
        (found.broken, "no longer done"),
        (found.missing, "without a partner"),
    )
    told = [f"{count} {words}" for count, words in counts if count]
    if found.unjudged and not told:
        yield "Failed: nothing could be compared, so nothing says that there is no regression"
    elif told:
        unsure = f"; {found.undecided} undecided" if found.undecided else ""
        yield f"Regressions: {', '.join(told)}{unsure}"
    elif found.undecided:
        unseen = f"a change of {percent(found.share)} would not be found in {found.undecided} points"
        yield f"Undecided: {unseen}. {REMEDY}"
    else:
        yield f"No regression of {percent(found.share)} or more"

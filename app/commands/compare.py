"""`compare BASE OTHER...`: print what changed between saved sessions, and what may explain it."""

from pathlib import Path

from app.commands.contrast import print_contrast
from app.commands.exit_codes import FAILED
from app.commands.messages import say, say_json
from app.report.comparison_page import comparison_page
from app.words.kinds import words_of
from app.words.pairs import titled
from kernels.errors import InputError
from profiles.results.compare import MOST_OTHERS, Comparison, compare
from profiles.results.compare.document import document
from profiles.results.compare.regressions import Regressions, regressions
from profiles.results.compare.verdicts import percent
from profiles.results.quantity import Quantity
from profiles.store import load, write_whole


def run(
    base: Path,
    others: tuple[Path, ...],
    *,
    as_json: bool,
    quantity: Quantity,
    fail_on: float | None,
    page: Path | None,
    force: bool,
) -> int:
    """Print the comparison as text or as one JSON document, and write it as a page where one is named.

    1 where there is a regression and that fails.
    """
    files = _different(base, *others)
    sessions = [load(file) for file in files]
    comparison = compare(sessions[0], sessions[1:], quantity)
    found = None if fail_on is None else regressions(comparison, fail_on)
    if page is not None:
        write_whole(page, comparison_page(comparison, files), replace=force)
    if as_json:
        say_json(document(comparison, words_of(quantity).unit, list(map(str, files)), found))
    else:
        _print(comparison, files, found)
    return FAILED if found is not None and found.any else 0


def _different(*files: Path) -> tuple[Path, ...]:
    """The files, if there are not too many and each is another one."""
    if len(files) > 1 + MOST_OTHERS:
        raise InputError(f"compare takes a baseline and up to {MOST_OTHERS} others, not {len(files) - 1}")
    seen: dict[Path, Path] = {}
    for file in files:
        if (first := seen.setdefault(file.absolute().resolve(), file)) is not file:
            raise InputError(f"{first} is given twice; a session compared with itself says nothing")
    return files


def _print(comparison: Comparison, files: tuple[Path, ...], found: Regressions | None) -> None:
    say(f"{comparison.quantity.title}, beside the baseline {titled(comparison.base, files[0])}")
    if comparison.caution:
        say(f"Note: {comparison.caution}")
    for contrast, file in zip(comparison.contrasts, files[1:], strict=True):
        say("")
        print_contrast(comparison.quantity, contrast, file)
    if found is not None:
        say("")
        say(_told(found))


def _told(found: Regressions) -> str:
    """What counts as a regression, and how many there are."""
    counts = (
        (found.worse, f"worse by {percent(found.share)} or more"),
        (found.broken, "no longer done"),
        (found.missing, "without a partner"),
    )
    told = [f"{count} {words}" for count, words in counts if count]
    if found.unjudged and not told:
        return "Failed: nothing could be compared, so nothing says that there is no regression"
    if found.undecided and not told:
        return "Failed: the rounds are too few to find any regression among so many pairs, see the note"
    unsure = f"; {found.inconclusive} inconclusive" if found.inconclusive else ""
    most = f"Regressions: {', '.join(told)}" if told else f"No regression of {percent(found.share)} or more"
    return most + unsure

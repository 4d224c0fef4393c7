"""`trend FOLDER`: print how one quantity of a kernel developed over the sessions of a folder."""

from pathlib import Path
from typing import Any

from flashscope.app.commands.messages import say, say_json, tell
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.figures import spread_text
from flashscope.app.words.kinds import words_of
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.findings.trend import Entry, Kind, entries_by_curve
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.store import Headers, SessionFileError, listing, sessions_dir
from flashscope.profiles.store.collection import entries, holding


def run(folder: Path | None, *, kernel: str, seqlen: int, quantity: Quantity, as_json: bool) -> int:
    """Print a table for each machine, problem and protocol, or one JSON document."""
    folder = folder or sessions_dir()
    infos = [info for batch in listing(folder, Headers()) for info in batch]
    found = list(entries(holding(infos, kernel, seqlen), kernel, seqlen, quantity))
    unread = [info.error for info in infos if info.error]
    unread += [str(error) for error in found if isinstance(error, SessionFileError)]
    curves = entries_by_curve(entry for entry in found if isinstance(entry, Entry))
    if not curves and not as_json:
        raise InputError(f"no session in {folder} has {kernel} at N = {seqlen}")
    if as_json:
        say_json(_document(curves, kernel, seqlen, quantity, unread))
    else:
        _print(curves, kernel, seqlen, quantity)
        for reason in unread:
            tell(reason)
    return 0


def _document(
    curves: dict[Kind, list[Entry]], kernel: str, seqlen: int, quantity: Quantity, unread: list[str]
) -> dict[str, Any]:
    return {
        "kernel": kernel,
        "seqlen": seqlen,
        "quantity": quantity.key,
        "unit": words_of(quantity).unit,
        "curves": [kind._asdict() | {"sessions": members} for kind, members in curves.items()],
        "unreadable": unread,
    }


def _print(curves: dict[Kind, list[Entry]], kernel: str, seqlen: int, quantity: Quantity) -> None:
    say(f"{quantity.title} of {kernel} at N = {seqlen_text(seqlen)}")
    for kind, members in curves.items():
        say("")
        say(f"{kind.device}, {kind.problem}, {kind.protocol}")
        print_table(("date", "session", quantity.short), [_line(one, quantity) for one in members], keys=2)


def _line(entry: Entry, quantity: Quantity) -> tuple[str, str, str]:
    return entry.started_at[:10], entry.title, entry.reason or spread_text(quantity, entry.figure)

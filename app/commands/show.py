"""`show FILE`: print a saved session."""

from pathlib import Path

from flashscope.app.commands.messages import say, say_csv, say_json
from flashscope.app.commands.printed.against import print_against
from flashscope.app.commands.printed.audit import print_audit
from flashscope.app.commands.printed.cuts import print_landscape
from flashscope.app.commands.printed.ranks import print_ranks
from flashscope.app.commands.printed.table import print_session, print_why
from flashscope.app.words.results.holding import holding_text
from flashscope.app.words.results.provenance import of_session
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load


def run(
    file: Path,
    *,
    as_json: bool,
    as_csv: bool,
    against: tuple[str, ...] | None,
    why: bool = False,
    cuts: bool = False,
    audit: bool = False,
) -> int:
    """Print the session as a table, ratios, reasons, landscapes of cuts, audits, CSV or one JSON document."""
    session = load(file)
    if as_json:
        say_json(to_json(session, str(file), of_session(session, "saved").badge))
    elif as_csv:
        say_csv(to_csv(session, of_session(session, "saved").badge))
    elif not session.points and (against is not None or why):
        raise InputError(f"{file} holds no points, only {holding_text(session)}")
    elif against is not None:
        kernels = session.plan.kernels
        if not set(against) & set(kernels):
            told = ", ".join(against)
            raise InputError(f"{file} holds nothing of {told}, only {', '.join(kernels)}")
        print_against(session, against)
    elif why:
        print_why(session)
    elif cuts or audit:
        (_print_cuts if cuts else _print_audits)(session, file)
    else:
        print_session(session)
        if session.audits:
            names = ", ".join(one.model for one in session.audits)
            say(f"Its points replay the attention of {names}; --audit prints what was recorded of it.")
        print_ranks(session.ranks)
    return 0


def _print_cuts(session: Session, file: Path) -> None:
    if not session.landscapes:
        raise InputError(f"{file} holds no landscapes of cuts; the command cuts makes some")
    for landscape in session.landscapes:
        print_landscape(landscape)


def _print_audits(session: Session, file: Path) -> None:
    if not session.audits:
        raise InputError(f"{file} holds no audits of models; the command audit makes one")
    for one in session.audits:
        print_audit(one, rows(session))

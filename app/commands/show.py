"""`show FILE`: print a saved session."""

import sys
from argparse import Namespace

from app.commands.comparison import print_comparison
from app.commands.table import print_session
from kernels.errors import InputError
from profiles.export import to_csv, to_json
from profiles.store import load


def run(options: Namespace) -> int:
    """Print the session as a table, as ratios to some kernels, as CSV or as one JSON document."""
    session = load(options.file)
    if options.json:
        print(to_json(session, str(options.file)).decode())
    elif options.csv:
        sys.stdout.write(to_csv(session))
    elif options.against is not None:
        kernels = session.plan.kernels
        if not set(options.against) & set(kernels):
            told = ", ".join(options.against)
            raise InputError(f"{options.file} holds nothing of {told}, only {', '.join(kernels)}")
        print_comparison(session, options.against)
    else:
        print_session(session)
    return 0

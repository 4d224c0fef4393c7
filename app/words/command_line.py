"""What is typed in a terminal to get what the window shows."""

import shlex

from profiles.plan.request import Request

PROGRAM = "python main.py"


def command_line(request: Request) -> str:
    """The same sweep for a terminal."""
    return f"{PROGRAM} {shlex.join(['sweep', *request.words(), '--out', 'sweep.flashscope'])}"

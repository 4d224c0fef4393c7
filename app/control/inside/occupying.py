"""Keeps away what would disturb what is measured in Inside, or be disturbed by it."""

from functools import partial
from typing import Any, Protocol

from flashscope.app.control.inside.live_launch import LiveLaunch
from flashscope.app.control.inside.one_by_one import OneByOne

RECORDED = "A timeline is recorded: wait for its end, or cancel it in Timeline."
SAMPLED = "Stalls are sampled: wait for the end of that, or cancel it in Source."
LAUNCHED = "A launch in slow motion runs: wait for its end, or cancel it in Timeline."

Work = OneByOne[Any] | LiveLaunch


class Occupy(Protocol):
    """As Measuring.occupy."""

    def __call__(self, owner: object, reason: str, *, yields: bool) -> None:
        """Let nothing start beside it."""


def occupy_while_asked(occupy: Occupy, timelines: Work, stalls: Work, live: Work) -> None:
    """Have nothing but a sweep start while one of these is asked for: the engine puts that in order."""
    for work, reason in ((timelines, RECORDED), (stalls, SAMPLED), (live, LAUNCHED)):
        work.changed.connect(partial(_tell, occupy, work, reason))


def _tell(occupy: Occupy, work: Work, reason: str) -> None:
    occupy(work, reason if work.asked is not None else "", yields=True)

"""The numbers of a step of the Stepper, by the names that a story's sentences have for them."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from flashscope.app.stepper.numbers import number, power

if TYPE_CHECKING:
    from flashscope.app.stepper.step_view import StepView

OF_STEP = ("step", "steps", "tile", "tiles", "exact", "error")
OF_ROW = ("m", "m-before", "m-tile", "l", "l-before", "alpha", "o")
EXPONENTS = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
OF_LANES = ("moved-standard", "moved-flash1", "moved-flash2", "moved-ratio")
NUMBERS = (*OF_STEP, *OF_ROW, *OF_LANES)
"""Before the first tile there are `step`, `steps` and `tiles` alone; `error` is that of the whole output.

What has moved is known in the mode Lanes, from the formulas; `moved-ratio` is standard's over flash2's.
"""


def step_numbers(view: "StepView") -> Mapping[str, str]:
    """Those that are known at this step, of the row watched; of O component 0, divided by l."""
    cursor, recording = view.cursor, view.recording
    known = {"step": str(cursor.at), "steps": str(cursor.last), "tiles": str(recording.tiles)}
    if view.started:
        known["tile"] = str(view.step.tile + 1)
    if view.local_row is not None:
        known |= _of_row(view, view.local_row)
    known |= view.story.numbers(cursor.at)
    if cursor.ended:
        known |= {
            "exact": number(float(view.history.exact[0])),
            "error": raised(power(recording.max_error)),
        }
    return known


def _of_row(view: "StepView", local: int) -> dict[str, str]:
    """What the tile has made of the row so far."""
    from flashscope.app.stepper.formulas import terms  # noqa: PLC0415 - NumPy takes a while to load, and every page is here

    x, reached = terms(view, local), view.step.reached
    known = {"m-before": number(x.m), "l-before": number(x.l)}
    if reached("scores"):
        known["m-tile"] = number(x.m_tile)
    if reached("maximum"):
        known |= {"m": number(x.m_new), "alpha": number(x.alpha)}
    if reached("weights"):
        known["l"] = number(x.l_new)
    if reached("output"):
        known["o"] = number(float(view.history.o[view.finished - 1, 0]))
    return known


def raised(text: str) -> str:
    """Exponents in characters of their own instead of HTML."""
    return re.sub("<sup>(.*?)</sup>", lambda found: found[1].translate(EXPONENTS), text)

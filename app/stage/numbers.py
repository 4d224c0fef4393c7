"""The numbers of a step of the Stepper, by the names that a story's sentences have for them."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flashscope.app.stepper.numbers import number, power
from flashscope.app.words.inside.stall_reasons import reason_title
from flashscope.app.words.units import digits, ms_text, share_text

if TYPE_CHECKING:
    from flashscope.app.stepper.step_view import StepView
    from flashscope.kernels.workload.timeline import StageTimeline
    from flashscope.profiles.results.model.stall_facts import StallChange, StallFacts
    from flashscope.profiles.results.model.timeline_facts import TimelineFacts

OF_STEP = ("step", "steps", "tile", "tiles", "exact", "error")
OF_ROW = ("m", "m-before", "m-tile", "l", "l-before", "alpha", "o")
NS_IN_MS = 1e6
EXPONENTS = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
OF_LANES = ("moved-standard", "moved-flash1", "moved-flash2", "moved-ratio")
OF_TIMELINE = ("span", "waits", "covered", "imbalance", "tail", "idle", "rows")
OF_STALLS = ("stall", "stall-share", "stall-change", "issued")
NUMBERS = (*OF_STEP, *OF_ROW, *OF_LANES, *OF_TIMELINE, *OF_STALLS)
"""Before the first tile there are `step`, `steps` and `tiles` alone; `error` is that of the whole output.

What has moved is known in the mode Lanes, from the formulas; `moved-ratio` is standard's over flash2's.
Those of a timeline are of a kernel: how long its run with clocks took, what share of their time its lanes
wait, how much of a softmax a product of another lane covers, the longest block over the shortest, how long
the last blocks run alone, how many rows, SMs on a GPU, have nothing to do, and how many there are. So are
those of stalls: the reason that holds most samples and its share, which one changed most from the step
before, and what issues.
"""


def timeline_numbers(
    timelines: Sequence["StageTimeline"], facts: Sequence["TimelineFacts"]
) -> Mapping[str, str]:
    """Those of timelines on show, as `waits of flash3`; what one does not tell is not among them."""
    known: dict[str, str] = {}
    for timeline, fact in zip(timelines, facts, strict=True):
        told = {
            "span": ms_text(timeline.span_ns / NS_IN_MS),
            "waits": share_text(fact.waits),
            "covered": None if fact.covered is None else share_text(fact.covered),
            "imbalance": digits(fact.imbalance),
            "tail": ms_text(fact.tail_ns / NS_IN_MS),
            "idle": str(fact.idle_rows),
            "rows": str(timeline.rows.shape[0]),
        }
        kernel = timeline.request.kernel
        known |= {f"{name} of {kernel}": text for name, text in told.items() if text is not None}
    return known


def stall_numbers(
    known: Sequence[tuple[str, "StallFacts"]], changes: Sequence["StallChange"]
) -> Mapping[str, str]:
    """Those of stalls on show, as `stall of flash3-c`, by kernel; the changes are those of the last one."""
    told: dict[str, str] = {}
    for kernel, facts in known:
        told[f"issued of {kernel}"] = share_text(facts.issued)
        if facts.most:
            told[f"stall of {kernel}"] = reason_title(facts.most)
            told[f"stall-share of {kernel}"] = share_text(facts.share(facts.most))
    if changes:
        most = changes[0]
        change = f"{reason_title(most.reason)}, {share_text(most.before)} to {share_text(most.after)}"
        told[f"stall-change of {known[-1][0]}"] = change
    return told


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
        known |= {"exact": number(float(view.history.exact[0])), "error": power(recording.max_error)}
    return {name: raised(text) for name, text in known.items()}


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

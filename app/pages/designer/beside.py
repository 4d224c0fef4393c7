"""What else is done, beside which the Designer neither times nor compiles."""

from flashscope.app.control.controller import Controller

BESIDE_A_SWEEP = "A sweep runs, and this would disturb it: time or compile when it has ended."
BESIDE_A_TIMELINE = "A timeline is recorded, and this would disturb it: time or compile when it has ended."
BESIDE_STALLS = "Stalls are sampled, and this would disturb it: time or compile when that has ended."
BESIDE_A_LAUNCH = (
    "A launch in slow motion runs, and would disturb what is timed: end it, or wait for its end."
)


def why_not_compiled(controller: Controller) -> str:
    """Why nothing is compiled now, as it would disturb what is measured; empty: it would not."""
    if controller.measuring:
        return BESIDE_A_SWEEP
    if controller.stalls.asked is not None:
        return BESIDE_STALLS
    return BESIDE_A_TIMELINE if controller.timelines.asked is not None else controller.occupied


def why_not_timed(controller: Controller) -> str:
    """Why nothing is timed now, which a launch in slow motion would disturb, too; empty: it can be."""
    return why_not_compiled(controller) or (BESIDE_A_LAUNCH if controller.live.asked is not None else "")

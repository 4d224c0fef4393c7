"""What else is done, beside which the Designer neither times nor compiles."""

from flashscope.app.control.controller import Controller

BESIDE_A_SWEEP = "A sweep runs, and this would disturb it: time or compile when it has ended."


def why_not_beside(controller: Controller) -> str:
    """Why nothing is timed or compiled now, as that would disturb what is measured; empty: it would not."""
    return BESIDE_A_SWEEP if controller.measuring else controller.others_measure

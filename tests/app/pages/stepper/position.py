"""Where a page of the Stepper is in its trace."""

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.stepper.cursor import Cursor


def at(page: StepperPage) -> int:
    """The number of the step that the page is at."""
    return here(page).at


def here(page: StepperPage) -> Cursor:
    """The place of a page that has a trace."""
    assert page.position is not None
    return page.position

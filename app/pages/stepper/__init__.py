"""The Stepper page: the online softmax, block by block, forward and back."""

from flashscope.app.pages.stepper.page import StepperPage

__all__ = ["StepperPage"]

"""The question before code of the user's own may run."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QMessageBox, QWidget

from flashscope.app.widgets.dialogs.question import confirmed
from flashscope.app.words.own.own_kernels import question
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.consent import allow, obstacle_of_file, obstacle_to_run

BRING, NOT_NOW = "Bring it in", "Not now"
PYTHON_TITLE, CUDA_TITLE = "Python code runs with your rights", "A file of CUDA code"
REFUSED = "Nothing has run: {} was not brought in."


def ask_to_bring(parent: QWidget, own: OwnKernel, *, named: bool, watched: bool = False) -> bool:
    """Ask once for a file with these bytes, in this run of the window; whether it may run.

    CUDA code that the user chose himself needs no question: it reads and writes what a launch gives it.

    Args:
        parent: The window that the question belongs to.
        own: What the file declares.
        named: Whether the user chose the file.
        watched: Whether each later save of it is to run, too.
    """
    if not obstacle_to_run(own):
        return True
    if own.function or not named:
        title, role = PYTHON_TITLE if own.function else CUDA_TITLE, QMessageBox.ButtonRole.AcceptRole
        words = question(own, named=named, watched=watched)
        if not confirmed(parent, title, words, go_on=BRING, role=role, stay=NOT_NOW):
            return False
    allow(own)
    return True


def why_not_run(
    parent: QWidget,
    kernels: Sequence[OwnKernel],
    is_named: Callable[[OwnKernel], bool] = lambda _own: False,
    *,
    watched: bool = False,
) -> str:
    """Ask for those of these that may not run yet; why they may not, in a sentence, or nothing.

    Args:
        parent: The window that the question belongs to.
        kernels: Those of a plan.
        is_named: Whether the user chose a kernel's file; by default none.
        watched: Whether each later save of it is to run, too.
    """
    for own in kernels:
        if obstacle := obstacle_of_file(own):
            return obstacle
    asked = ((own, ask_to_bring(parent, own, named=is_named(own), watched=watched)) for own in kernels)
    refused = next((own for own, agreed in asked if not agreed), None)
    return REFUSED.format(refused.name) if refused else ""

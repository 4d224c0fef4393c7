"""The source of a kernel of the user's own as a session measured it: kept there, or the file here."""

from collections.abc import Mapping
from typing import NamedTuple

from flashscope.app.pages.ladder.source_diff import SourceDiff, diff_of
from flashscope.app.words.own.own_kernels import origin
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.cuda.reading.step import StepSource
from flashscope.kernels.own.consent import obstacle_of_file
from flashscope.kernels.own.files import checked_bytes, file_of, kept_bytes
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.model.session import Session

OWN = "kernels of your own"  # in place of a problem that CUDA source is compiled for
KEPT = "Its text is kept in the session"
HERE = "Its text is that of the file on this machine, whose hash agrees; the session keeps none"
NO_TEXT = "Its text is not to be had: the session keeps none (--keep-source would)."
SPOILT = "Its text is not to be had: what the session keeps has another hash."
NO_STAGE = "A source of your own is not presented: choose a step of the ladder."
NOT_OURS = "Kernels of your own have neither machine code nor stalls here."


class OwnReading(NamedTuple):
    """A kernel's source, as far as it is to be had.

    Attributes:
        kernel: The kernel.
        sources: It, beside the version before where the session has that, too; None: it is not to be had.
        told: Where the text is from with hash and commit, or why there is none; in sentences.
    """

    kernel: OwnKernel
    sources: SourceDiff | None
    told: str


def own_of(session: Session | None) -> Mapping[str, OwnKernel]:
    """The kernels of the user's own that a session measured, by their names."""
    return {} if session is None else {one.name: one for one in session.plan.own}


def version_before(own: OwnKernel, known: Mapping[str, OwnKernel]) -> OwnKernel | None:
    """Another version of the same file, which stands behind this one in the plan; None: there is none."""
    names = [*known]
    behind = (known[name] for name in names[names.index(own.name) + 1 :])
    return next((one for one in behind if (one.path, one.function) == (own.path, own.function)), None)


def read_own(own: OwnKernel, before: OwnKernel | None) -> OwnReading:
    """Look for the text of a kernel, and of the version before; it may wait for a slow disk."""
    text, told = _text(own)
    if text is None:
        return OwnReading(own, None, f"{told} {obstacle_of_file(own)}".strip())
    earlier = None if before is None else _text(before)[0]
    file = file_of(own).name
    sources = diff_of(
        StepSource(before.name, file, before.name, earlier) if before and earlier is not None else None,
        StepSource(own.name, file, own.name, text),
        python=bool(own.function),
        alike_words="with the same source",
    )
    return OwnReading(own, sources, f"{told}: {origin(own)}")


def _text(own: OwnKernel) -> tuple[str | None, str]:
    """The text and where it is from; else None, and why."""
    if kept_bytes(own) is not None:
        return own.source, KEPT
    try:
        return checked_bytes(own).decode("utf-8-sig"), HERE
    except (InputError, UnicodeDecodeError):
        return None, NO_TEXT if own.source is None else SPOILT

"""What a step gained on a GPU, by the bundled recording that has the whole ladder."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from flashscope.app.control.bundled import BUNDLED, NAMES
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.scene import Scene
from flashscope.app.words.results.provenance import Provenance, of_session
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.store import SUFFIX, loading

NAME = "h200-peers"
TITLE = NAMES[NAME]


class LadderRecording(NamedTuple):
    """The recording: its points by the labels of their curves, and where they are from."""

    curves: Mapping[str, Sequence[PointRow]]
    provenance: Provenance
    digests: Mapping[str, str]

    def version_text(self, kernel: str) -> str:
        """What is known of the source that was measured; empty: it is the one on show."""
        if kernel not in self.digests:
            return "The recording does not say from which version of the source."
        same = self.digests[kernel] == source_digest("cuda", kernel)
        return "" if same else "It was measured from another version of the source."


@cache
def read_ladder_recording() -> LadderRecording:
    """Read the bundled recording, without its telemetry.

    Raises:
        SessionFileError: It cannot be read.
    """
    with loading(BUNDLED / f"{NAME}{SUFFIX}") as (session, _readings):
        curves = {curve.label: members for curve, members in by_curve(rows(session)).items()}
        return LadderRecording(curves, of_session(session, "saved"), session.machine.sources.get("cuda", {}))


def common_lengths(members: Sequence[PointRow], kernels: Sequence[str]) -> list[int]:
    """Where all of these kernels were measured."""
    of_each = [{row.seqlen for row in members if row.kernel == kernel and row.done} for kernel in kernels]
    return sorted(set[int].intersection(*of_each)) if of_each else []


def gain_text(members: Sequence[PointRow], kernel: str, before: str) -> str:
    """How much faster a kernel is than its predecessor at each N; why that is not known."""
    if not before:
        return f"{kernel} begins a ladder: nothing goes before it."
    both = common_lengths(members, (before, kernel))
    if not both:
        return f"The recording {TITLE!r} did not measure {kernel} and {before} on one problem of this kind."
    told = [
        f"{fill('{runtime against}', Scene(members, seqlen, kernel, before))} at {seqlen_text(seqlen)}"
        for seqlen in both
    ]
    return f"Beside {before}: {', '.join(told)}."

"""What the window says of a kernel that is watched: of its file, of what runs and waits, of each version."""

from collections.abc import Sequence
from typing import Literal

from flashscope.app.words.own.versions import ratio_words
from flashscope.profiles.watching.versions import PeerRatio, Version

VersionStage = Literal["waits", "checked", "timed"]
"""Of a version that has not ended: it waits for its turn, its answers are checked, or it is timed."""

STAGE_WORDS: dict[VersionStage, str] = {"waits": "waits", "checked": "checking …", "timed": "timing …"}
WHAT_IS_WATCHED = "Edit, save, see: no kernel is watched yet."
HOW_TO_WATCH = (
    "Watch measures a kernel of your own anew at each save of its .cu or .py file: it is compiled, checked "
    "against float64, and timed in turns beside the version before and a peer. "
    "Errors come with their line.\n\n"
    "Press the eye beside a kernel of yours in New sweep, which also says on which problem."
)
NOTHING_TO_WATCH = "There is no kernel of yours to watch yet: bring one first."
RIGHTS = "Each save runs with your rights, without another question."
SAME_SOURCES = "Their sources are the same."
ALONE = "v{} is the first: save the file again, and the two stand side by side."


def watch_sentence(file: str, peers: Sequence[str], *, active: bool, missing: str, waits: str) -> str:
    """How it stands, in one sentence.

    Args:
        file: The file's name.
        peers: What versions are timed beside.
        active: Whether it is watched.
        missing: Why it cannot be read; empty: it can.
        waits: Which version waits, and why; empty: none does.
    """
    if not active:
        return f"{file} is watched no more."
    if missing:
        return f"{missing}; waiting for it."
    if waits:
        return f"{waits.rstrip('.')}."
    return f"Watching {file}: each save is timed beside the version before and {' and '.join(peers)}."


def ratio_cells(version: Version) -> tuple[str, str]:
    """How many times as fast a version is as the one before, and as its peers, each with its interval."""
    ratios = [one for cell in version.cells for one in cell.ratios]
    before = [one for one in ratios if one.to == version.before]
    return _joined(before), _joined([one for one in ratios if one.to != version.before])


def _joined(ratios: Sequence[PeerRatio]) -> str:
    return "; ".join(map(ratio_words, ratios))

"""The names that a stop of a story may use, and what is said of one that there is not."""

from collections.abc import Sequence
from difflib import get_close_matches

from flashscope.kernels.workload.errors import InputError

SAID = 80  # characters of a name that are said of it
MEMORIES = "memories"
"""The mode of the Roofline that shows the memories of its device."""
STALLS = "stalls"
"""The mode of Source that shows where the stalls of a step went."""
OF_RANKS = "memory", "lanes"
"""The modes of Ranks that show these in place of the efficiency."""


def presets() -> Sequence[str]:
    """What the Stepper walks through."""
    from flashscope.app.stepper.presets import PRESETS  # noqa: PLC0415 - NumPy takes a while to load, and every page is here

    return [preset.key for preset in PRESETS]


def modes(page: str) -> Sequence[str]:
    """The modes that a page has."""
    if page == "roofline":
        return (MEMORIES,)
    if page == "ladder":
        return (STALLS,)
    if page == "ranks":
        return OF_RANKS
    from flashscope.app.stepper.modes import MODES  # noqa: PLC0415 - as above

    return [mode.key for mode in MODES]


def check_among(name: str, names: Sequence[str], what: str) -> None:
    """Refuse a name that is not among these.

    Raises:
        InputError: It is not; the text names the nearest, or all there are.
    """
    if name in names:
        return
    meant = get_close_matches(name[:SAID], names, n=1)
    told = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(names)}"
    raise InputError(f"there is no {what} {name[:SAID]!r}; {told}")

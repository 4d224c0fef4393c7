"""What each fault is called, and what it gets wrong, in words."""

from dataclasses import dataclass

from flashscope.kernels.workload.trace import Fault

MODELLED = "A model of a race: on a GPU it depends on the moment which keys are late."


@dataclass(frozen=True)
class FaultWords:
    """One fault in words.

    Attributes:
        title: Its name on screen.
        does: What the kernel does wrong, in a sentence.
        note: What is not as on a GPU; empty: nothing.
    """

    title: str
    does: str
    note: str = ""


WORDS: dict[Fault, FaultWords] = {
    "no-rescale": FaultWords(
        "Forget the rescale", "ℓ and O that were summed under the old maximum are not multiplied by α."
    ),
    "no-maximum": FaultWords("Skip the maximum", "P is exp(S): no maximum is subtracted."),
    "softmax-per-tile": FaultWords(
        "A softmax per tile",
        "Each tile is divided by its own sum and added to O, which nothing else divides.",
    ),
    "float16-accumulators": FaultWords(
        "float16 accumulators", "ℓ and O are rounded to float16 after every tile."
    ),
    "diagonal-masked": FaultWords(
        "Causal edge: diagonal masked",
        "The causal mask hides the diagonal too: one key too few in every row.",
    ),
    "key-beyond-diagonal": FaultWords(
        "Causal edge: one key beyond",
        "The causal mask of a tile keeps one key beyond the diagonal; the tiles that run are the right ones.",
    ),
    "stale-keys": FaultWords(
        "A missing barrier",
        "The later half of every tile's keys is read before it has arrived: K and V of the tile before.",
        MODELLED,
    ),
}


def title_of(fault: Fault) -> str:
    """Its name on screen; empty without a fault."""
    return WORDS[fault].title if fault else ""

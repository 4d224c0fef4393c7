"""The words of stalls: NVIDIA's reasons, each in a sentence."""

from flashscope.app.words.glossary.terms import Meaning
from flashscope.app.words.inside.stall_reasons import REASONS
from flashscope.kernels.workload.stalls import ISSUED

TAKEN = ("barrier", "wait", "misc", "drain")  # words that mean other things, too

STALLS = (
    Meaning("stall", "A warp that issues nothing in a cycle; the hardware says why.", ("stalls",)),
    Meaning(
        "stall profile",
        "Samples of where the warps of one launch stood and why, taken by the hardware every few cycles.",
        ("stall profiles", "PC sampling"),
    ),
    Meaning(
        "issued",
        "Samples of warps that issue their instruction in that cycle; NVIDIA's word for them is selected.",
        (REASONS[ISSUED].title,),
    ),
    *(
        Meaning(f"stall {words.title}", words.line, () if words.title in TAKEN else (words.title,))
        for reason, words in REASONS.items()
        if reason != ISSUED
    ),
)

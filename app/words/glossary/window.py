"""The terms of this program's window: its places, what is presented, and what its parts do."""

from flashscope.app.words.glossary.terms import Meaning

WINDOW = (
    Meaning("story", "A talk in a file: stops, each a view of a session with a sentence.", ("stories",)),
    Meaning(
        "stop",
        "One step of a story: what is on the stage, and the sentence that is said of it.",
        ("stops",),
    ),
    Meaning(
        "own kernels",
        "Kernels of your own, from files of yours: they are read here, and run in a worker alone.",
        ("yours", "own kernel"),
    ),
    Meaning("claim", "What a document says of attention, with an experiment that tests it.", ("claims",)),
    Meaning("stands in", "The document that makes the claim, and in which line; the tip has its title."),
    Meaning("card", "The one GPU of its model that was measured; another of the same model is another card."),
    Meaning("kernel source", "The code of the kernels: with another version other machine code may be run."),
    Meaning(
        "geometric mean",
        "The mean of ratios: twice as fast and half as fast come to no change.",
    ),
    Meaning(
        "changed by the clock alone",
        "The runtime is another, but not the clock cycles that it took: the GPU ran at another clock.",
        ("points changed by the clock alone",),
    ),
    Meaning(
        "memories",
        "Of a device, from the registers to its RAM: what each holds, and how fast, as the session measured.",
    ),
    Meaning("core's cache", "The caches of one core of a processor, L1 and L2.", ("core cache",)),
    Meaning("last cache", "The largest cache of a processor, which its cores share.", ("last-level cache",)),
    Meaning(
        "tile counter",
        "A number in the GPU's memory by which thread blocks take the next tile each: few bytes.",
    ),
    Meaning("running O", "The output so far, which is scaled anew whenever a larger score comes."),
    Meaning("PV tile", "The product of a tile of P and a tile of V, before it is added to O."),
    Meaning(
        "exact ledger",
        "Every buffer that a kernel allocates, by formula: what the allocator's peak is compared with.",
    ),
    Meaning("by model", "A device that is known by the name of its model alone, not as one certain card."),
    Meaning("KV cache", "K and V of all tokens so far, kept so that the next one need not compute them."),
    Meaning("warm-up", "Runs before the samples that do not count: they load code and raise the clock."),
    Meaning("freeze", "Have the lanes of the telemetry stand still until the next session is on show."),
    Meaning("break", "Where the Stepper stops by itself: at events that are chosen, such as a new maximum."),
    Meaning("autosaved", "Every point is in the file as soon as it is measured; nothing need be saved."),
    Meaning("NVML", "NVIDIA's library that reads memory, power, clocks and temperature of a GPU."),
    Meaning(
        "exponentials",
        "What softmax takes of every score; units of their own compute them, at a lower rate.",
    ),
)

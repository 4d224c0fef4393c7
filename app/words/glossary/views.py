"""The terms of places and views, and of what stands in them beside quantities and kernels."""

from flashscope.app.words.glossary.terms import Meaning

PLACES = (
    Meaning(
        "measure", "The place of one session: its curves, traffic, roofline, telemetry, results and notes."
    ),
    Meaning("inside", "The place of one kernel: what it does step by step, when, and by which source."),
    Meaning("library", "All sessions on this machine, and those that come with the program."),
    Meaning(
        "curves", "A quantity of each kernel over N: a dot for each point, which is a median of samples."
    ),
    Meaning("traffic", "Bytes that cross a memory's bus while a kernel runs, read and written."),
    Meaning(
        "why?",
        "What binds a point: a memory, the products or the exponentials, by how long each would take alone.",
        ("roofline & why",),
    ),
    Meaning(
        "source", "The CUDA of a kernel as it is compiled, beside that of the kernel that it goes on from."
    ),
    Meaning(
        "designer", "Cuts of a kernel against the limits of a card: what fits, what refuses, what binds."
    ),
    Meaning(
        "cut",
        "How the blocks of a kernel are made: rows and keys of a tile, warps, stages, blocks an SM.",
        ("cuts",),
    ),
    Meaning(
        "landscape",
        "Cuts of a kernel side by side, each with how long it took, or why it does not run.",
        ("landscapes",),
    ),
    Meaning(
        "watch", "A kernel of your own, measured anew at each save of its file, beside the version before."
    ),
    Meaning(
        "compare", "Sessions beside a baseline: what became faster or slower, and what is too small to say."
    ),
    Meaning("over time", "How one quantity of a kernel at one N developed over the sessions on record."),
    Meaning("planner", "How long a context of a model fits in a GPU's memory, with tiling and without."),
    Meaning("audit", "Which attention a model's steps ask for, what ran, and what another kernel gains."),
    Meaning("live", "Measured now, on this machine; on the Timeline: launched in slow motion, never timed."),
    Meaning(
        "saved", "Read from the file of a session; the badge says on what device, and when it was measured."
    ),
)
ON_THE_CHIP = (
    Meaning("shipped", "The cut that the kernel itself takes for this problem.", ("shipped cut",)),
    Meaning(
        "reserved", "Shared memory that the driver takes of an SM for each block, beside the block's own."
    ),
    Meaning(
        "fragment", "The 16 query rows that a warp gives the tensor cores in one instruction.", ("fragments",)
    ),
    Meaning("producer", "The warpgroup of flash3 that only copies tiles, for the consumers that compute."),
    Meaning("TMA", "The unit of a GPU since Hopper that copies whole tiles while its threads do other work."),
    Meaning("MUFU", "The instruction for exponentials, logarithms and reciprocals, and the unit it runs on."),
)
STEPPER = (
    Meaning("follow", "Watch the row at the same place of whichever query block is computed."),
    Meaning(
        "blocks mode", "One kernel tile by tile: scores, weights, memory, formulas and the state of a row."
    ),
    Meaning(
        "broken",
        "Broken on purpose: a fault beside the right trace, where it leaves the truth, by how much.",
    ),
    Meaning("fault", "What a broken trace gets wrong on purpose, as a kernel may by a mistake in its code."),
    Meaning(
        "first wrong tile", "The first tile after which the answer so far is beyond what passes the check."
    ),
    Meaning(
        "distance of O so far",
        "How far O of the row watched is from the exact answer to the keys that it has met so far.",
    ),
    Meaning(
        "predict", "A mode that hides the next value and asks for it; wrong choices are common mistakes."
    ),
    Meaning("own problem", "A trace of a shape of your choice: N, d, tiles, mask, order and seed."),
    Meaning("own scores", "A trace of scores that you type, as on a slide: 1, 3 | 2, 0.5."),
    Meaning("attention sink", "A key, often the first, that takes most of the weight of all rows."),
    Meaning("logits", "Scores before their softmax.", ("logit",)),
    Meaning("one-hot", "Weights of which one is 1 and all others are 0."),
    Meaning("barrier", "Where threads wait for each other, so that nothing is read before it is written."),
    Meaning(
        "accumulator", "Where a sum is kept while its terms come: ℓ and O, in float32.", ("accumulators",)
    ),
)
COMPARISON = (
    Meaning(
        "pair", "The same kernel on the same problem in the baseline and in another session.", ("pairs",)
    ),
    Meaning(
        "without a partner",
        "Points of one session that the other has none like; the nearest one there is named.",
        ("points without a partner",),
    ),
    Meaning("here", "In Compare: in the other session, not in the baseline."),
    Meaning("ratio to the baseline", "A figure divided by the baseline's at the same point: 1 is no change."),
    Meaning("heat map", "A cell for each kernel and problem, the stronger its colour the larger the change."),
    Meaning("join", "Mark sessions of one plan as runs of it, so that they are one row and one side."),
    Meaning("resume", "Measure what is left of a session's plan, into the same file."),
)
NUMBERS = (
    Meaning("float32", "Numbers of 32 bits, about seven digits.", ("single precision",)),
    Meaning("float64", "Numbers of 64 bits, about sixteen digits: what answers are checked with."),
    Meaning("float16", "Numbers of 16 bits, about three digits, up to 65,504.", ("half precision", "fp16")),
    Meaning("bfloat16", "Numbers of 16 bits with the range of float32 and between two and three digits."),
    Meaning(
        "token", "A piece of text, about a word; attention has a row of Q, K and V for each.", ("tokens",)
    ),
    Meaning("forward", "The pass that computes O from Q, K and V."),
    Meaning("backward", "The pass that computes the gradients dQ, dK and dV from that of O."),
    Meaning("spread", "Of B sequences in a batch the first has N / B keys, the last all N: a ragged batch."),
    Meaning("FLOP", "One floating-point operation: an addition, or a multiplication.", ("FLOPs",)),
    Meaning("GB/s", "A thousand million bytes in a second; bytes that are moved are counted in tens."),
    Meaning("TB/s", "A million million bytes in a second."),
)
CUDA = (
    Meaning("CUDA", "NVIDIA's way to program its GPUs; the kernels here are written in its C++."),
    Meaning("CuPy", "The Python library that compiles and launches the CUDA kernels here."),
    Meaning(
        "launch", "One start of a kernel's code on the GPU; standard attention takes three.", ("launches",)
    ),
    Meaning("thread block", "Threads of one multiprocessor that share its memory and work on one tile."),
    Meaning(
        "warpgroup", "Four warps of 32 threads that multiply matrices together on Hopper.", ("warpgroups",)
    ),
    Meaning("GPM", "NVML's counters of how busy the parts of a GPU are; on Hopper and newer."),
    Meaning(
        "Perfetto", "A viewer of traces in the browser, ui.perfetto.dev, that timelines are written for."
    ),
)
VIEWS = (*PLACES, *ON_THE_CHIP, *STEPPER, *COMPARISON, *NUMBERS, *CUDA)

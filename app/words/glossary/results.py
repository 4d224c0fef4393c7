"""The terms of measuring, and of what comes of it, that stand on screen and are no quantity."""

from flashscope.app.words.glossary.terms import Meaning

MEASURING = (
    Meaning("session", "All that one sweep measured, in one file."),
    Meaning(
        "runs of one plan",
        "One sweep made several times, each by processes of its own, to see what differs between them.",
        ("between runs",),
    ),
    Meaning("sweep", "Kernels measured over sequence lengths, one after the other."),
    Meaning("point", "One kernel on one problem, as one sweep measured it."),
    Meaning("samples", "The timed runs of a point, all of which are kept."),
    Meaning("protocol", "How each point is measured: how often, with which cache, in which order."),
    Meaning("repeats", "How many samples are taken of each point."),
    Meaning("round", "One sample of each kernel that takes turns.", ("rounds",)),
    Meaning(
        "cap / point",
        "After how long a point gets no more samples, of which there are 3 at least.",
        ("time cap",),
    ),
    Meaning("cold", "The last-level cache is flushed before each sample: the inputs come from memory."),
    Meaning("warm", "The cache is left as the run before left it."),
    Meaning(
        "cache",
        "The last-level cache, flushed before each sample or not; in the Planner, K and V of past tokens.",
    ),
    Meaning(
        "in turns",
        "The kernels of one N are sampled A B A B, so that a clock that drifts meets all alike.",
        ("kernels in turns",),
    ),
    Meaning("shuffle N", "The sequence lengths are measured in an order drawn from the seed."),
    Meaning("drift", "How far the same runs have become slower or faster while a sweep ran."),
    Meaning("drift check", "What was measured first is measured again at the end, to see the drift."),
    Meaning(
        "sustained",
        "Of a kernel that runs back to back until power and heat have settled the clock.",
        ("sustained runs",),
    ),
    Meaning("burst", "Of single runs with rests between them, at nearly the highest clock."),
    Meaning("median", "The middle one of the samples, which a point stands for."),
    Meaning(
        "quartiles",
        "The values under which a quarter and three quarters of the samples lie.",
        ("q1", "q3", "q1–q3"),
    ),
    Meaning(
        "whisker",
        "The line through a point from the lower to the upper quartile of its samples.",
        ("whiskers",),
    ),
    Meaning(
        "counters",
        "Hardware counters: what the GPU itself counted of the bytes that a run moved.",
        ("counters read", "by counters"),
    ),
    Meaning(
        "verify against float64",
        "Every output is compared with attention computed in float64 before it is timed.",
    ),
    Meaning("oracle", "Attention computed in float64, which outputs are compared with."),
    Meaning("dry run", "What every point would need, by formula, beside what is free: nothing runs for it."),
    Meaning(
        "runs",
        "How often a sweep is made, by fresh processes each: what differs between runs, no sample shows.",
    ),
    Meaning("queue", "The sweeps that wait for the one that runs, in the order in which they will begin."),
    Meaning("preset", "A set of choices made ahead, for a question that is often asked.", ("presets",)),
    Meaning("replay", "A saved session played again as if it were measured now, at any pace."),
    Meaning("part", "What a sweep measured between two interruptions; one that is resumed has several."),
    Meaning(
        "efficiency",
        "The share of a sweep's time that went into launches and checks, not into preparing them; in Ranks, "
        "what one device takes over n times what n take.",
    ),
)
OUTCOMES = (
    Meaning("status", "What became of a point: done, or why it has no figures."),
    Meaning("done", "Measured; where outputs are verified, with a right one."),
    Meaning("will not fit", "Its predicted bytes exceed what is free, so it was not launched."),
    Meaning("oom", "Out of memory: it was launched, and an allocation failed.", ("out of memory",)),
    Meaning("timeout", "It was not done within its deadline and was stopped."),
    Meaning("wrong", "Its output failed the comparison with float64."),
    Meaning("failed", "It ended with an error, which its reason tells."),
    Meaning("unsupported", "The kernel does not take this problem, or not on this device."),
    Meaning("altered", "Its rows in the file are not those that were written, so it has no figures."),
    Meaning("cancelled", "It was stopped by hand."),
    Meaning("pending", "Its turn has not come yet."),
    Meaning("running", "It is being measured now."),
    Meaning("interrupted", "The program or the machine ended while it ran."),
    Meaning(
        "trust", "How far to rely on a point's figures, by its samples and by what was seen around them."
    ),
    Meaning("solid", "Nothing that was looked at speaks against the point."),
    Meaning("fair", "Something speaks against the point, but not much; its tip says what."),
    Meaning("doubtful", "Its runtime cannot be relied on: it is left out of sentences and comparisons."),
    Meaning(
        "impossible",
        "Faster than its device can be: it is never the fastest, and nothing is compared with it.",
    ),
)
COMPARING = (
    Meaning(
        "verdict",
        "What a comparison says of a pair (faster, slower, same, inconclusive), or a test of a claim.",
    ),
    Meaning("inconclusive", "The samples decide neither for a change nor against one."),
    Meaning("ratio", "The other's value over the baseline's."),
    Meaning("95% interval", "Where the ratio lies, but for one time in twenty."),
    Meaning("only in", "The session that has the point; the one it is compared with has none like it."),
)
TRAFFIC = (
    Meaning(
        "compulsory DRAM",
        "What must cross the bus however clever a kernel is: what masks leave of inputs, and outputs, once.",
        ("compulsory",),
    ),
    Meaning(
        "tile IO",
        "What the loops of a tiled kernel move between L2 and the multiprocessors, by formula.",
        ("tile traffic",),
    ),
    Meaning(
        "model",
        "By theory, never measured: dotted lines in plots. In the Planner: the language model.",
        ("dotted", "formula", "by formula"),
    ),
    Meaning("ringed", "The same figure by another instrument, of recordings that hold it."),
    Meaning(
        "roofline", "Points under what their device can reach: the rate of a copy, then that of products."
    ),
    Meaning(
        "ceiling",
        "What the device was seen to reach in a test of its own: a copy, products, exponentials.",
        ("ceilings",),
    ),
    Meaning(
        "intensity",
        "Floating-point operations for each byte moved; left of the roof's bend bytes bind.",
        ("FLOP/B",),
    ),
    Meaning("TFLOP/s", "10¹² floating-point operations a second, of query-key pairs that the mask keeps."),
    Meaning(
        "GiB",
        "2³⁰ bytes, for memory that is held; what is moved is in GB, 10⁹ bytes, as are rates.",
        ("MiB", "KiB"),
    ),
)
PLANNING = (
    Meaning("device", "What kernels run on: a GPU, or the processor."),
    Meaning("context", "How many tokens a model looks back on."),
    Meaning("weights", "The model's own numbers, held beside the attention."),
    Meaning(
        "layers", "How many times a model attends, one after the other; each layer has a cache of its own."
    ),
    Meaning(
        "latent", "What a cache holds of a token in place of K and V, from which both are computed again."
    ),
    Meaning("parameters", "How many numbers the whole model has."),
    Meaning("bytes / weight", "What one of the model's numbers takes: 2 in 16 bits, 1 in 8, 0.5 in 4."),
    Meaning(
        "memory",
        "What the device has; in the Stepper where the tensors are, what a tile is computed in, and what is "
        "moved between the two.",
    ),
    Meaning("held at once", "Whether the attention of every layer is held, as in training, or of one layer."),
    Meaning("S, P, state", "What a kernel holds beside its tensors: scores and weights, or a running state."),
    Meaning("in all", "Attention, cache and weights together."),
    Meaning("fits", "Whether all of it has room in the memory."),
    Meaning("forecast, layer", "How long one layer's attention would take, from the times of a recording."),
    Meaning("forecast, all", "How long the attention of all layers would take."),
    Meaning(
        "forecast's error",
        "How far off a forecast may be, by its point's quartiles and by how rates change over N.",
    ),
    Meaning("longest context", "The most tokens whose memory still fits the GPU."),
    Meaning("bound by", "What takes most of the memory at the longest context."),
)
RESULTS = (*MEASURING, *OUTCOMES, *COMPARING, *TRAFFIC, *PLANNING)

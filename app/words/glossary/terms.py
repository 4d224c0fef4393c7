"""The terms of the field and of this program that stand on screen and are neither quantity nor kernel."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """A word and what it means.

    Attributes:
        name: As it stands on screen.
        line: What it means, in a sentence of plain words.
        also: Other ways of writing it that stand on screen or are looked for.
    """

    name: str
    line: str
    also: tuple[str, ...] = ()


PROBLEM = (
    Meaning(
        "N",
        "The sequence length: how many keys a query looks at, and how many queries unless these are fewer.",
    ),
    Meaning(
        "sequence length",
        "How many tokens attend to each other; the axis of most plots.",
        ("sequence lengths", "sequence length N"),
    ),
    Meaning("problem", "One attention workload: lengths, heads, head dim, dtype, batch, pass and masks."),
    Meaning(
        "head dim",
        "The width of one head, d: how many numbers a query, a key or a value has.",
        ("d", "head dim d"),
    ),
    Meaning("heads", "How many attentions run side by side on a sequence, each on queries of its own."),
    Meaning("kv heads", "Heads of K and V; where there are fewer than heads of Q, several of Q share one."),
    Meaning(
        "GQA", "Grouped-query attention: groups of query heads share a head of K and V.", ("grouped-query",)
    ),
    Meaning("MQA", "Multi-query attention: all query heads share one head of K and V.", ("multi-query",)),
    Meaning("batch", "Independent sequences that are computed in one run."),
    Meaning(
        "query rows",
        "Rows of Q; fewer than N as in decoding, where one new token looks at all keys before it.",
    ),
    Meaning(
        "dtype", "The type of the numbers in Q, K, V and O: float32, or float16 and bfloat16 in 16 bits."
    ),
    Meaning(
        "pass", "What a run computes: forward O, backward the gradients dQ, dK and dV, or both.", ("passes",)
    ),
    Meaning(
        "deterministic", "With the same bits in every run; sums in a free order differ in their last bits."
    ),
    Meaning(
        "lengths",
        "Whether all sequences of a batch are as long as N, or each has a length of its own.",
        ("ragged",),
    ),
    Meaning(
        "pages",
        "K and V in pieces that lie anywhere in memory, as a server holds its cache.",
        ("paged", "page size"),
    ),
    Meaning(
        "mask", "What says which query looks at which key; what it hides is neither computed nor counted."
    ),
    Meaning(
        "causal", "A mask that lets a query see no key after it, as in a model that writes word by word."
    ),
    Meaning(
        "window",
        "A mask that lets a query see only the keys so near before and after it.",
        ("sliding window",),
    ),
    Meaning(
        "block mask",
        "A mask that keeps or hides whole blocks of the scores; a kernel can skip hidden ones.",
    ),
    Meaning(
        "blocks",
        "Parts of the scores: a block mask keeps or hides whole ones, a tiled kernel takes one at a time.",
    ),
    Meaning(
        "dim of V",
        "How many numbers a value has, where that is not the head dim of queries and keys.",
        ("values of another head dim",),
    ),
    Meaning(
        "softcap",
        "A bound of the scores: c tanh(s / c) takes the place of a score s, so that none leaves -c to c.",
        ("softcapped",),
    ),
    Meaning(
        "sinks",
        "A learned score for each head, without a value: it takes weight from a row's keys.",
        ("sink", "attention sinks"),
    ),
    Meaning(
        "ALiBi",
        "A bias that falls with the distance of a key from its query, in each head at another slope.",
    ),
    Meaning("keys before", "How many keys before its own place a query sees through a window."),
    Meaning("keys after", "How many keys after its own place a query sees through a window."),
    Meaning("pattern of blocks", "Which blocks a block mask keeps, in words such as local:2 or strided:4."),
    Meaning("block", "How many queries and keys a block of a block mask has."),
    Meaning("seed", "The number that random inputs, random blocks and a shuffled order are drawn from."),
    Meaning("backend", "Where kernels run: cuda on an NVIDIA GPU, cpu on the processor.", ("CUDA", "CPU")),
)
ALGORITHM = (
    Meaning(
        "attention",
        "softmax(QKᵀ) V: every query takes a mean of the values, weighted by how well their keys fit it.",
    ),
    Meaning("S", "The scores QKᵀ: a number for every query and key; N × N of them.", ("scores", "scores S")),
    Meaning(
        "P", "The weights: the softmax of a row of scores; they are 0 to 1 and sum to 1.", ("weights P",)
    ),
    Meaning("O", "The output: for each query the mean of the values, weighted by P.", ("output O",)),
    Meaning(
        "m",
        "The largest score of a row so far; it is taken off before exp, so that nothing overflows.",
        ("max m", "row maximum"),
    ),
    Meaning("ℓ", "The sum of a row's exponentials so far, by which O is divided in the end.", ("l", "sum ℓ")),
    Meaning(
        "α",
        "The factor that brings what was summed so far to a new maximum: 1 where that has not risen.",
        ("alpha", "rescale α"),
    ),
    Meaning("LSE", "Log-sum-exp, m + log ℓ: all that a backward pass needs to know of a row's softmax."),
    Meaning(
        "online softmax",
        "A softmax computed tile by tile, which corrects what it has when a larger score comes.",
    ),
    Meaning("tile rows Br", "How many queries a tile has.", ("Br",)),
    Meaning("tile columns Bc", "How many keys a tile has.", ("Bc",)),
    Meaning(
        "tile",
        "A block of queries beside a block of keys, small enough for the memory on the chip.",
        ("tiles", "tiled", "tile j", "tile i"),
    ),
    Meaning(
        "slides’ β",
        "The slides' way of writing it: exponents relative to the tile's own maximum, with the factor "
        "β = e^(m̃ − m′).",
        ("slides' beta", "slides' β", "β", "beta"),
    ),
    Meaning(
        "flash1 order",
        "FlashAttention's first loop order, written for this app: not the library. K and V outer, Q "
        "inner: O goes back to memory after every tile.",
    ),
    Meaning("flash2 order", "Q outer, K and V inner: O stays on the chip and is normalised once."),
    Meaning(
        "naive",
        "Softmax within each tile alone: its weights sum to the number of tiles, and O is wrong.",
        ("naive against online",),
    ),
    Meaning(
        "trace",
        "What a run was seen to hold after every tile: m, ℓ, α and O, which the Stepper walks through.",
    ),
    Meaning("lanes", "Kernels side by side that do the same work at the same time, step by step."),
    Meaning(
        "timeline",
        "When and where each stage of each tile ran, by clocks in a build of the kernel that is never timed.",
        ("timelines",),
    ),
    Meaning(
        "stage",
        "A part of what a kernel does to a tile: load, QKᵀ, softmax, PV or store; backward others, too.",
    ),
    Meaning("walkthrough", "A trace step by step, as the Stepper shows it.", ("stepper",)),
)
KERNELS = (
    Meaning("kernel", "One implementation of attention, ours or a library's.", ("kernels",)),
    Meaning("ladder", "Our kernels in the order in which one goes on from another, from standard to flash3."),
    Meaning("peers", "Kernels of other libraries that the ladder is compared with.", ("library peers",)),
    Meaning("variants", "Steps on the way to a kernel, and what it can do otherwise."),
    Meaning("baseline", "What others are compared with: a kernel in plots, a session in Compare."),
)
GPU = (
    Meaning(
        "SM",
        "Streaming multiprocessor: one of the cores of a GPU, 132 in an H100 or H200.",
        ("SMs", "multiprocessor"),
    ),
    Meaning(
        "HBM", "The GPU's large memory outside the chip, fast for a DRAM and slow beside what is on the chip."
    ),
    Meaning("DRAM", "The device's main memory; on these GPUs that is HBM."),
    Meaning(
        "occupancy",
        "Warps that are on an SM at once, of those that it could hold; registers and shared memory bound it.",
    ),
    Meaning(
        "waves",
        "How often a kernel's tiles fill all places of a GPU; the last time may leave SMs idle.",
        ("wave",),
    ),
    Meaning(
        "spilled",
        "Bytes of a thread that its registers do not hold: memory keeps them, which costs time.",
        ("spills",),
    ),
    Meaning("L2", "The cache that all multiprocessors share, between them and DRAM."),
    Meaning(
        "shared memory",
        "The small fast memory within each multiprocessor, where tiles are worked on.",
        ("SRAM",),
    ),
    Meaning("tensor cores", "The parts of a multiprocessor that multiply small matrices."),
    Meaning(
        "SASS",
        "The machine code of an NVIDIA GPU, as its disassembler writes it; each architecture has its own.",
        ("machine code",),
    ),
    Meaning("busy", "The share of the driver's window in which any kernel ran; not how well it ran."),
    Meaning(
        "clock", "How many cycles the multiprocessors make a second; power and heat lower it.", ("clocks",)
    ),
    Meaning("power cap", "The power limit holds the clocks down, so that a long run is slower than a burst."),
    Meaning("throttled", "The driver names a reason for which the clocks are below what they could be."),
    Meaning(
        "telemetry", "What the driver tells of the whole device while a sweep runs, other programs included."
    ),
    Meaning("reading", "One sample of telemetry.", ("readings",)),
)
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
        "The share of a sweep's time that went into launches and checks, not into preparing them.",
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
        "What must cross the bus however clever a kernel is: inputs read once, outputs written once.",
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
TERMS = (*PROBLEM, *ALGORITHM, *KERNELS, *GPU, *MEASURING, *OUTCOMES, *COMPARING, *TRAFFIC, *PLANNING)

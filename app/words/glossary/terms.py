"""The terms of the field that stand on screen and are neither quantity nor kernel."""

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
TERMS = (*PROBLEM, *ALGORITHM, *KERNELS, *GPU)

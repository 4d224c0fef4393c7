"""The words of attention on several ranks."""

from flashscope.app.words.glossary.terms import Meaning

RANKS = (
    Meaning("rank", "A GPU, or a part of the host's memory, that holds a part of one sequence.", ("ranks",)),
    Meaning(
        "ring",
        "K and V go from rank to rank beside the products; of a causal mask the last rank has most to do.",
    ),
    Meaning(
        "zigzag", "A ring whose ranks have a chunk from either end: a causal mask gives each as much to do."
    ),
    Meaning("all-gather", "Each rank fetches all K and V before it computes; its rows are as in zigzag."),
    Meaning("ulysses", "Ranks trade rows for heads before attention, and back behind it."),
    Meaning("alone", "One device with all of it: the same kernel at the same N, in turns with the ranks."),
    Meaning(
        "limit of the mask",
        "The efficiency that its share of the work leaves to a scheme, were links to take no time.",
    ),
    Meaning("transfer", "The longest that something arrives at a rank."),
    Meaning("exposed", "The longest that something arrives at a rank while it computes no product."),
    Meaning("sent by a rank", "The bytes that the rank sends that sends most."),
    Meaning("memory of a rank", "What the rank holds that holds most, its part of the inputs with it."),
    Meaning(
        "share of what passes",
        "The largest error against float64 over the largest that passes; then the error of the first output.",
    ),
)

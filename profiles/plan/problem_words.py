"""A problem in words, as every room says it: in sentences, names of curves, messages and lists.

What is usual goes without saying: the forward pass, as many query rows as keys, full lengths.
"""

from functools import lru_cache

from flashscope.kernels.workload.lengths import SPREAD, lengths_words
from flashscope.kernels.workload.problem import Passes, Problem

PASS_WORDS: dict[Passes, str] = {"forward": "", "backward": "backward", "both": "forward + backward"}


def place_words(problem: Problem) -> str:
    """N and what is unusual: `N = 64`, `N = 64, backward, 1 query row`."""
    return ", ".join(filter(None, (f"N = {problem.seqlen}", unusual_words(problem))))


def unusual_words(problem: Problem) -> str:
    """The pass where it is not forward, query rows where they are not N, lengths, pages, softcap, if any."""
    return unusual_of(pass_words(problem), problem.queries, layout_words(problem), scoring_words(problem))


def unusual_of(passes: str, queries: int, layout: str, scoring: str) -> str:
    """The same of `pass_words`, the query rows or 0 where they are N, `layout_words` and `scoring_words`."""
    rows = f"{queries} query row{'s' * (queries > 1)}" if queries else ""
    return ", ".join(filter(None, (passes, rows, layout, scoring)))


def pass_words(problem: Problem) -> str:
    """The pass, as `deterministic backward`; empty where it is forward."""
    return " ".join(filter(None, ("deterministic" * problem.deterministic, PASS_WORDS[problem.passes])))


def layout_words(problem: Problem) -> str:
    """Lengths that are not all full, and pages: `lengths spread, pages of 64`; empty where there are none."""
    pages = f"pages of {problem.page_size}" if problem.page_size else ""
    return ", ".join(filter(None, (ragged_words(problem), pages)))


def scoring_words(problem: Problem) -> str:
    """What else models have done to scores, and V's head dim: `softcap 50, ALiBi, V of 64`; or nothing."""
    values = f"V of {problem.value_dim}" if "head_dim_v" in problem.features else ""
    softcap = "" if problem.softcap is None else f"softcap {problem.softcap:g}"
    return ", ".join(filter(None, (softcap, "sinks" * problem.sinks, "ALiBi" * problem.alibi, values)))


@lru_cache(maxsize=1024)  # a table asks again for every row it draws
def ragged_words(problem: Problem) -> str:
    """Lengths that are not all full, as a user would type them or told apart by a fingerprint; or nothing."""
    if "ragged" not in problem.features:
        return ""
    return SPREAD if problem.spreads_lengths else lengths_words(problem.query_lengths, problem.key_lengths)

"""The sentence over the plots: what a sweep says at the crosshair, in words."""

from flashscope.app.words.kinds import words_of
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import bytes_text, ms_text, seqlen_text
from flashscope.profiles.results.findings.headline import Clause, Headline, Loss, of_curves
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import FOOTPRINT, RUNTIME

LOSSES: dict[Loss, str] = {
    "will-not-fit": "will not fit",
    "oom": "ran out of memory",
    "timeout": "ran past its deadline",
    "wrong": "is wrong",
    "failed": "failed",
    "unsupported": "does not run",
    "impossible": "is faster than its device can be",
    "altered": "is not as it was recorded",
    "cancelled": "was cancelled",
    "interrupted": "was interrupted",
    "pending": "is not measured yet",
    "running": "is not measured yet",
    "doubtful": "has a doubtful runtime",
    "done": "has no runtime",
}
ON_A_CPU = "What tiling saves is traffic to memory: what that is worth in time, a GPU shows."
WORTH_TELLING = 1.05  # times as much memory: the pages of an allocation may make a difference of less
UNTIMED = "; its runtime cannot be trusted"
FROM_AFAR = 190  # characters of what is said on a stage: three lines at 1280 x 720
UNCHECKED = "The output was not compared with float64 attention."


def headline_text(headline: Headline | None) -> str:
    """The sentence; empty where nothing has ended yet."""
    if headline is None:
        return ""
    run = _run(headline)
    if not headline.kernel:
        return f"{run}No runtime can be trusted at N = {seqlen_text(headline.seqlen)}{_lost(headline)}."
    clauses = [_clause(headline, place) for place in range(len(headline.clauses))]
    joined = "".join(f"{_link(headline, place)}{text}" for place, text in enumerate(clauses))
    where = f"at N = {seqlen_text(headline.seqlen)}{_lost(headline)}"
    return f"{run}{_named(headline.kernel)} {joined} {where}{'' if headline.timed else UNTIMED}."


def session_headlines(session: Session) -> tuple[list[str], list[str]]:
    """A sentence for each curve of a session, with its label where there are several; and notes on them."""
    told = [one for _members, one in of_curves(session)]
    notes = dict.fromkeys(map(note_text, told))
    return list(filter(None, map(headline_text, told))), list(filter(None, notes))


def ratio_words(headline: Headline) -> str:
    """The first thing it says of two kernels in a few words, for a list of sessions; may be empty."""
    if not headline.clauses or headline.clauses[0].verdict is None:
        return ""
    first = headline.clauses[0]
    said = _as(first, "").removesuffix(", within the noise,") if _alike(first) else _beside(first)
    said = said.removeprefix("is ")
    return f"{_run(headline)}{_named(headline.kernel)}: {said} at {seqlen_text(headline.seqlen)}"


def note_text(headline: Headline | None) -> str:
    """What a user should know of it, in a few sentences; else empty."""
    if headline is None:
        return ""
    doubts = [f"The runtime of {_named(one.kernel)} is doubtful: {one.reason}." for one in headline.doubts]
    on_a_cpu = _on_a_cpu(headline) if needs_recording(headline) else ()
    return " ".join(filter(None, (*doubts, _unchecked(headline), *on_a_cpu)))


def brief_text(headline: Headline | None) -> str:
    """The headline and what one should know of it, in few enough words to be read from afar.

    Where that is too long, why a runtime is doubtful and what a CPU does not show is left to the window: that
    it is doubtful, and of what, the headline says.
    """
    whole = " ".join(filter(None, (headline_text(headline), note_text(headline))))
    if len(whole) <= FROM_AFAR or headline is None:
        return whole
    return " ".join(filter(None, (headline_text(headline), _unchecked(headline))))


def _unchecked(headline: Headline) -> str:
    return UNCHECKED if headline.kernel and not headline.checked else ""


def needs_recording(headline: Headline | None) -> bool:
    """Whether it is of a CPU, which does not show what a GPU would."""
    return headline is not None and headline.backend == "cpu"


def factor_text(factor: float) -> str:
    """How many times, in few digits: 1.05×, 2.7×, 255×, 1,200×."""
    decimals = 2 if factor < 1.195 else 1 if factor < 9.95 else 0  # noqa: PLR2004 - two or three digits
    return f"{factor:,.{decimals}f}×"


def _on_a_cpu(headline: Headline) -> tuple[str, ...]:
    """What is sure of memory, then why times are as they are: both by what this session holds."""
    spared = headline.spared
    if spared is None:
        return (ON_A_CPU,)
    held = bytes_text(spared.matrices_bytes)
    memory = f"{_named(headline.baseline)} holds {held} of S and P (N × N), {_named(headline.kernel)} none."
    if spared.traffic_ms is None or spared.products_ms is None:
        return memory, ON_A_CPU
    traffic, products = ms_text(spared.traffic_ms), ms_text(spared.products_ms)
    return memory, f"That saves {traffic} of memory traffic on this CPU, beside {products} of products."


def _run(headline: Headline) -> str:
    """What was run, before the sentence; the usual goes without saying where nothing else was run."""
    if headline.label:
        return f"{headline.label}: "
    words = headline.unusual
    return f"{words[0].upper()}{words[1:]}: " if words else ""


def _link(headline: Headline, place: int) -> str:
    if place == 0:
        return ""
    before, here = headline.clauses[place - 1], headline.clauses[place]
    opposed = {before.verdict, here.verdict} == {"better", "worse"} and not (_alike(before) or _alike(here))
    return " but " if opposed else " and "


def _clause(headline: Headline, place: int) -> str:
    """What is said of one quantity; the first one says over which kernel."""
    clause = headline.clauses[place]
    if clause.base is None:
        return _alone(clause.quantity, clause.value)
    if clause.verdict is None:
        base = words_of(clause.quantity).text(clause.base)
        return f"{_alone(clause.quantity, clause.value)} ({_named(headline.baseline)}: {base})"
    if _alike(clause):
        return _as(clause, _named(headline.baseline) if place == 0 else "")
    return _beside(clause) + (f" than {_named(headline.baseline)}" if place == 0 else "")


def _alike(clause: Clause) -> bool:
    """Whether the two are the same, or so in the digits that there would be, or not worth telling apart."""
    return _equal(clause) or (clause.quantity is FOOTPRINT and clause.factor < WORTH_TELLING)


def _equal(clause: Clause) -> bool:
    return clause.verdict == "same" or factor_text(clause.factor) == factor_text(1.0)


def _beside(clause: Clause) -> str:
    """How much better or worse."""
    factor, better = factor_text(clause.factor), clause.verdict == "better"
    if clause.quantity is RUNTIME:
        return f"is {factor} {'faster' if better else 'slower'}"
    if clause.quantity is FOOTPRINT:
        return f"takes {factor} {'less' if better else 'more'} memory"
    lower = better == (clause.quantity.better == "lower")
    return f"has {factor} {'lower' if lower else 'higher'} {clause.quantity.inside}"


def _as(clause: Clause, baseline: str) -> str:
    """That it is the same; of runtimes, that their noise is all that is between them."""
    quantity = clause.quantity
    if quantity is RUNTIME:
        return f"is as fast as {baseline}, within the noise," if baseline else "is as fast, within the noise,"
    if quantity is FOOTPRINT:
        about = "" if _equal(clause) else "about "
        return f"takes {about}as much memory{f' as {baseline}' if baseline else ''}"
    return f"has the same {quantity.inside}{f' as {baseline}' if baseline else ''}"


def _alone(quantity: Quantity, value: float) -> str:
    """A value beside none."""
    text = words_of(quantity).text(value)
    if quantity is RUNTIME:
        return f"runs in {text}"
    return f"takes {text} of memory" if quantity is FOOTPRINT else f"has {quantity.inside} {text}"


def _lost(headline: Headline) -> str:
    if headline.lost is None:
        return ""
    here = headline.lost.seqlen == headline.seqlen
    where = (
        f", where {_named(headline.baseline)}"
        if here and headline.kernel
        else f"; {_named(headline.baseline)}"
    )
    return f"{where} {LOSSES[headline.lost.why]}{'' if here else f' at {seqlen_text(headline.lost.seqlen)}'}"


def _named(kernel: str) -> str:
    return cut_short(kernel, MOST_OF_NAME)

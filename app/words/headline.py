"""The sentence over the plots: what a sweep says at the crosshair, in words."""

from app.words.kinds import words_of
from app.words.plain import MOST_OF_NAME, cut
from app.words.units import seqlen_text
from profiles.results.headline import Clause, Headline, Loss, of_curves
from profiles.results.quantities import FOOTPRINT, RUNTIME
from profiles.results.quantity import Quantity
from profiles.results.session import Session

LOSSES: dict[Loss, str] = {
    "will-not-fit": "will not fit",
    "oom": "ran out of memory",
    "timeout": "ran past its deadline",
    "wrong": "is wrong",
    "failed": "failed",
    "unsupported": "does not run",
    "altered": "is not as it was recorded",
    "cancelled": "was cancelled",
    "interrupted": "was interrupted",
    "pending": "is not measured yet",
    "running": "is not measured yet",
    "doubtful": "is doubtful",
    "done": "has no runtime",
}
ON_A_CPU = (
    "NumPy on a CPU does not show the speed-up: what tiling saves is GPU memory traffic. "
    "The H200 recording does."
)
WORTH_TELLING = 1.05  # times as much memory: the pages of an allocation may make a difference of less
UNCHECKED = "The output was not compared with float64 attention."


def headline_text(told: Headline | None) -> str:
    """The sentence; empty where nothing has ended yet."""
    if told is None:
        return ""
    run = _run(told)
    if not told.kernel:
        return f"{run}No runtime can be trusted at N = {seqlen_text(told.seqlen)}{_lost(told)}."
    clauses = [_clause(told, place) for place in range(len(told.clauses))]
    joined = "".join(f"{_link(told, place)}{text}" for place, text in enumerate(clauses))
    return f"{run}{_named(told.kernel)} {joined} at N = {seqlen_text(told.seqlen)}{_lost(told)}."


def session_headlines(session: Session) -> tuple[list[str], list[str]]:
    """A sentence for each curve of a session, with its label where there are several; and notes on them."""
    told = [one for _members, one in of_curves(session)]
    notes = dict.fromkeys(map(note_text, told))
    return list(filter(None, map(headline_text, told))), list(filter(None, notes))


def ratio_words(told: Headline) -> str:
    """The first thing it says of two kernels in a few words, for a list of sessions; may be empty."""
    if not told.clauses or told.clauses[0].verdict is None:
        return ""
    said = "as fast" if _alike(told.clauses[0]) else _beside(told.clauses[0]).removeprefix("is ")
    return f"{_run(told)}{_named(told.kernel)}: {said} at {seqlen_text(told.seqlen)}"


def note_text(told: Headline | None) -> str:
    """What a user should know of it, in a sentence or two; else empty."""
    if told is None:
        return ""
    unchecked = UNCHECKED if told.kernel and not told.checked else ""
    return " ".join(filter(None, (unchecked, ON_A_CPU if needs_recording(told) else "")))


def needs_recording(told: Headline | None) -> bool:
    """Whether it is of a CPU that does not show what a GPU would."""
    if told is None or told.backend != "cpu":
        return False
    slow = any(one.quantity is RUNTIME and one.verdict in {"worse", "same"} for one in told.clauses)
    return slow or not told.kernel


def factor_text(factor: float) -> str:
    """How many times, in few digits: 1.05×, 2.7×, 255×, 1,200×."""
    decimals = 2 if factor < 1.195 else 1 if factor < 9.95 else 0  # noqa: PLR2004 - two or three digits
    return f"{factor:,.{decimals}f}×"


def _run(told: Headline) -> str:
    """What was run, before the sentence; the usual goes without saying where nothing else was run."""
    if told.label:
        return f"{told.label}: "
    words = told.unusual
    return f"{words[0].upper()}{words[1:]}: " if words else ""


def _link(told: Headline, place: int) -> str:
    if place == 0:
        return ""
    before, here = told.clauses[place - 1], told.clauses[place]
    opposed = {before.verdict, here.verdict} == {"better", "worse"} and not (_alike(before) or _alike(here))
    return " but " if opposed else " and "


def _clause(told: Headline, place: int) -> str:
    """What is said of one quantity; the first one says over which kernel."""
    clause = told.clauses[place]
    if clause.base is None:
        return _alone(clause.quantity, clause.value)
    if clause.verdict is None:
        base = words_of(clause.quantity).text(clause.base)
        return f"{_alone(clause.quantity, clause.value)} ({_named(told.baseline)}: {base})"
    if _alike(clause):
        return _as(clause, _named(told.baseline) if place == 0 else "")
    return _beside(clause) + (f" than {_named(told.baseline)}" if place == 0 else "")


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
    return f"has {factor} {'lower' if lower else 'higher'} {_title(clause.quantity)}"


def _as(clause: Clause, baseline: str) -> str:
    """That it is the same; of runtimes, that their noise is all that is between them."""
    quantity = clause.quantity
    if quantity is RUNTIME:
        return f"is as fast as {baseline}, within the noise," if baseline else "is as fast, within the noise,"
    if quantity is FOOTPRINT:
        about = "" if _equal(clause) else "about "
        return f"takes {about}as much memory{f' as {baseline}' if baseline else ''}"
    return f"has the same {_title(quantity)}{f' as {baseline}' if baseline else ''}"


def _alone(quantity: Quantity, value: float) -> str:
    """A value beside none."""
    text = words_of(quantity).text(value)
    if quantity is RUNTIME:
        return f"runs in {text}"
    return f"takes {text} of memory" if quantity is FOOTPRINT else f"has {_title(quantity)} {text}"


def _title(quantity: Quantity) -> str:
    """Its title inside a sentence; what is an abbreviation stays one."""
    first, second = quantity.title[0], quantity.title[1:2]
    return quantity.title if second.isupper() else f"{first.lower()}{quantity.title[1:]}"


def _lost(told: Headline) -> str:
    if told.lost is None:
        return ""
    here = told.lost.seqlen == told.seqlen
    where = f", where {_named(told.baseline)}" if here and told.kernel else f"; {_named(told.baseline)}"
    return f"{where} {LOSSES[told.lost.why]}{'' if here else f' at {seqlen_text(told.lost.seqlen)}'}"


def _named(kernel: str) -> str:
    return cut(kernel, MOST_OF_NAME)

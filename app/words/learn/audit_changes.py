"""Audits of two sessions beside each other, in words: a sentence a model, and the cells of a table."""

from collections.abc import Iterator, Sequence

from flashscope.app.words.learn.audits import NOTHING, layers_text
from flashscope.app.words.results.verdicts import GLYPHS, Spoken, ratio_digits
from flashscope.app.words.units import ms_text, ratio_text, share_text
from flashscope.profiles.results.compare.audited import AuditChange, AuditContrast, AuditSide

CHANGE_HEADINGS = (
    *("model", "step", "layers", "ran", "baseline", "here"),
    *("ratio", "95% interval", "verdict"),
)
CHANGE_KEYS = 4  # the columns that say what a line is about
ALL_LAYERS = "all of these"
AUDITED = "Audits"
RULE = (
    "Times are medians of what a step spends in these calls, by the profiler, with their share of the step; "
    "of a whole step, without it. Each session's rounds are drawn by themselves for the interval."
)


def audit_sentences(contrast: AuditContrast) -> list[str]:
    """What became of each model's attention, and which audits have no partner or not their like."""
    models = dict.fromkeys(one.model for one in contrast.attention)
    told = [_model_text([one for one in contrast.attention if one.model == model]) for model in models]
    unlike = dict.fromkeys(model for model, *_ in contrast.unlike)
    told += [_unlike_text(contrast, model) for model in unlike]
    return [*told, *_alone_texts(contrast)]


def _alone_texts(contrast: AuditContrast) -> Iterator[str]:
    """Which models are audited on one side only."""
    there, here = (", ".join(alone) for alone in (contrast.base_only, contrast.other_only))
    if there and here:
        yield f"The models differ: {there} is audited in the baseline only, {here} here only."
    elif there or here:
        yield f"{there or here} is audited {'in the baseline' if there else 'here'} only."


def _model_text(attention: Sequence[AuditChange]) -> str:
    """What attention takes in the steps of a model, and where another kernel ran."""
    changed = [
        f"{ratio_text(one.ratio.value)}{' as long' * (number == 0)} in {one.phase}"
        for number, one in enumerate(one for one in attention if one.faster is not None)
        if one.ratio
    ]
    unsure = [one.phase for one in attention if one.ratio and one.faster is None]
    apart = [one.phase for one in attention if one.ratio is None]
    told = [
        f"attention takes {_joined(changed)}" if changed else "",
        f"no sure change in {_joined(unsure)}" if unsure else "",
        f"not the same layers in {_joined(apart)}" if apart else "",
        *_ran_texts(attention),
    ]
    return f"{attention[0].model}: {'; '.join(filter(None, told))}."


def _joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _ran_texts(attention: Sequence[AuditChange]) -> Iterator[str]:
    """Which kernels ran, the steps of which that is so together."""
    phases: dict[tuple[str, ...], list[str]] = {}
    for one in attention:
        phases.setdefault(_ran(one, " and "), []).append(one.phase)
    for (before, now), steps in phases.items():
        where = f"in {_joined(steps)} " if len(phases) > 1 else ""
        there = "both" if before == now else f"the baseline, {now} here"
        yield f"{where}{before} ran in {there}"


def _ran(change: AuditChange, joint: str) -> tuple[str, ...]:
    """What computed attention in the baseline, and here."""
    return tuple(
        joint.join(side.ran) or "unknown" if side else NOTHING for side in (change.base, change.other)
    )


def _unlike_text(contrast: AuditContrast, model: str) -> str:
    """That two audits of one name are not of the same work."""
    told = "; ".join(
        f"{what} {_value_text(base)} → {_value_text(other)}"
        for one, what, base, other in contrast.unlike
        if one == model
    )
    return f"{model} is not the same work in both: {told}."


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {'×'.join(map(str, shape))}" for name, shape in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def change_cells(change: AuditChange) -> tuple[str, ...]:
    """A line of the table, as CHANGE_HEADINGS; the verdict stands there in a word."""
    return (
        change.model,
        change.phase,
        change_layers(change),
        ran_change(change),
        side_text(change.base),
        side_text(change.other),
        change_ratio(change),
        change_interval(change),
        change_spoken(change).word,
    )


def change_layers(change: AuditChange) -> str:
    """Which layers a line is about, or that it is about the whole step."""
    if change.implementation:
        return f"whole step, {change.implementation}"
    return ALL_LAYERS if change.kinds > 1 else layers_text(change.layers)


def ran_change(change: AuditChange) -> str:
    """What computed attention: once where it is the same in both."""
    before, now = _ran(change, ", ")
    return before if before == now else f"{before} → {now}"


def side_text(side: AuditSide | None) -> str:
    """What calls take, and their share of the step: `8.44 ms, 21 %`."""
    if side is None or side.ms is None:
        return NOTHING
    share = "" if side.share is None else f", {share_text(side.share)}"
    return f"{ms_text(side.ms)}{share}"


def change_ratio(change: AuditChange) -> str:
    """The ratio of a line, as that of a pair of points."""
    return NOTHING if change.ratio is None else ratio_digits(change.ratio.value)


def change_interval(change: AuditChange) -> str:
    """The ends of its interval."""
    ratio = change.ratio
    if ratio is None or ratio.low is None or ratio.high is None:
        return NOTHING
    return f"{ratio_digits(ratio.low)} – {ratio_digits(ratio.high)}"


def change_spoken(change: AuditChange) -> Spoken:
    """What a line says: whether its interval holds 1."""
    if change.ratio is None:
        return Spoken("–", "not compared", "quiet")
    if change.faster is None:
        return Spoken(GLYPHS["inconclusive"], "inconclusive", "doubt")
    if change.faster:
        return Spoken(GLYPHS["faster"], "faster", "good")
    return Spoken(GLYPHS["slower"], "slower", "bad")

"""A comparison of sessions as one self-contained page of HTML."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from flashscope.app.report.colours import classes_of, style
from flashscope.app.report.markup import page, table_element, tag
from flashscope.app.report.plot import legend_element
from flashscope.app.report.ratio_plot import figures_of, ratios_of
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.learn.audit_changes import (
    CHANGE_HEADINGS,
    CHANGE_KEYS,
    RULE,
    audit_sentences,
    change_cells,
)
from flashscope.app.words.results.pairs import (
    HEADINGS,
    KEYS,
    contrast_curves,
    lone_text,
    pair_remark,
    pair_texts,
    side_titled,
)
from flashscope.app.words.results.provenance import of_session
from flashscope.app.words.results.verdicts import differing_text
from flashscope.app.words.units import seqlen_text
from flashscope.app.words.version import own_version
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Comparison, Contrast, Difference, Lone, Pair
from flashscope.profiles.results.compare.audited import AuditChange, audit_contrast
from flashscope.profiles.results.model.curves import Curve
from flashscope.profiles.results.quantities.quantity import Quantity

CurveByProblem = Mapping[Problem, Curve]
ALIKE = frozenset({"same", "equal"})
COLOURS = {True: "better", False: "worse", None: ""}
EXPLAINS = {"every": "may explain a change of any point", "none": "explains no change"}


def comparison_page(comparison: Comparison, sides: Sequence[Sequence[Path]]) -> bytes:
    """The page, as UTF-8: for each of the others what differs, the summary, ratios over N and every verdict.

    Args:
        comparison: A baseline and others.
        sides: The files of each side's runs, the baseline's first.
    """
    pairs = [pair for contrast in comparison.contrasts for pair in contrast.pairs]
    classes = classes_of(list(dict.fromkeys(pair.kernel for pair in pairs)))
    base = comparison.contrasts[0].base_runs
    title = f"{comparison.quantity.title}, beside {side_titled(base, sides[0])}"
    body = [tag("p", of_session(comparison.base, "saved").badge, class_="badge"), tag("h1", title)]
    body += [tag("p", comparison.caution, class_="may")] if comparison.caution else []
    for contrast, files in zip(comparison.contrasts, sides[1:], strict=True):
        body += _contrast(comparison.quantity, contrast, files, classes)
    rule = (
        "A ratio is the figure here over the baseline's, with its 95% interval: from a bootstrap over "
        "rounds, or with several runs a side from what differs between their medians. A change counts where "
        "rounds or runs differ by more than the threshold, corrected over all pairs."
    )
    footer = tag("footer", tag("p", rule), tag("p", f"Written by Flashscope {own_version()}."))
    return page(title, style(classes), [*body, footer])


def _contrast(
    quantity: Quantity, contrast: Contrast, files: Sequence[Path], classes: Mapping[str, str]
) -> Iterator[Element]:
    yield tag("h2", side_titled(contrast.other_runs, files))
    yield tag("p", of_session(contrast.other, "saved").badge, class_="badge")
    yield _differences(contrast.differences)
    yield tag("p", contrast.summary, class_="headline")
    curves = contrast_curves(contrast)
    for curve, members in _by_curve(contrast.pairs, curves).items():
        yield tag("h2", curve.whole_label)
        yield legend_element(list(dict.fromkeys(pair.kernel for pair in members)), classes)
        figures = figures_of(quantity, members, classes, (contrast.base_runs, contrast.other_runs))
        yield tag("div", ratios_of(members, classes), figures, class_="grid")
        yield from _tables(quantity, members, curve.label)
    yield from _audits(contrast)
    for where, lone in (("the baseline", contrast.base_only), ("this session", contrast.other_only)):
        if lone:
            yield tag("h2", f"Without a partner, in {where} only: {len(lone)}")
            yield _lone(lone, curves)


def _audits(contrast: Contrast) -> Iterator[Element]:
    """What became of the attention of audited models."""
    audits = audit_contrast(contrast.base, contrast.other)
    if audits is None:
        return
    yield tag("h2", "Audited models")
    yield from (tag("p", text) for text in audit_sentences(audits))
    if audits.lines:
        yield table_element(CHANGE_HEADINGS, map(_audit_line, audits.lines), keys=CHANGE_KEYS)
        yield tag("p", RULE, class_="dim")


def _audit_line(change: AuditChange) -> tuple[Element | str, ...]:
    *cells, verdict = change_cells(change)
    return (*cells, tag("span", verdict, class_=COLOURS[change.faster]))


def _differences(found: Sequence[Difference]) -> Element:
    """What differs around the points, coloured by whether it may explain a change."""
    if not found:
        return tag("p", "Nothing differs around the points.", class_="dim")
    lines = [(_reach(one, one.title), *one.names, _reach(one, _explains(one))) for one in found]
    table = table_element(("what differs", "baseline", "here", ""), lines)
    return tag("div", tag("p", f"{differing_text(found)}."), table, class_="wide")


def _explains(one: Difference) -> str:
    return EXPLAINS.get(one.reach, f"may explain a change of {', '.join(one.kernels)}")


def _reach(one: Difference, text: str) -> Element:
    return tag("span", text, class_="dim" if one.reach == "none" else "may")


def _by_curve(pairs: Sequence[Pair], curves: CurveByProblem) -> dict[Curve, list[Pair]]:
    found: dict[Curve, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(curves[pair.base.problem], []).append(pair)
    return found


def _tables(quantity: Quantity, pairs: Sequence[Pair], label: str) -> Iterator[Element]:
    """What is not the same, and everything on demand."""
    changed = [pair for pair in pairs if pair.verdict not in ALIKE]
    if changed:
        yield _table(quantity, changed, label)
    if len(changed) < len(pairs):
        words = f"All {len(pairs)} points" if changed else f"All {len(pairs)} points, the same"
        yield tag("details", tag("summary", words), _table(quantity, pairs, label))


def _table(quantity: Quantity, pairs: Sequence[Pair], label: str) -> Element:
    lines = (_line(quantity, pair, label) for pair in pairs)
    return tag("div", table_element((*HEADINGS, "remark"), lines, keys=KEYS), class_="remarked")


def _line(quantity: Quantity, pair: Pair, label: str) -> tuple[Element | str, ...]:
    *cells, verdict = pair_texts(quantity, pair, label)
    return (
        *cells,
        tag("span", verdict, class_=COLOURS[pair.better]),
        tag("span", pair_remark(pair), class_="dim"),
    )


def _lone(lone: Sequence[Lone], curves: CurveByProblem) -> Element:
    lines = [
        (
            one.row.kernel,
            curves[one.row.problem].label,
            seqlen_text(one.row.seqlen),
            lone_text(one) or NOTHING,
        )
        for one in lone
    ]
    return tag("div", table_element(("kernel", "problem", "N", "why"), lines, keys=KEYS), class_="wide")

"""A session as one self-contained page of HTML."""

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from flashscope.app.figures.series import kernels_of
from flashscope.app.report import figures
from flashscope.app.report.audits import audit_section
from flashscope.app.report.colours import classes_of, style
from flashscope.app.report.markup import facts, page, table_element, tag
from flashscope.app.report.plot import figure_of, legend_element
from flashscope.app.report.ranks import ranks_section
from flashscope.app.report.sentences import tally, worst_check
from flashscope.app.words.command_line import repeating, repeating_preset
from flashscope.app.words.own.own_kernels import origin, takes
from flashscope.app.words.results.efficiency import efficiency_lines
from flashscope.app.words.results.headline import session_headlines
from flashscope.app.words.results.provenance import Provenance
from flashscope.app.words.units import (
    bytes_text,
    clock_text,
    share_text,
    temperature_text,
    watts_text,
    whole_text,
)
from flashscope.app.words.version import own_version
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare.noise import wanders
from flashscope.profiles.results.findings.ratios import standings_of
from flashscope.profiles.results.formats.export import metadata, protocol_text
from flashscope.profiles.results.model.curves import Curve, baselines, by_curve
from flashscope.profiles.results.model.drift import drift_text
from flashscope.profiles.results.model.parts import failed_before, part_text, parts, warnings
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import (
    FOOTPRINT,
    QUANTITIES,
    RUNTIME,
    SPEEDUP,
    THROUGHPUT,
    favoured_baseline,
)

PLOTTED = (RUNTIME, FOOTPRINT, SPEEDUP, THROUGHPUT, QUANTITIES["sustained-throughput"])
READINGS = {
    "memory_used": ("memory used", bytes_text),
    "utilisation": ("busy", lambda value: f"{whole_text(value)}%"),
    "power_w": ("power", watts_text),
    "temperature_c": ("temperature", temperature_text),
    "sm_clock_mhz": ("SM clock", clock_text),
    "memory_clock_mhz": ("memory clock", clock_text),
    "sm_share": ("SMs busy", share_text),
    "tensor_share": ("tensor cores busy", share_text),
    "dram_share": ("DRAM bandwidth", share_text),
}


def session_page(session: Session, source: Provenance) -> bytes:
    """The page, as UTF-8: headline, plots, tables, telemetry, machine, protocol, and what repeats it."""
    measured = rows(session)
    classes = classes_of(kernels_of(measured))
    audits = (part for one in session.audits for part in audit_section(one, measured))
    ranks = ranks_section(session.ranks)
    body = [*_head(session, source, measured), *ranks, *audits, *_curves(session, measured, classes)]
    body += _end(session, measured)
    return page(page_title(session), style(classes), body)


def page_title(session: Session) -> str:
    """The session's name, or when it began."""
    return session.name or f"Session of {session.started_at[:16].replace('T', ' ')}"


def _head(session: Session, source: Provenance, measured: Sequence[PointRow]) -> Iterator[Element]:
    baseline = favoured_baseline(session.plan.kernels)
    standings = standings_of(measured, [baseline] if baseline else [])
    yield tag("p", source.badge, class_="badge")
    yield tag("h1", page_title(session))
    if session.note:
        yield tag("p", session.note, class_="note")
    if session.altered:
        yield tag("p", f"Altered since it was recorded; left out: {session.altered}.", class_="worse")
    for text in warnings(session):
        yield tag("p", f"Warning: {text}", class_="worse")
    said, notes = session_headlines(session)
    yield from (tag("p", text, class_="headline") for text in said)
    yield from (tag("p", text) for text in notes)
    if measured:
        yield tag("p", tally(measured, standings))
        yield tag("p", worst_check(measured))
        yield tag("p", f"Drift check: {drift_text(session) or 'none'}.")
    if len(standings.means) > 1:
        yield tag("h2", f"Throughput over that of {baseline}")
        yield figures.standings_table(standings)


def _curves(session: Session, measured: Sequence[PointRow], classes: Mapping[str, str]) -> Iterator[Element]:
    for curve, members in by_curve(measured).items():
        yield from _curve(session, curve, members, classes)


def _curve(
    session: Session, curve: Curve, members: Sequence[PointRow], classes: Mapping[str, str]
) -> Iterator[Element]:
    kernels = kernels_of(members)
    baseline = favoured_baseline(session.plan.kernels)
    shown = [one for one in PLOTTED if one.relative or any(map(one.says, members))]
    yield tag("h2", curve.whole_label)
    yield legend_element(kernels, classes)
    yield tag("div", *(figure_of(one, members, baseline, classes) for one in shown), class_="grid")
    yield figures.over_seqlen(members, wanders(session))
    yield figures.all_figures(members, baselines(members, baseline))


def _end(session: Session, measured: Sequence[PointRow]) -> Iterator[Element]:
    sections = {
        "How far to trust the points": figures.trust(measured),
        "What could not be measured": figures.not_done(measured),
        "Notes": figures.remarks(measured),
        "Parts": _parts(session),
        "Telemetry of the whole device": _telemetry(session),
        "Own kernels": _own_kernels(session),
        "Machine": _machine(session),
        "Protocol": _protocol(session) if measured else None,
        "Measure it again": _commands(session, measured) if measured else None,
    }
    for title, content in sections.items():
        if content is not None:
            yield tag("h2", title)
            yield content
    yield tag("footer", f"Written by Flashscope {own_version()}. Session {session.id}.")


def _parts(session: Session) -> Element | None:
    """Who measured what of a session that was broken off and went on, None of any other."""
    if not session.resumed:
        return None
    told = (text for part in parts(session) for text in (part_text(part), *failed_before(session, part)))
    return tag("div", *(tag("p", text) for text in told))


def _own_kernels(session: Session) -> Element | None:
    """Where the kernels of the user's own are from, None where there are none."""
    own = session.plan.own
    return facts((one.name, f"{origin(one)}; takes {takes(one)}") for one in own) if own else None


def _telemetry(session: Session) -> Element | None:
    """The extremes and the median of each field that was read."""
    lines = []
    for field, (title, text) in READINGS.items():
        known = sorted(v for reading in session.readings if (v := getattr(reading, field)) is not None)
        if known:
            lines.append((title, *(text(known[place]) for place in (0, len(known) // 2, -1))))
    return table_element(("reading", "least", "median", "most"), lines) if lines else None


def _machine(session: Session) -> Element:
    told = metadata(session)
    names = (
        "device",
        "driver",
        "CUDA",
        "system",
        "python",
        "BLAS threads",
        "packages",
        "started at",
        "outcome",
    )
    return facts((name, str(told[name])) for name in names)


def _protocol(session: Session) -> Element:
    told = tag(
        "p",
        f"{protocol_text(session.plan)}. Medians; whiskers are quartiles; every raw run is in the session.",
    )
    spent = [tag("p", f"{text}.") for text in efficiency_lines(session)]
    return tag("div", told, *spent, tag("p", "Dotted lines are a model, never a measurement.", class_="dim"))


def _commands(session: Session, measured: Sequence[PointRow]) -> Element:
    """The commands that repeat it, or that there is none."""
    preset = repeating_preset(session.plan)
    curves = by_curve(measured).values()
    each = [preset] if preset else [repeating(session.plan, _problems(members)) for members in curves]
    if None in each:
        return tag("p", "No command line asks for just these problems and this protocol.")
    return tag("pre", "\n".join(one for one in each if one))


def _problems(members: Sequence[PointRow]) -> list[Problem]:
    return list(dict.fromkeys(row.problem for row in members))

"""The audits of models in a session as parts of a page."""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from flashscope.app.report.markup import table_element, tag
from flashscope.app.words.learn.audits import (
    CALL_HEADINGS,
    KERNEL_HEADINGS,
    amdahl_cells,
    audit_head,
    audit_notes,
    call_cells,
    found_texts,
    real_text,
    step_text,
    vanishing_text,
)
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.profiles.results.compare.switching import Switching, switchings_of
from flashscope.profiles.results.model.rows import PointRow


def audit_section(audit: ModelAudit, measured: Sequence[PointRow]) -> Iterator[Element]:
    """What a model runs, step by step, and what switching gains.

    Args:
        audit: What was recorded of it.
        measured: The points that replay its calls.
    """
    yield tag("h2", f"Audit of {audit.model}")
    yield tag("p", audit_head(audit))
    for found in switchings_of(audit, measured):
        yield from _step(audit, found)
    yield from (tag("p", text, class_="dim") for text in audit_notes(audit))


def _step(audit: ModelAudit, found: Switching) -> Iterator[Element]:
    calls = [one for one in audit.calls if one.phase == found.phase]
    yield tag("p", f"{step_text(found)}.", class_="headline")
    if calls:
        yield table_element(CALL_HEADINGS, map(call_cells, calls, found.calls))
    if found.amdahl:
        yield table_element(KERNEL_HEADINGS, map(amdahl_cells, found.amdahl))
    told = (*map(real_text, found.real), vanishing_text(found), *found_texts(calls, found))
    yield from (tag("p", text) for text in told if text)

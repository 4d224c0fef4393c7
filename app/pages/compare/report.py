"""The comparison on show as a file: the page of `compare --html`, or the document of `compare --json`."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from flashscope.app.pages.compare.findings import Findings
from flashscope.app.report.comparison_page import comparison_page
from flashscope.app.words.kinds import words_of
from flashscope.app.words.results.sessions import as_file_name
from flashscope.profiles.results.compare.document import comparison_document
from flashscope.profiles.store import write_atomically
from flashscope.profiles.wire.text import harmless_json

HTML, JSON = ".html", ".json"
FILTERS = {f"HTML report (*{HTML})": (HTML, JSON), f"JSON document (*{JSON})": (JSON, HTML)}
"""What a dialog offers, each with the endings of files: the first is that of a name without any."""


def proposed(findings: Findings) -> str:
    """A file name for a report, with its ending."""
    base, *others = findings.names()
    told = others[0] if len(others) == 1 else f"{len(others)} others"
    return f"{as_file_name(f'{base} and {told}')}{HTML}"


def write_report(findings: Findings, target: Path) -> None:
    """Write the format that the file's ending names; one that is there is replaced.

    Raises:
        SessionFileError: It cannot be written.
    """
    files = [member.files for member in findings.members]
    as_json = target.name.lower().endswith(JSON)
    content = _document(findings, files) if as_json else comparison_page(findings.comparison, files)
    write_atomically(target, content, replace=True)


def _document(findings: Findings, files: Sequence[Sequence[Path]]) -> bytes:
    comparison = findings.comparison
    made = comparison_document(
        comparison, words_of(comparison.quantity).unit, [list(map(str, side)) for side in files]
    )
    return f"{harmless_json(msgspec.json.encode(made).decode())}\n".encode()

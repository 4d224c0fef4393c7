"""Everything that reads a session file without a window, by its name; what it gives is looked at, too."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from flashscope.app.commands import compare, plan, show, trend
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.look.picture import PictureOptions
from flashscope.app.pages.profile.pictures import session_picture
from flashscope.app.report.kinds import report_bytes
from flashscope.app.words.results.provenance import of_session
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.profiles.plan.models import FAVOURITE
from flashscope.profiles.results.compare import compare as compared
from flashscope.profiles.results.compare.document import comparison_document, comparison_schema
from flashscope.profiles.results.formats.schema import session_schema
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES, RUNTIME, SPEEDUP
from flashscope.profiles.results.theory.roofline import roofline
from flashscope.profiles.store import list_sessions, load
from flashscope.profiles.store.glance import glance
from tests.app.report.pages import seen
from tests.limits import limited

BESIDE = BUNDLED / "h200-standard-flash2.flashscope"
MOST_CELL = 1 << 24  # characters of a cell of CSV
Look = Callable[[bytes], object]
Given = Sequence[tuple[Look, bytes]]
"""What a reader gives, each with how it is looked at."""


def is_text(content: bytes) -> None:
    """No word of Python's stands in it."""
    assert content.decode()
    assert not {"Traceback", "NotImplemented"} & {*content.decode().split()}


def is_table(content: bytes) -> None:
    """Every line has as many cells as the heading."""
    lines = [line for line in content.decode().splitlines(keepends=True) if not line.startswith("#")]
    csv.field_size_limit(MOST_CELL)
    heading, *cells = csv.reader(io.StringIO("".join(lines), newline=""), strict=True)
    assert {len(row) for row in cells} <= {len(heading)}


def is_json(content: bytes) -> Any:
    return json.loads(content, parse_constant=pytest.fail)


def is_session(content: bytes) -> None:
    _validator("session").validate(is_json(content))


def is_comparison(content: bytes) -> None:
    _validator("comparison").validate(is_json(content))


def is_trace(content: bytes) -> None:
    for event in is_json(content)["traceEvents"]:
        assert {"ph", "pid"} <= event.keys()
        assert event.get("dur", 0) >= 0


def is_parquet(content: bytes) -> None:
    assert content[:4] == content[-4:] == b"PAR1"


def is_picture(content: bytes) -> None:
    assert ET.fromstring(content).tag.endswith("svg")  # noqa: S314 - written just now


@cache
def _validator(kind: str) -> Any:
    schema = session_schema() if kind == "session" else comparison_schema()
    return jsonschema.Draft202012Validator(schema)


FORMS: Mapping[str, Look] = {
    "csv": is_table,
    "json": is_session,
    "html": seen,
    "perfetto": is_trace,
    "parquet": is_parquet,
}


def _printed(run: Callable[[], object]) -> bytes:
    """What a command prints."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        run()
    out.flush()
    return out.buffer.getvalue()


def _show(path: Path, look: Look = is_text, **form: Any) -> Given:
    asked = {"as_json": False, "as_csv": False, "against": None} | form
    return [(look, _printed(lambda: show.run(path, **asked)))]


def _against(path: Path) -> Given:
    return _show(path, against=(load(path).plan.kernels[0],))


def _compare(path: Path, quantity: Quantity, look: Look, *, as_json: bool) -> Given:
    """Beside another session, and beside itself under another name."""
    twin, page = path.with_name("twin.flashscope"), path.with_name("changes.html")
    twin.write_bytes(path.read_bytes())
    asked: Any = {
        "as_json": as_json,
        "quantity": quantity,
        "fail_on": 1.0,
        "force": True,
        "allow_inconclusive": False,
    }
    beside = _printed(lambda: compare.run([[BESIDE], [path]], page=page, **asked))
    itself = _printed(lambda: compare.run([[path], [twin]], page=None, **asked))
    twin.unlink()
    return [(look, beside), (look, itself), (seen, page.read_bytes())]


def _compare_kinds(path: Path) -> Given:
    """A quantity of each kind, beside another session."""
    session, other = load(path), load(BESIDE)
    for quantity in {quantity.kind: quantity for quantity in QUANTITIES.values()}.values():
        comparison_document(compared([other], [[session]], quantity), "", [[None], [None]])
    return []


def _plan(path: Path, look: Look, *, as_json: bool) -> Given:
    return [(look, _printed(lambda: plan.run(FAVOURITE, {"memory": 80.0}, session=path, as_json=as_json)))]


def _trend(path: Path, quantity: Quantity, look: Look, *, as_json: bool) -> Given:
    (info,) = list_sessions(path.parent)
    given = []
    for kernel, seqlen in zip(info.kernels[:2], info.seqlens[:2], strict=False):
        asked: Any = {"kernel": kernel, "seqlen": seqlen, "quantity": quantity, "as_json": as_json}
        given.append((look, _printed(partial(trend.run, path.parent, **asked))))
    return given


def _export(path: Path, kind: str) -> Given:
    session = load(path)
    try:
        return [(FORMS[kind], report_bytes(kind, session, str(path), of_session(session, "saved")))]
    except UnsupportedError:  # pyarrow is not installed
        return []


def _picture(path: Path) -> Given:
    session = load(path)
    return [(is_picture, session_picture("svg", session, of_session(session, "saved"), PictureOptions()))]


def _rest(path: Path) -> Given:
    session = load(path)
    glance(path)
    remaining_of(session)
    roofline(rows(session), session.ceilings)
    return []


READERS: Mapping[str, Callable[[Path], Given]] = {
    "show": _show,
    "show --json": partial(_show, look=is_json, as_json=True),
    "show --csv": partial(_show, look=is_table, as_csv=True),
    "show --why": partial(_show, why=True),
    "show --against": _against,
    "compare": partial(_compare, quantity=RUNTIME, look=is_text, as_json=False),
    "compare --json": partial(_compare, quantity=RUNTIME, look=is_comparison, as_json=True),
    "compare errors": partial(_compare, quantity=QUANTITIES["max-error"], look=is_text, as_json=False),
    "compare each kind": _compare_kinds,
    "plan": partial(_plan, look=is_text, as_json=False),
    "plan --json": partial(_plan, look=is_json, as_json=True),
    "trend": partial(_trend, quantity=SPEEDUP, look=is_text, as_json=False),
    "trend --json": partial(_trend, quantity=RUNTIME, look=is_json, as_json=True),
    **{f"export {kind}": partial(_export, kind=kind) for kind in FORMS},
    "export svg": _picture,
    "glance, rest, roofline": _rest,
}


def read(name: str, path: Path) -> None:
    """Read a session that opens, within the limits, and look at what comes of it.

    Raises:
        AssertionError: It takes too long or too much memory, it raises, or what it gives is not right.
    """
    try:
        with limited():
            given = READERS[name](path)
        for look, content in given:
            look(content)
    except Exception as error:
        raise AssertionError(f"{name}: {type(error).__name__}: {error}"[:500]) from error

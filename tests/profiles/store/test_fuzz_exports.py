"""Whatever a mutated recording holds, if it opens, it is exported to every format, each well formed.

Every run takes a few files; `-m long` takes ten thousand.
"""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from PySide6.QtWidgets import QApplication

from app.control.bundled import bundled_sessions
from app.look.picture import Look
from app.pages.profile.pictures import session_picture
from app.report.documents import document
from app.words.provenance import of_session
from kernels.errors import UnsupportedError
from profiles.results.schema import schema
from profiles.results.session import Session
from profiles.store import SessionFileError, load
from tests.app.report.pages import seen
from tests.matrix import on_demand
from tests.profiles.store.mutations import mutate
from tests.profiles.store.test_fuzz import OLD

FILES = 100  # in one test
FEW = 5  # in every run
pytestmark = pytest.mark.timeout(900)  # of FILES
JSON = jsonschema.Draft202012Validator(schema())


def is_table(content: bytes) -> None:
    """Every line has as many cells as the heading."""
    lines = [line for line in content.decode().splitlines(keepends=True) if not line.startswith("#")]
    heading, *rows = csv.reader(io.StringIO("".join(lines), newline=""), strict=True)
    assert {len(row) for row in rows} == {len(heading)}


def is_session(content: bytes) -> None:
    JSON.validate(json.loads(content, parse_constant=pytest.fail))


def is_trace(content: bytes) -> None:
    for event in json.loads(content, parse_constant=pytest.fail)["traceEvents"]:
        assert {"ph", "pid"} <= event.keys()
        assert event.get("dur", 0) >= 0


def is_parquet(content: bytes) -> None:
    assert content[:4] == content[-4:] == b"PAR1"


def is_picture(content: bytes) -> None:
    assert ET.fromstring(content).tag.endswith("svg")  # noqa: S314 - written just now


FORMS = {"csv": is_table, "json": is_session, "html": seen, "perfetto": is_trace, "parquet": is_parquet}


def export(session: Session, path: Path) -> None:
    """Write every format, and look at each."""
    source = of_session(session, "saved")
    for kind, look in FORMS.items():
        try:
            content = document(kind, session, str(path), source)
        except UnsupportedError:  # pyarrow is not installed
            continue
        look(content)
    is_picture(session_picture("svg", session, source, Look()))


@on_demand("turn", range(101), {0})
def test_a_mutated_recording_that_opens_is_exported_to_every_format(
    tmp_path: Path, qapp: QApplication, turn: int
) -> None:
    small, large, *_ = sorted(bundled_sessions(), key=lambda path: path.stat().st_size)
    sources = [*(small, OLD) * 10, large]
    seeds = range((turn - 1) * FILES, turn * FILES) if turn else range(FEW)
    exported = 0
    for seed in seeds:
        path = tmp_path / str(seed) / "a.flashscope"
        path.parent.mkdir()
        what = mutate(sources[seed % len(sources)], path, seed)
        try:
            session = load(path)
        except SessionFileError:
            continue
        try:
            export(session, path)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {what}") from error
        exported += 1
    assert 0 < exported < len(seeds)

"""`export FILE OUT`: every format from the command line, nothing written over, every mistake in one line."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from pyarrow import parquet
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from flashscope.app.cli import main
from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.look.kernel_marks import KERNEL_MARKS
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.report.kinds import KINDS, kind_of
from tests.app.hostile import hostile_file
from tests.app.pixels import pixels
from tests.app.readers import FORMS
from tests.app.test_escapes import CONTROLS, HARMFUL
from tests.matrix import chosen

FILE = str(bundled_sessions()[0])
BEGINNINGS = {
    "csv": b"# session: ",
    "json": b'{"session":',
    "parquet": b"PAR1",
    "html": b"<!DOCTYPE html>",
    "perfetto": b'{"displayTimeUnit":',
    "svg": b"<?xml",
    "png": b"\x89PNG",
}


@chosen("kind", KINDS, {*KINDS} - {"png"})
def test_each_format_is_written_by_the_ending_and_by_name(
    qapp: QApplication, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = tmp_path / f"a{KINDS[kind].suffix}"
    assert main(["export", FILE, str(named)]) == 0
    assert named.read_bytes().startswith(BEGINNINGS[kind])
    assert f"Exported 16 points to {named} ({KINDS[kind].title}, " in capsys.readouterr().out
    assert main(["export", FILE, str(tmp_path / "other"), "--to", kind]) == 0
    assert (tmp_path / "other").read_bytes().startswith(BEGINNINGS[kind])


@pytest.mark.matrix
def test_every_format_says_what_the_badge_of_the_window_would(
    qapp: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    badge = "SAVED · GPU NVIDIA H200 · 2026-11-22"
    for kind in ("csv", "json", "html", "perfetto", "svg"):
        main(["export", FILE, str(tmp_path / kind), "--to", kind])
        assert badge in (tmp_path / kind).read_text(encoding="utf-8"), kind
    drawn = "".join(
        text.text or ""
        for text in ET.parse(tmp_path / "svg").iter("{http://www.w3.org/2000/svg}text")  # noqa: S314 - written above
    )
    assert f"{badge} · " in drawn
    main(["export", FILE, str(tmp_path / "png"), "--to", "png"])
    assert QImage(str(tmp_path / "png")).text("provenance") == badge
    main(["export", FILE, str(tmp_path / "parquet"), "--to", "parquet"])
    assert parquet.read_schema(tmp_path / "parquet").metadata[b"provenance"].decode() == badge
    capsys.readouterr()
    main(["show", FILE, "--json"])
    assert json.loads(capsys.readouterr().out)["session"]["provenance"] == badge


def test_every_format_but_pictures_is_read_of_absurd_sessions_too() -> None:
    assert FORMS.keys() == {key for key, kind in KINDS.items() if not kind.picture}


def test_the_longest_ending_counts() -> None:
    assert kind_of("a.trace.json") == "perfetto"
    assert kind_of("a.JSON") == "json"
    assert kind_of("a.txt") is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.txt"], "ends as no format does"),
        (["missing/a.csv"], "there is no folder"),
        (["."], "is a folder"),
        ([""], "the name of the file is empty"),
        (["a.csv", "--plot", "runtime"], "--plot belongs to svg and png, not to csv"),
        (["a.svg", "--scale", "2"], "--scale belongs to png, not to svg"),
        (["a.png", "--scale", "5"], "'--scale'"),
        (["a.png", "--plot", "runtimes"], "did you mean runtime?"),
        (["a.png", "--curve", "d 1"], "there is no curve 'd 1' in the session, only: d 64, no mask"),
        (["a.txt", "--to", "pdf"], "'pdf' is not one of"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    *,
    qapp: QApplication,
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", FILE, *arguments]) == 2
    printed = capsys.readouterr()
    assert told in printed.err
    assert printed.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_written_over_by_force_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.json"
    out.write_text("mine")
    assert main(["export", FILE, str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main(["export", FILE, str(out), "--force"]) == 0
    assert json.loads(out.read_text())["session"]["id"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_file_that_is_no_session_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path / "none.flashscope"), str(tmp_path / "a.html")]) == 1
    assert "none.flashscope" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def drawn(tmp_path: Path, *options: str) -> QImage:
    out = tmp_path / "a.png"
    assert main(["export", FILE, str(out), "--force", *options]) == 0
    return QImage(str(out))


@pytest.mark.matrix
def test_a_picture_is_as_large_as_its_scale_says_and_names_its_source(
    qapp: QApplication, tmp_path: Path
) -> None:
    small, large = (drawn(tmp_path, "--plot", "runtime", "--scale", scale) for scale in "14")
    assert large.size() == small.size() * 4
    assert small.text("source").startswith("SAVED · GPU NVIDIA H200 · 2026-11-22 · Flashscope")
    four = drawn(tmp_path, "--scale", "1")
    assert four.width() > small.width()
    assert four.height() > small.height()


@pytest.mark.parametrize(("theme", "ground"), [("light", LIGHT.panel), ("dark", DARK.panel)])
def test_a_picture_has_the_ground_of_its_theme_or_none(
    qapp: QApplication, tmp_path: Path, theme: str, ground: str
) -> None:
    corners = (0, 300, 497)
    there = drawn(tmp_path, "--plot", "runtime", "--scale", "1", "--theme", theme)
    assert {there.pixelColor(1, y).name() for y in corners} == {QColor(ground).name()}
    clear = drawn(tmp_path, "--plot", "runtime", "--scale", "1", "--theme", theme, "--transparent")
    assert {clear.pixelColor(1, y).alpha() for y in corners} == {0}
    assert clear.size() == there.size()


@pytest.mark.matrix
def test_the_picture_of_a_hostile_session_holds_its_texts_as_text(qapp: QApplication, tmp_path: Path) -> None:
    file = hostile_file(tmp_path / "hostile.flashscope", CONTROLS)
    assert main(["export", str(file), str(tmp_path / "a.svg")]) == 0
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert not HARMFUL.findall(text)
    root = ET.fromstring(text)  # noqa: S314 - written here
    assert not root.findall(".//{*}script")
    assert "<script>" in "".join(root.itertext())


@pytest.mark.matrix
def test_lines_and_labels_of_a_picture_grow_with_its_scale(qapp: QApplication, tmp_path: Path) -> None:
    small, large = (drawn(tmp_path, "--plot", "runtime", "--scale", scale) for scale in "14")
    colour = QColor(KERNEL_MARKS["flash2"].on(LIGHT)).rgb()

    def covered(picture: QImage) -> float:
        """Pixels of a curve's colour, as a share of the picture."""
        return float((pixels(picture) == colour).mean())

    def labelled(picture: QImage, scale: int) -> bool:
        """Whether there is anything where the sequence lengths stand."""
        area = picture.copy(picture.width() // 2, picture.height() - 54 * scale, 300 * scale, 20 * scale)
        return len(np.unique(pixels(area))) > 8

    assert covered(large) > 0.7 * covered(small)
    assert labelled(small, 1)
    assert labelled(large, 4)

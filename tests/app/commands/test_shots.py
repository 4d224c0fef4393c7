"""`shots` names each picture once it is there."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashscope.app.cli import main
from flashscope.app.shell import story_shots


@pytest.mark.usefixtures("qapp")
def test_each_picture_is_named_before_the_next_is_drawn_in_a_pipe_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    pipe, read = io.BytesIO(), []

    def drawn(folder: Path, *_: object) -> Iterator[Path]:
        yield folder / "a.png"
        read.append(pipe.getvalue().decode())
        yield folder / "b.png"

    monkeypatch.setattr(story_shots, "render_story", drawn)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(pipe)))
    assert main(["shots", str(tmp_path), "--story", "why-tiling-wins"]) == 0
    assert read == [f"{tmp_path / 'a.png'}\n"]

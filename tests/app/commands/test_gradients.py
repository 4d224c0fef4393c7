"""`gradients` of a pass whose dQ has a launch of its own prints that launch's tiles, too."""

import pytest

from flashscope.app.commands.inside import gradients
from tests.profiles.store.builders import backward_trace


def test_the_tiles_of_a_launch_of_dq_alone_stand_in_the_document() -> None:
    told = gradients.document(backward_trace(apart=True))
    assert [one["dq"] for one in told["tiles"]] == [None, None]
    assert (told["dq_pass"]["block_q"], told["dq_pass"]["block_k"]) == (1, 2)
    assert [(one["head"], one["dq"]) for one in told["dq_pass"]["tiles"]] == [(0, 0.0), (1, 0.0)]
    assert gradients.document(backward_trace())["dq_pass"] is None


def test_they_are_printed_behind_those_of_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    gradients._print(backward_trace(apart=True))
    printed = capsys.readouterr().out
    assert "dQ, by a launch of its own in tiles of 1 x 2:" in printed
    assert printed.count("sum P") == 2

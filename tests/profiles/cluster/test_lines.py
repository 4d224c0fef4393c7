"""A process that answers in lines on a host, as its client hears of it."""

from unittest.mock import Mock

import msgspec

from flashscope.profiles.cluster.calls import EndLines, LineSaid
from flashscope.profiles.cluster.lines import LOST_REMEDY, FarLines, start_request
from flashscope.profiles.wire.cuts import CutAnswer, CutsEnded, CutsRound

ROUND, ENDED = CutsRound(done=1, total=2), CutsEnded(timer="a test")


def said(answer: CutAnswer, number: int = 7) -> LineSaid:
    return LineSaid(number=number, line=msgspec.json.encode(answer))


def test_answers_are_told_as_they_were_said_and_those_of_another_process_are_not() -> None:
    told = Mock()
    lines = FarLines(start_request(7, "cuts", ["a"], ()), told, Mock())
    for one in (said(ROUND, 6), said(ROUND), said(ENDED)):
        lines.heard(one)
    lines.lose("The host is lost.")  # all that was asked is done
    assert [call.args for call in told.call_args_list] == [(ROUND,), (ENDED,)]


def test_each_request_that_has_not_ended_ends_once_with_why_the_host_is_lost() -> None:
    told = Mock()
    lines = FarLines(start_request(7, "cuts", ["a", "b", "c"], ()), told, Mock())
    lines.heard(said(ENDED))
    for _ in range(2):
        lines.lose("The host is lost.")
    assert [call.args[0].reason for call in told.call_args_list] == [
        "",
        *[f"The host is lost. {LOST_REMEDY}"] * 2,
    ]


def test_one_that_is_ended_is_ended_there_and_tells_nothing_more() -> None:
    told, post = Mock(), Mock()
    lines = FarLines(start_request(7, "cuts", ["a"], ()), told, post)
    lines.end()
    lines.heard(said(ROUND))
    lines.lose("The host is lost.")
    post.assert_called_once_with(EndLines(number=7))
    told.assert_not_called()


def test_a_refusal_of_one_before_is_not_told() -> None:
    told = Mock()
    before, request = (start_request(number, "cuts", ["a"], ()) for number in (6, 7))
    lines = FarLines(request, told, Mock())
    lines.refused(before, "No process can be started.")
    told.assert_not_called()
    lines.refused(request, "No process can be started.")
    assert [call.args[0].reason for call in told.call_args_list] == ["No process can be started."]

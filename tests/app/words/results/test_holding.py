"""What a session without points holds, in words, and which view shows it."""

import pytest

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.sessions.columns import COLUMNS, KERNELS_COLUMN
from flashscope.app.words.results.holding import HELD, held_text, holding_text, view_instead, written_text
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from flashscope.profiles.store.listing import info_of
from tests.profiles.rank_results import result
from tests.profiles.store import builders


@pytest.fixture
def session() -> Session:
    """One without points."""
    return Session.begin(builders.plan_started(Plan(backend="cpu", kernels=(), problems=())))


def test_what_is_held_is_counted_and_what_is_not_is_not_said() -> None:
    assert held_text({"timelines": 2, "audits": 1}) == "1 audit, 2 timelines"
    assert not held_text({})


def test_each_kind_has_a_place_in_a_session_and_a_view(session: Session) -> None:
    assert {kind.view for kind in HELD.values()} <= set(VIEWS)
    assert all(getattr(session, key) == [] for key in HELD)


def test_a_file_is_told_to_have_points_or_what_ranks_did_where_it_has_that(session: Session) -> None:
    assert written_text(session, with_ranks=True) == "no points"
    session.ranks.append(result())
    assert written_text(session, with_ranks=True) == "1 result of ranks (zigzag)"
    assert written_text(session, with_ranks=False) == "no points"
    swept = Session.begin(builders.plan_started())
    assert written_text(swept, with_ranks=True) == f"{swept.plan.cells} points"


def test_the_view_is_that_of_what_tells_most_and_none_where_there_are_points(session: Session) -> None:
    assert (holding_text(session), view_instead(session)) == ("nothing else", "")
    session.audits.append(builders.audit())
    assert (holding_text(session), view_instead(session)) == ("1 audit", "audit")
    session.ranks.append(result())
    assert holding_text(session) == "1 result of ranks (zigzag), 1 audit"
    assert view_instead(session) == "ranks"
    swept = Session.begin(builders.plan_started())
    swept.ranks.append(result())
    assert (view_instead(swept), view_instead(None)) == ("", "")


def test_a_list_says_what_a_session_of_ranks_holds_and_of_which_lengths() -> None:
    info = info_of(next(path for path in bundled_sessions() if path.stem == "h100-ranks"))
    assert (info.held, info.seqlens[0], info.seqlens[-1]) == ({"ranks": 38}, 1 << 14, 1 << 20)
    told = [column.text(info) for column in COLUMNS]
    assert told[KERNELS_COLUMN : KERNELS_COLUMN + 2] == ["38 results of ranks", "16k – 1024k"]
    assert holding_text(load(info.path)).startswith(f"{told[KERNELS_COLUMN]} (ring, zigzag, ")

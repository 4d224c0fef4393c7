"""A story that is edited: every edit can be undone, and what is written is what is read."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stage.draft import Draft, History, as_seen, of_page, showing
from flashscope.app.stage.story import MOST_STOPS, SHOWN_BY, PageKey, Stop, read_story
from flashscope.app.stage.writing import problem_of, save_story
from flashscope.profiles.results.quantities.registry import QUANTITIES

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}"), max_size=20)
SENTENCE = st.lists(TEXT | st.sampled_from(["{n}", "{runtime of flash2}", "{fate of x}"])).map("".join)
PLACE = st.integers(0, 6)
REMARKED = """# my talk
title = "A talk"  # short

# where it begins
[[stop]]
page = "profile"
seqlen = 0x100  # 256
notes = '''
[[stop]] stands here, too
'''

# and then
[[stop]]
page = "stepper"
preset = "slide"
"""


@st.composite
def stops(draw: st.DrawFn) -> Stop:
    """A stop that can be read."""
    title, sentence, notes = draw(TEXT), draw(SENTENCE), draw(TEXT)
    if draw(st.booleans()):
        step, preset = draw(st.none() | st.integers(0, 99)), draw(st.sampled_from(["", "slide", "random"]))
        return Stop("stepper", title, preset=preset, step=step, sentence=sentence, notes=notes)
    return Stop(
        "profile",
        title,
        session=draw(st.sampled_from(["", "h200-peers"])),
        quantity=tuple(draw(st.lists(st.sampled_from([*QUANTITIES]), max_size=4))),
        kernels=tuple(draw(st.lists(TEXT, max_size=3))),
        seqlen=draw(st.none() | st.integers(1, 1 << 20)),
        sentence=sentence,
        notes=notes,
    )


Edit = Callable[[History], History]


def adding(stop: Stop) -> Edit:
    return lambda history: history.do(history.now.added(stop))


def titling(stop: Stop) -> Edit:
    return lambda history: history.do(history.now.titled(stop.title), "title")


def moving(source: int, place: int) -> Edit:
    return lambda history: history.do(history.now.moved(source, place))


def choosing(place: int) -> Edit:
    return lambda history: history.choose(place)


def typing(stop: Stop) -> Edit:
    def typed(history: History) -> History:
        mine = history.now.stop
        if mine is None:
            return history
        return history.do(history.now.changed(replace(mine, sentence=stop.sentence)), "sentence")

    return typed


def removing(history: History) -> History:
    return history.do(history.now.removed())


ANY_EDIT = st.one_of(
    *(st.builds(edit, stops()) for edit in (adding, titling, typing)),
    st.builds(moving, PLACE, PLACE),
    st.builds(choosing, PLACE),
    st.sampled_from([removing, History.undo, History.redo, History.pause]),
)
EDITS = st.lists(ANY_EDIT, max_size=25)
DRAFTS = st.builds(Draft, TEXT, st.lists(stops(), max_size=4).map(tuple))


@given(DRAFTS, EDITS)
def test_after_any_edits_undoing_all_gives_the_story_before_and_redoing_all_the_one_after(
    draft: Draft, edits: list[Edit]
) -> None:
    history = History(draft)
    for edit in edits:
        history = edit(history)
        assert history.now.stop is None or history.now.stop in history.now.stops
    last = _through(history, History.redo).now.content
    first = _through(history, History.undo)
    assert first.now.content == draft.content
    assert _through(first, History.redo).now.content == last


def _through(history: History, turn: Edit) -> History:
    while (turned := turn(history)) is not history:
        history = turned
    return history


@pytest.mark.matrix
@given(title=TEXT, written=st.lists(stops(), min_size=1, max_size=4), order=st.randoms(use_true_random=False))
def test_what_is_written_is_read_again_whatever_was_there_before(
    tmp_path_factory: pytest.TempPathFactory, title: str, written: list[Stop], order: object
) -> None:
    path = tmp_path_factory.mktemp("story") / "a.toml"
    before = save_story(path, title, written)
    changed = [*written[1:], replace(written[0], notes="other"), written[0]]
    save_story(path, title, changed, before, unchanged=True)
    story = read_story(path)
    assert (story.title, story.stops) == (title, tuple(changed))


def test_letters_typed_into_one_field_are_one_edit_until_another_is_chosen() -> None:
    stop = Stop("profile")
    history = History(Draft("", (stop, stop)))
    for text in ("a", "ab", "abc"):
        history = history.do(history.now.changed(replace(stop, sentence=text)), "sentence")
    assert len(history.past) == 1
    history = history.choose(1)
    history = history.do(history.now.changed(replace(stop, sentence="x")), "sentence")
    assert [one.sentence for one in history.now.stops] == ["abc", "x"]
    assert [one.sentence for one in history.undo().now.stops] == ["abc", ""]
    assert history.undo().undo().undo() == history.undo().undo()


def test_a_stop_that_is_undone_is_chosen_again() -> None:
    history = History(Draft("", (Stop("profile"), Stop("roofline"), Stop("planner")), 1))
    history = history.do(history.now.removed()).choose(0).undo()
    assert history.now.stop == Stop("roofline")


def test_remarks_and_the_writing_of_what_was_not_changed_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(REMARKED)
    story = read_story(path)
    first, second = story.stops
    save_story(path, story.title, [second, first], REMARKED.encode(), unchanged=True)
    text = path.read_text()
    assert text.startswith('# my talk\ntitle = "A talk"  # short\n\n# and then\n[[stop]]')
    assert "# where it begins\n[[stop]]" in text
    assert "seqlen = 0x100  # 256" in text
    save_story(path, story.title, [first, replace(second, step=1)], text.encode(), unchanged=True)
    assert path.read_text().endswith('page = "stepper"\npreset = "slide"\nstep = 1\n')
    assert "# where it begins" in path.read_text()


def test_a_story_whose_stops_are_written_in_one_list_is_written_anew(tmp_path: Path) -> None:
    path, before = tmp_path / "a.toml", b'title = "a"\nstop = [{page = "profile"}, {page = "planner"}]\n'
    path.write_bytes(before)
    save_story(path, "b", read_story(path).stops[1:], before, unchanged=True)
    assert path.read_text() == 'title = "b"\n\n[[stop]]\npage = "planner"\n'


def test_notes_that_hold_what_looks_like_a_stop_are_written_all_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.toml"
    notes = b'notes = """\n[[stop]]\npage\n"""\n'
    before = b"title = 'a'\n[[stop]]\npage = 'profile'\n" + notes + b"[[stop]]\npage = 'planner'\n"
    path.write_bytes(before)
    first, second = read_story(path).stops
    save_story(path, "a", [second, first], before, unchanged=True)
    assert read_story(path).stops == (second, first)


def test_a_long_story_is_read_once_more_when_it_is_saved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.toml"
    stops = [Stop("profile", notes=f"note {number}") for number in range(MOST_STOPS)]
    before = save_story(path, "a", stops)
    read: list[str] = []
    decode = msgspec.toml.decode

    def counting(text: str) -> object:
        read.append(text)
        return decode(text)

    monkeypatch.setattr(msgspec.toml, "decode", counting)
    stops[3] = replace(stops[3], notes="another")
    save_story(path, "a", stops, before, unchanged=True)
    assert read_story(path).stops == tuple(stops)
    assert sum(len(text) for text in read) < 1.5 * len(before)


def test_lines_of_windows_and_its_mark_of_utf8_stay(tmp_path: Path) -> None:
    path, before = tmp_path / "a.toml", b"\xef\xbb\xbf" + REMARKED.replace("\n", "\r\n").encode()
    path.write_bytes(before)
    stops = read_story(path).stops
    written = save_story(path, "A talk", [*stops, Stop("planner")], before, unchanged=True)
    assert written.startswith(b"\xef\xbb\xbf# my talk\r\n")
    assert written.count(b"\n") == written.count(b"\r\n")
    assert read_story(path).stops == (*stops, Stop("planner"))


@pytest.mark.parametrize("page", ["profile", "stepper", "traffic", "planner"])
def test_a_stop_on_another_page_has_what_that_page_shows(page: PageKey, tmp_path: Path) -> None:
    full = Stop(
        page="profile",
        title="t",
        session="h200-peers",
        quantity=("runtime",),
        kernels=("flash2",),
        baseline="standard",
        curve="d 64",
        seqlen=512,
        sentence="s",
    )
    moved = of_page(full, page)
    assert not problem_of(tmp_path / "a.toml", moved)
    assert (moved.title, moved.session, moved.sentence) == ("t", "h200-peers", "s")
    assert moved.seqlen == (512 if page in SHOWN_BY["seqlen"] else None)


def test_a_mode_stays_on_its_page(tmp_path: Path) -> None:
    memories = Stop("roofline", mode="memories")
    assert not problem_of(tmp_path / "a.toml", memories)
    assert not problem_of(tmp_path / "a.toml", of_page(memories, "stepper"))
    assert of_page(memories, "roofline") == memories
    assert "did you mean memories?" in problem_of(tmp_path / "a.toml", Stop("roofline", mode="memory"))


def test_a_stop_takes_what_is_shown_and_keeps_its_words() -> None:
    mine = Stop("profile", "title", kernels=("flash1",), seqlen=64, notes="mine")
    shown = Stop("profile", session="h200-peers", kernels=("flash2",), sentence="theirs", notes="theirs")
    taken = showing(mine, shown)
    assert taken == Stop(
        "profile", "title", "h200-peers", kernels=("flash2",), sentence="theirs", notes="mine"
    )
    assert as_seen(taken) == Stop("profile", session="h200-peers", kernels=("flash2",), sentence="theirs")


def test_sessions_are_named_from_where_the_story_is_saved(tmp_path: Path) -> None:
    draft = Draft("", (Stop("profile", session="a.flashscope"), Stop("profile", session="h200-peers")))
    moved = draft.based(tmp_path / "x.toml", tmp_path / "talks" / "x.toml")
    assert [stop.session for stop in moved.stops] == ["../a.flashscope", "h200-peers"]
    assert draft.based(tmp_path / "x.toml", tmp_path / "y.toml") == draft


def test_what_is_compared_is_named_from_where_the_story_is_saved(tmp_path: Path) -> None:
    draft = Draft("T", (Stop("compare", session="h100-peers", beside=("h200-peers", "b.flashscope")),))
    moved = draft.based(tmp_path / "x.toml", tmp_path / "talks" / "x.toml")
    assert moved.stops[0].beside == ("h200-peers", "../b.flashscope")

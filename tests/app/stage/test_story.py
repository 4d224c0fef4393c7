"""A story is read whole, or refused with its file, its stop and a remedy."""

import importlib.util
import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flashscope.app.pages import staging
from flashscope.app.pages.registry import VIEWS
from flashscope.app.stage.blanks import BLANK
from flashscope.app.stage.story import (
    BUNDLED_STORIES,
    ENDING,
    SHOWN_BY,
    STORIES,
    PageKey,
    Stop,
    StoryError,
    find_story,
    read_story,
)
from flashscope.app.stage.writing import add_stop, as_toml, session_named
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import SessionFileError

GOOD = 'title = "A story"\n\n[[stop]]\npage = "profile"\nquantity = "runtime"\n'
BY_THE_STAGE = {"run", "fallback"}
FOR_EVERY_PAGE = {"page", "session"}
SPELLED = re.compile(r"flash\d(-\w+)?|float64")  # names with a digit
KEYS = st.sampled_from([*Stop.__struct_fields__, "title", "stop", "pages"])
VALUES = st.recursive(
    st.text(max_size=10) | st.integers() | st.floats() | st.booleans(), lambda one: st.lists(one, max_size=3)
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(StoryError) as caught:
        read_story(path)
    return str(caught.value)


@pytest.mark.parametrize("name", BUNDLED_STORIES)
def test_a_bundled_story_is_called_as_it_is_listed(name: str) -> None:
    assert read_story(find_story(name)).title == BUNDLED_STORIES[name]


def test_every_bundled_story_is_listed() -> None:
    assert sorted(BUNDLED_STORIES) == sorted(path.stem for path in STORIES.glob(f"*{ENDING}"))


@pytest.mark.parametrize("name", BUNDLED_STORIES)
def test_no_figure_stands_in_a_bundled_story(name: str) -> None:
    for stop in read_story(find_story(name)).stops:
        assert not re.search(r"\d", SPELLED.sub("", BLANK.sub("", stop.sentence))), stop.sentence
        assert stop.title
        assert stop.notes
        assert BLANK.search(stop.sentence) or not stop.sentence, "its view says what there is to say"


def test_pages_of_stops_are_pages_of_the_window() -> None:
    assert set(get_args(PageKey)) <= set(VIEWS)


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ('quantity = "runtme"', "did you mean runtime?"),
        ('preset = "sldie"', "did you mean slide?"),
        ('panels = ["plots"]', "there are tiles"),
        ('session = "nowhere.flashscope"', "name a file beside the story, or h200-standard-flash2"),
        ('sentence = "{spedup}"', "did you mean"),
        ('sentence = "{}"', "write it as {runtime of flash2 against standard}"),
        ('sentence = "{growth of step}"', "take one, such as runtime"),
        ('seqlen = "32k"', "Expected `int"),
        ("seqlen = 0", ">= 1"),
        ("step = -1", ">= 0"),
        ('pages = "profile"', "a stop has page, title"),
        ('page = "start"', "there are profile, telemetry"),
        ("kernels = 3", "kernels"),
        ("grid = true", "there is no field 'grid'; a stop has page"),
        ("'grid' = true", "there is no field 'grid'"),
        ("grid.rows = 3", "there is no field 'grid'"),
        ("[stop.grid]", "there is no field 'grid'"),
        ('lines = "for"', "the profile page shows no lines; a stop has page"),
    ],
)
def test_what_is_wrong_is_told_with_its_file_its_stop_its_line_and_a_remedy(
    tmp_path: Path, added: str, told: str
) -> None:
    field = re.findall(r"\w+", added)[-1 if added.startswith("[") else 0]
    page = {"page": "", "preset": "stepper", "step": "stepper", "panels": "stepper"}.get(field, "profile")
    head = "\n[[stop]]\n" + (f'page = "{page}"\n' if page else "")
    before = f'{GOOD}notes = """\n{added}\n[[stop]]\n{added}"""\n{head}sentence = "{field} = {field}"\n'
    if field == "sentence":
        before = GOOD + head
    path = write(tmp_path, f"{before}{added}\n")
    said = refusal(path)
    line = before.count("\n") + 1
    assert said.startswith(f"{path}, stop 2, line {line}: ")
    assert told in said


def test_a_field_that_is_written_in_another_way_is_refused_without_a_line(tmp_path: Path) -> None:
    path = write(tmp_path, 'title = "a"\nstop = [{page = "profile", "gr\\u0069d" = 1}]\n')
    assert refusal(path).startswith(f"{path}, stop 1: there is no field 'grid'")


@pytest.mark.parametrize("page", get_args(PageKey))
def test_a_stop_of_a_page_has_the_fields_that_the_page_shows(page: str) -> None:
    """Those for every page aside: whatever else a stop has would be taken in silence."""
    read = set(re.findall(r"\bstop\.(\w+)", inspect.getsource(staging_module(page))))
    assert {
        field for field, pages in SHOWN_BY.items() if page in pages
    } - BY_THE_STAGE == read - FOR_EVERY_PAGE


def staging_module(view: str) -> ModuleType:
    """What puts a view on a stage: that of its page, of a form of that page its own, or the usual one."""
    page = VIEWS[view].page_key
    name = f"flashscope.app.pages.{page}.{'staging' if page == view else f'{view}_staging'}"
    return import_module(name) if importlib.util.find_spec(name) is not None else staging


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("title = ", "not TOML"),
        (b"\xff\xfe", "UTF-8"),
        ("title = 'a'", "[[stop]]"),
        ("title = 'a'\nstop = []", "it has 0 stops; write 1 to 99"),
        ("title = 'a'\n" + "[[stop]]\npage = 'profile'\n" * 100, "it has 100 stops"),
        ("x = " + "[" * 100_000, "not TOML"),
        (" " * (1 << 21), "1 MiB"),
    ],
)
def test_what_is_no_story_is_told_with_its_file(tmp_path: Path, content: str | bytes, told: str) -> None:
    path = write(tmp_path, content)
    said = refusal(path)
    assert said.startswith(f"{path}: ")
    assert told in said


def test_a_story_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "gone.toml")
    with pytest.raises(StoryError, match="did you mean why-tiling-wins"):
        find_story("why-tilling-wins")
    with pytest.raises(StoryError, match=f"bundled are {', '.join(BUNDLED_STORIES)}"):
        find_story("xyz")


@given(content=st.binary(max_size=60) | TEXT.map(str.encode))
def test_no_content_is_answered_with_anything_but_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = write(tmp_path_factory.getbasetemp(), content)
    assert refusal(path).startswith(str(path))


@given(table=st.dictionaries(KEYS, VALUES, max_size=4))
@example(table={"page": "profile"})
def test_any_stop_is_read_or_refused_with_its_number(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, object]
) -> None:
    path = write(tmp_path_factory.getbasetemp(), f"{GOOD}\n[[stop]]\n{lines(table)}")
    said = outcome(path)
    assert not said or re.match(rf"{re.escape(str(path))}, stop 2(, line \d+)?: ", said)
    assert not said or "; " in said


def outcome(path: Path) -> str:
    """Why a story was refused, empty when it was read."""
    try:
        read_story(path)
    except StoryError as refused:
        return str(refused)
    return ""


def lines(table: dict[str, object]) -> str:
    """A table in TOML."""
    return "".join(f"{key} = {toml(value)}\n" for key, value in table.items())


def toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, str):
        return as_toml(Stop("profile", title=value)).split("title = ")[-1].strip() if value else '""'
    return str(value).lower() if isinstance(value, bool | float) else str(value)


@pytest.mark.matrix
@given(title=TEXT, sentence=TEXT, notes=TEXT, quantity=st.lists(st.sampled_from([*QUANTITIES]), max_size=4))
def test_a_stop_that_was_added_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, title: str, sentence: str, notes: str, quantity: list[str]
) -> None:
    told = sentence.replace("{", "(")
    stop = Stop("profile", title=title, quantity=tuple(quantity), sentence=told, notes=notes, seqlen=64)
    path = tmp_path_factory.mktemp("written") / "new.toml"
    assert add_stop(path, Stop("roofline")) == 1
    assert add_stop(path, stop) == 2
    story = read_story(path)
    assert story.title == "new"
    assert story.stops == (Stop("roofline"), stop)


def test_a_stop_is_added_to_no_file_that_is_no_story(tmp_path: Path) -> None:
    path = write(tmp_path, "key = 1")
    with pytest.raises(StoryError):
        add_stop(path, Stop("profile"))
    assert path.read_text() == "key = 1"
    with pytest.raises((SessionFileError, OSError)):
        add_stop(tmp_path / "no" / "folder.toml", Stop("profile"))


def test_an_added_stop_names_a_bundled_session_by_its_name_and_another_from_where_the_story_is(
    tmp_path: Path,
) -> None:
    bundled = read_story(find_story("why-tiling-wins"))
    path = bundled.session_of(bundled.stops[0])
    assert session_named(Stop("profile"), path, tmp_path / "a.toml").session == "h200-standard-flash2"
    mine = tmp_path / "sessions" / "mine.flashscope"
    assert session_named(Stop("profile"), mine, tmp_path / "a.toml").session == "sessions/mine.flashscope"
    assert session_named(Stop("stepper"), mine, tmp_path / "a.toml").session == ""

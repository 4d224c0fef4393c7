"""A story: stops for a stage in a small text file (TOML) that anyone can write."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec

from app.control.bundled import BUNDLED, NAMES
from app.look.assets import ASSETS
from app.stage.blanks import blanks
from kernels.errors import InputError
from profiles.results.quantities import QUANTITIES
from profiles.store import SUFFIX

STORIES = ASSETS / "stories"
ENDING = ".toml"
BUNDLED_STORIES = {  # by their files
    "why-tiling-wins": "Why tiling wins",
    "online-softmax": "The online softmax in twelve steps",
    "flash1-to-flash3": "From flash1 to flash3",
}
LARGEST = 1 << 20  # bytes of a file
MOST_STOPS = 99
PANELS = (
    "tiles",
    "scores",
    "weights",
    "formulas",
    "memory",
    "maximum",
    "sum",
    "factor",
    "output",
    "code",
    "naive",
)

PageKey = Literal["profile", "stepper", "compare", "planner", "traffic", "roofline", "ladder"]
Text = Annotated[str, msgspec.Meta(max_length=2000)]
Name = Annotated[str, msgspec.Meta(max_length=100)]
T = TypeVar("T")


class StoryError(InputError):
    """A story cannot be read; the text names its file, the stop and the remedy."""


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One stop of a story: what is shown, and the sentence over it.

    Attributes:
        page: The page that shows it.
        title: What it is called, for the speaker.
        session: A bundled recording by its name, or a file beside the story; empty: what is on show.
        quantity: What the plots show, one to four; empty: as they are.
        kernels: Whose curves are shown, the last one the sentence's own; empty: all.
        baseline: What the kernels are compared with; empty: as usual.
        curve: Which problems, as `d 128, causal`; empty: the first.
        seqlen: Where the crosshair stands; None: where it tells most.
        preset: What the Stepper walks through.
        step: Which step of it, from 0.
        panels: Which of the Stepper's panels are shown; empty: formulas and scores.
        lines: What the lines of source hold that stand on top, of the one before and of the kernel, or of
            both; empty: the first change.
        sentence: What is said, with blanks.
        notes: For the speaker alone.
    """

    page: PageKey
    title: Name = ""
    session: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    quantity: Annotated[tuple[Name, ...], msgspec.Meta(max_length=4)] = ()
    kernels: Annotated[tuple[Name, ...], msgspec.Meta(max_length=32)] = ()
    baseline: Name = ""
    curve: Annotated[str, msgspec.Meta(max_length=200)] = ""
    seqlen: Annotated[int, msgspec.Meta(gt=0, le=1 << 30)] | None = None
    preset: Name = ""
    step: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] | None = None
    panels: Annotated[tuple[Name, ...], msgspec.Meta(max_length=4)] = ()
    lines: Annotated[tuple[Name, ...], msgspec.Meta(max_length=2)] = ()
    sentence: Text = ""
    notes: Annotated[str, msgspec.Meta(max_length=20_000)] = ""


class Story(msgspec.Struct, frozen=True):
    """What is presented.

    Attributes:
        path: Its file.
        title: What it is called.
        stops: In the order they are walked, one at least.
    """

    path: Path
    title: str
    stops: tuple[Stop, ...]

    def session_of(self, stop: Stop) -> Path | None:
        """The file of a stop's session, None: what is on show stays."""
        return session_file(self.path, stop.session) if stop.session else None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    title: Name
    stop: list[dict[str, Any]]


def find_story(text: str) -> Path:
    """The file of a story, named by its path or, of a bundled one, by its name.

    Raises:
        StoryError: There is none.
    """
    if text in BUNDLED_STORIES:
        return STORIES / f"{text}{ENDING}"
    if Path(text).exists():
        return Path(text)
    meant = get_close_matches(text, BUNDLED_STORIES, n=1)
    told = f"did you mean {meant[0]}?" if meant else f"bundled are {', '.join(BUNDLED_STORIES)}"
    raise StoryError(f"there is no story {text[:80]!r}; name a file, or a bundled one: {told}")


def read_story(path: Path) -> Story:
    """Read a story, and look whether all that it names is there.

    Raises:
        StoryError: It cannot be read or is not right: the file, the stop and the remedy.
    """
    with _told(f"{path}"):
        known = _decoded(path)
        if not 0 < len(known.stop) <= MOST_STOPS:
            raise InputError(f"it has {len(known.stop)} stops; write 1 to {MOST_STOPS}, each under [[stop]]")
    return Story(path, known.title, tuple(_stops(path, known.stop)))


def _stops(path: Path, tables: Sequence[dict[str, Any]]) -> Iterator[Stop]:
    for number, table in enumerate(tables, 1):
        with _told(f"{path}, stop {number}"):
            yield _stop(path, table)


def session_file(story: Path, name: str) -> Path:
    """Where a session is that a story names: bundled, or beside the story."""
    return BUNDLED / f"{name}{SUFFIX}" if name in NAMES else story.parent / name


@contextmanager
def _told(where: str) -> Iterator[None]:
    """What is wrong, with its place in front."""
    try:
        yield
    except InputError as error:
        raise StoryError(f"{where}: {error}") from error


def _decoded(path: Path) -> _File:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError("it is larger than 1 MiB; a story is a small text file")
        data = msgspec.toml.decode(path.read_bytes())
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}; name a story's file") from error
    except UnicodeDecodeError as error:
        raise InputError("it is no text in UTF-8; save it as such") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"it is not TOML: {error}; put text into quotes, and see a bundled story") from error
    return _converted(data, _File, 'a story has title = "…" and [[stop]] tables')


def _converted(data: Any, kind: type[T], remedy: str) -> T:
    try:
        return msgspec.convert(data, kind, strict=True)
    except msgspec.ValidationError as error:
        raise InputError(f"{error}; {remedy}") from error


def _stop(path: Path, data: dict[str, Any]) -> Stop:
    if isinstance(page := data.get("page"), str):
        _among(page, get_args(PageKey), "page")
    listed = {
        key: [data[key]]
        for key in ("quantity", "kernels", "panels", "lines")
        if isinstance(data.get(key), str)
    }
    stop = _converted(data | listed, Stop, f"a stop has {', '.join(Stop.__struct_fields__)}")
    for name in stop.quantity:
        _among(name, tuple(QUANTITIES), "quantity")
    for name in stop.panels:
        _among(name, PANELS, "panel")
    if stop.preset:
        _among(stop.preset, _presets(), "preset")
    if stop.session and not session_file(path, stop.session).is_file():
        known = ", ".join(NAMES)
        raise InputError(f"there is no session {stop.session!r}; name a file beside the story, or {known}")
    blanks(stop.sentence)
    return stop


def _presets() -> Sequence[str]:
    from app.stepper.presets import PRESETS  # noqa: PLC0415 - NumPy takes a while to load, and every page is here

    return [preset.key for preset in PRESETS]


def _among(name: str, names: Sequence[str], what: str) -> None:
    if name in names:
        return
    meant = get_close_matches(name, names, n=1)
    told = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(names)}"
    raise InputError(f"there is no {what} {name!r}; {told}")

"""A story: stops for a stage in a small text file (TOML) that anyone can write."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from flashscope.app.control.bundled import BUNDLED, NAMES
from flashscope.app.look.assets import ASSETS
from flashscope.app.stage.blanks import blanks
from flashscope.app.stage.lines import line_of
from flashscope.app.stage.live import check_run
from flashscope.app.stage.names import SAID, check_among, modes, presets
from flashscope.app.words.plain import cut_short
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.trace import FAULTS
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store import SUFFIX

STORIES = ASSETS / "stories"
ENDING = ".toml"
BUNDLED_STORIES = {  # by their files
    "why-tiling-wins": "Why tiling wins",
    "online-softmax": "The online softmax in twelve steps",
    "flash1-to-flash3": "From flash1 to flash3",
    "inside-flash3": "Inside flash3",
}
LARGEST = 1 << 20  # bytes of a file
MOST_STOPS = 99
REASON = 300  # characters of what a decoder says, which quotes the story
DOTTED = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){16}""")
"""A key of so many parts: a reader's time grows with their square, and no story has one of two."""
NAMED = re.compile(r"`\$\.(\w+)")  # the field that a refusal of msgspec speaks of
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

PageKey = Literal[
    "profile",
    "telemetry",
    "results",
    "traffic",
    "roofline",
    "ranks",
    "stepper",
    "timeline",
    "ladder",
    "compare",
    "designer",
    "planner",
]
StoryText = Annotated[str, msgspec.Meta(max_length=2000)]
Name = Annotated[str, msgspec.Meta(max_length=100)]
SessionName = Annotated[str, msgspec.Meta(max_length=1000)]
T = TypeVar("T")


class StoryError(InputError):
    """A story cannot be read; the text names its file, the stop and the remedy."""


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One stop of a story: what is shown, and the sentence over it.

    Attributes:
        page: The page that shows it.
        title: What it is called, for the speaker.
        session: A bundled recording by its name, or a file beside the story; empty: what is on show.
        beside: What is compared with the session, named as it is; empty: what is compared already.
        run: The options of a sweep that runs here and is shown as it grows; empty: nothing runs.
        fallback: The recording that is shown where that cannot run or fails, named as a session.
        quantity: What the plots, or the columns of the results, show, one to four; empty: as they are.
        kernels: Whose curves are shown, the last one the sentence's own; of a trace, whose it is; empty: all.
        baseline: What the kernels are compared with; empty: as usual.
        curve: Which problems, as `d 128, causal`, of ranks which pass, mask and more that their box has, as
            `backward, causal, 4 ranks`; empty: the first, of timelines those that are plainest.
        seqlen: Where the crosshair stands, or of which N timelines and traces are; None: where it tells most.
        preset: What the Stepper walks through; empty: the newest trace of the session, if one is named, of
            the last kernel and of the N that are named.
        step: Which step of it, from 0.
        mode: In which mode the Stepper walks, empty: Blocks; on the Roofline `memories` for those, empty:
            the plot; of Ranks `memory` or `lanes`, empty: the efficiency; of Source `stalls` for what a step
            changed in them, empty: the sources.
        fault: What the mode Broken breaks; empty: what it broke last.
        panels: Which panels of Blocks are shown; empty: formulas and scores.
        lines: What the lines of source hold that stand on top, of the one before and of the kernel, or of
            both; empty: the first change.
        marked: What the lines of the kernel's source hold that are marked, or their numbers, as `12` or
            `12-18`; all others stand back, and the first is scrolled to; empty: none is.
        sentence: What is said, with blanks.
        notes: For the speaker alone.
    """

    page: PageKey
    title: Name = ""
    session: SessionName = ""
    beside: Annotated[tuple[SessionName, ...], msgspec.Meta(max_length=5)] = ()
    run: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    fallback: SessionName = ""
    quantity: Annotated[tuple[Name, ...], msgspec.Meta(max_length=4)] = ()
    kernels: Annotated[tuple[Name, ...], msgspec.Meta(max_length=32)] = ()
    baseline: Name = ""
    curve: Annotated[str, msgspec.Meta(max_length=200)] = ""
    seqlen: Annotated[int, msgspec.Meta(gt=0, le=1 << 30)] | None = None
    preset: Name = ""
    step: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] | None = None
    mode: Name = ""
    fault: Name = ""
    panels: Annotated[tuple[Name, ...], msgspec.Meta(max_length=4)] = ()
    lines: Annotated[tuple[Name, ...], msgspec.Meta(max_length=2)] = ()
    marked: Annotated[tuple[Name, ...], msgspec.Meta(max_length=8)] = ()
    sentence: StoryText = ""
    notes: Annotated[str, msgspec.Meta(max_length=20_000)] = ""


GROWING: Sequence[PageKey] = ("profile", "telemetry", "results")
"""The pages that show a sweep as it grows."""

SHOWN_BY: Mapping[str, Sequence[PageKey]] = {  # the fields that are not for every page
    "beside": ("compare",),
    "run": GROWING,
    "fallback": GROWING,
    "quantity": ("profile", "results", "compare"),
    "kernels": ("profile", "results", "traffic", "roofline", "timeline", "ladder", "stepper", "designer"),
    "baseline": ("profile", "results"),
    "curve": ("profile", "results", "timeline", "ladder", "designer", "ranks"),
    "seqlen": ("profile", "results", "traffic", "timeline", "ladder", "stepper", "designer"),
    "preset": ("stepper",),
    "step": ("stepper",),
    "mode": ("stepper", "roofline", "ranks", "ladder"),
    "fault": ("stepper",),
    "panels": ("stepper",),
    "lines": ("ladder",),
    "marked": ("ladder",),
}
LISTED = tuple(field for field, kind in get_type_hints(Stop).items() if get_origin(kind) is tuple)
"""The fields that are lists; a single text stands for a list of it."""


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

    def fallback_of(self, stop: Stop) -> Path | None:
        """The file of what is shown where a stop cannot run, None: the stop runs nothing."""
        return session_file(self.path, stop.fallback) if stop.fallback else None

    def beside_of(self, stop: Stop) -> Sequence[Path]:
        """The files of what is compared with a stop's session."""
        return [session_file(self.path, name) for name in stop.beside]


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
    with suppress(OSError, ValueError):  # a name that no file can have
        if Path(text).exists():
            return Path(text)
    meant = get_close_matches(text[:SAID], BUNDLED_STORIES, n=1)
    told = f"did you mean {meant[0]}?" if meant else f"bundled are {', '.join(BUNDLED_STORIES)}"
    raise StoryError(f"there is no story {text[:SAID]!r}; name a file, or a bundled one: {told}")


def read_story(path: Path) -> Story:
    """Read a story, and look whether all that it names is there.

    Raises:
        StoryError: It cannot be read or is not right: the file, the stop, the line and the remedy.
    """
    with _told(f"{path}"):
        content = story_bytes(path)
    return story_of(path, content)


def story_of(path: Path, content: bytes) -> Story:
    """The story that a file of this content would hold.

    Raises:
        StoryError: As `read_story`.
    """
    with _told(f"{path}"):
        text = _text(content)
        known = _decoded(text)
        if not 0 < len(known.stop) <= MOST_STOPS:
            raise InputError(f"it has {len(known.stop)} stops; write 1 to {MOST_STOPS}, each under [[stop]]")
    stops = (_stop(_Place(path, text, number), table) for number, table in enumerate(known.stop, 1))
    return Story(path, known.title, tuple(stops))


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


class _Place(NamedTuple):
    """One stop of a story's text."""

    path: Path
    text: str
    number: int

    @contextmanager
    def told(self, field: str = "") -> Iterator[None]:
        """What is wrong, with its stop in front, and the line of its field; empty: of the field it names."""
        try:
            yield
        except InputError as error:
            named = field or "".join(NAMED.findall(str(error))[:1])
            line = line_of(self.text, self.number, named) if named else None
            on = f", line {line}" if line is not None else ""
            raise StoryError(f"{self.path}, stop {self.number}{on}: {error}") from error


def story_bytes(path: Path) -> bytes:
    """What a story's file holds, no more of it than a story may have and a byte.

    Raises:
        InputError: It cannot be read.
    """
    try:
        if not path.is_file() and path.exists():  # a device never ends, and a pipe waits for who writes it
            raise InputError("it is no plain file; name a story's file")
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}; name a story's file") from error


def _text(content: bytes) -> str:
    if len(content) > LARGEST:
        raise InputError("it is larger than 1 MiB; a story is a small text file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("it is no text in UTF-8; save it as such") from error


@lru_cache(maxsize=2)
def _decoded(text: str) -> _File:
    """What a text holds, read once of the same: what a story was saved as is what it is saved over next."""
    if found := DOTTED.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(
            f"line {line} names a table in a table in a table; a story has title and [[stop]] tables"
        )
    try:
        data = msgspec.toml.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(
            f"it is not TOML: {cut_short(str(error), REASON)}; put text into quotes, and see a bundled story"
        ) from error
    except ValueError as error:  # Python reads no numbers of thousands of digits
        raise InputError("a number in it has too many digits; a story's numbers are small") from error
    return _converted(data, _File, 'a story has title = "…" and [[stop]] tables')


def _converted(data: Any, kind: type[T], remedy: str) -> T:
    try:
        return msgspec.convert(data, kind, strict=True)
    except msgspec.ValidationError as error:
        raise InputError(f"{cut_short(str(error), REASON)}; {remedy}") from error


def _stop(place: _Place, data: dict[str, Any]) -> Stop:
    page = data.get("page")
    if isinstance(page, str):
        with place.told("page"):
            check_among(page, get_args(PageKey), "page")
    for field in data:
        with place.told(field):
            _check_shown(field, page)
    listed = {field: [data[field]] for field in LISTED if isinstance(data.get(field), str)}
    with place.told():
        stop = _converted(data | listed, Stop, _remedy(page))
    for field, names, known in (
        ("quantity", stop.quantity, lambda: tuple(QUANTITIES)),
        ("panel", stop.panels, lambda: PANELS),
        ("preset", (stop.preset,) * bool(stop.preset), presets),
        ("mode", (stop.mode,) * bool(stop.mode), partial(modes, stop.page)),
        ("fault", (stop.fault,) * bool(stop.fault), lambda: FAULTS),
    ):
        with place.told("panels" if field == "panel" else field):
            for name in names:
                check_among(name, known(), field)
    for field, names in {
        "session": (stop.session,),
        "beside": stop.beside,
        "fallback": (stop.fallback,),
    }.items():
        with place.told(field):
            for name in names:
                _check_session(place.path, name)
    with place.told("run" if stop.run else "fallback"):
        _check_live(stop)
    with place.told("sentence"):
        blanks(stop.sentence)
    return stop


def _check_shown(field: str, page: object) -> None:
    """Refuse a field that there is not, or that the page has no use for: it would be taken in silence."""
    if field not in Stop.__struct_fields__:
        raise InputError(f"there is no field {field[:40]!r}; {_remedy(page)}")
    if not _shows(page, field):
        raise InputError(f"the {page} page shows no {field}; {_remedy(page)}")


def _remedy(page: object) -> str:
    return f"a stop has {', '.join(field for field in Stop.__struct_fields__ if _shows(page, field))}"


def _shows(page: object, field: str) -> bool:
    """Whether a page shows a field; where it is not known which page is meant, any may."""
    return page not in get_args(PageKey) or field not in SHOWN_BY or page in SHOWN_BY[field]


def _check_session(story: Path, name: str) -> None:
    if name and not _is_file(session_file(story, name)):
        known = ", ".join(NAMES)
        raise InputError(f"there is no session {name[:SAID]!r}; name a file beside the story, or {known}")


def _check_live(stop: Stop) -> None:
    """Refuse a stop that runs and says not what is shown where it cannot."""
    if not stop.run:
        if stop.fallback:
            raise InputError("nothing runs here; write run, which it stands in for, or session in its place")
        return
    check_run(stop.run)
    if stop.session:
        raise InputError("a stop shows what it runs, or a session; name the recording as fallback")
    if not stop.fallback:
        raise InputError(f'name what is shown where it cannot run; write fallback = "{next(iter(NAMES))}"')


def _is_file(path: Path) -> bool:
    """Whether there is a plain file of this name; of one that no file can have there is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False

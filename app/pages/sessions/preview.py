"""What the chosen session is, beside the table: curves as a stamp, machine, state, the user's words."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QScrollArea, QVBoxLayout, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.sessions.between_runs import between_runs
from flashscope.app.pages.sessions.columns import machine_text, seqlens_text, session_name
from flashscope.app.pages.sessions.rows import RowKey, SessionRow
from flashscope.app.plots.thumbnail import Thumbnail
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.term_label import TermLabel
from flashscope.app.words.own.own_kernels import origin
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.holding import held_text
from flashscope.app.words.results.sessions import minute_of
from flashscope.app.words.units import bytes_text
from flashscope.profiles.store import SessionFileError, SessionInfo
from flashscope.profiles.store.glance import Glance, glance
from flashscope.profiles.wire.events import PointStatus

WIDTH_PX = 300
MOST_NOTE = 400
ALTERED = "Left out of the curves, not as measured: {}"
NOTHING, SEVERAL = "Choose a session to see what is in it.", "{} sessions are chosen."
FACTS = (
    "Altered",
    "Runs",
    "Between runs",
    "Problem",
    "Pass",
    "Device",
    "Date",
    "Kernels",
    "Own kernels",
    "N",
    "Points",
    "Holds",
    "Size",
    "Tags",
    "Notes",
    "Note",
)


class SessionPreview(Card):
    """Shows one session; its curves follow as soon as they are read."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("Preview")
        self._chores = Chores(self)
        self._key: RowKey | None = None
        self.thumbnail = Thumbnail(theme)
        self.words = PlainLabel(NOTHING, wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.words.setProperty("role", "dim")
        self.name = PlainLabel(wordWrap=True)
        self.name.setProperty("role", "title")
        self.facts = {title: PlainLabel(wordWrap=True) for title in FACTS}
        self._form = QFormLayout()
        for title, label in self.facts.items():
            heading = TermLabel(title, alignment=Qt.AlignmentFlag.AlignTop)
            heading.setProperty("role", "dim")
            self._form.addRow(heading, label)
        self._lay_out()
        self.show_rows([])

    def show_rows(self, rows: Sequence[SessionRow]) -> None:
        """Show the one row that is chosen; of several how many sessions are in them."""
        one = rows[0] if len(rows) == 1 else None
        sessions = {info.path for row in rows for info in row.runs}
        self.words.setText(SEVERAL.format(len(sessions)) if rows else NOTHING)
        self.words.setVisible(one is None)
        self._body.setVisible(one is not None)
        if one is None:
            self._key = None
        else:
            self._show(one)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.thumbnail.apply_theme(theme)

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this goes."""
        self._chores.wait()

    def _show(self, row: SessionRow) -> None:
        info = row.info
        self.name.setText(session_name(info))
        for title, text in _facts(row).items():
            self._tell(title, text)
        if row.key != self._key:
            self._key = row.key
            for title in ("Problem", "Altered", "Between runs"):
                self._tell(title, "")
            self.thumbnail.show_curves({})
        self._chores.do_instead(partial(_glance, info), partial(self._take, row))
        if row.family is not None:
            self._chores.do(partial(between_runs, row), partial(self._take_spread, row))

    def _take_spread(self, row: SessionRow, told: str) -> None:
        if row.key == self._key:
            self._tell("Between runs", told)

    def _take(self, row: SessionRow, seen: Glance | None) -> None:
        info = row.info
        if row.key != self._key:
            return
        if seen is not None:
            self._tell("Points", _points(info, recorded=seen.recorded))
        self.thumbnail.show_curves(seen.curves if seen else {}, seen.altered if seen else 0)
        self._tell("Altered", ALTERED.format(seen.altered) if seen and seen.altered else "")
        others = f", and {seen.others} more" if seen and seen.others else ""
        self._tell("Problem", f"{seen.label}{others}" if seen else "")

    def _tell(self, title: str, text: str) -> None:
        """Show a fact; without a text it takes no room."""
        self.facts[title].setText(cut_short(text, MOST_NOTE))
        self._form.setRowVisible(self.facts[title], bool(text))

    def _lay_out(self) -> None:
        self._body = QWidget()
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.name)
        column.addWidget(self.thumbnail)
        column.addLayout(self._form)
        column.addStretch(1)
        scrolled = QScrollArea(widgetResizable=True)
        scrolled.setFrameShape(QScrollArea.Shape.NoFrame)
        scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        whole = QVBoxLayout(inner)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.words)
        whole.addWidget(self._body, 1)
        scrolled.setWidget(inner)
        self.body.addWidget(scrolled)
        keep(self, self.setMaximumWidth, WIDTH_PX)


def _glance(info: SessionInfo) -> Glance | None:
    """The curves, None of a file that cannot be read: the list says why."""
    try:
        return None if info.error else glance(info.path)
    except SessionFileError:
        return None


def _facts(row: SessionRow) -> dict[str, str]:
    """What there is to say of a row without looking at its points."""
    info = row.info
    return {
        "Runs": "" if row.family is None else f"{row.counted} of one plan; the curves are the newest's",
        "Device": machine_text(info),
        "Date": minute_of(info),
        "Kernels": ", ".join(info.kernels),
        "Own kernels": "\n".join(f"{own.name}: {origin(own)}" for own in info.own),
        "N": seqlens_text(info),
        "Pass": ", ".join(filter(None, info.passes)),
        "Points": _points(info, recorded=True),
        "Holds": held_text(info.held),
        "Size": bytes_text(info.size_bytes),
        "Tags": ", ".join(info.tags),
        "Notes": f"{info.bookmarks} on points and moments" if info.bookmarks else "",
        "Note": info.error or info.note,
    }


def _points(info: SessionInfo, *, recorded: bool) -> str:
    """How many points are where; nothing runs in a session that is not being recorded."""
    counts: Counter[PointStatus] = Counter()
    for status, count in info.statuses.items():
        counts["interrupted" if status == "running" and not recorded else status] += count
    return ", ".join(f"{count} {STATUS_MARKS[status].word}" for status, count in counts.items())

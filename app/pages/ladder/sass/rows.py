"""The rows of a list of instructions, and the model that has them."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from flashscope.app.control.guard import guarded
from flashscope.app.figures.instruction_lines import InstructionLines
from flashscope.app.figures.line_bars import Parts
from flashscope.app.words.inside.sass import count_text, instruction_text, listed_text, words_at
from flashscope.kernels.cuda.sass.disassembly import SourcePlace

Index = QModelIndex | QPersistentModelIndex
Order = Literal["line", "address"]
ROW = Qt.ItemDataRole.UserRole  # a `SassRow`
UNKNOWN = "no line"


class SassRow(NamedTuple):
    """A row.

    Attributes:
        text: What stands there.
        aside: What stands at its end: how many, or where it is from.
        at: The place of the instruction in the code; None: it is a heading.
        home: The line that it is of, or heads.
        kind: Of the instruction, a place in `KINDS`.
        bar: The parts of its bar; none: it has none.
        share: What stands before the bar.
    """

    text: str
    aside: str = ""
    at: int | None = None
    home: SourcePlace | None = None
    kind: int = 0
    bar: Parts | None = None
    share: str = ""


def rows_of(lines: InstructionLines, source: Sequence[str], file: str, order: Order) -> list[SassRow]:
    """The rows of a kernel.

    Args:
        lines: Its instructions by their lines.
        source: The lines of the source.
        file: The source's name.
        order: By the lines of the source, each with a heading, or by address, with the labels that are
            branched to.
    """
    if order == "address":
        return [row for at in range(len(lines.code)) for row in _by_address(lines, at, file)]
    return [row for home in lines.groups for row in _group(lines, home, source, file)]


def _by_address(lines: InstructionLines, at: int, file: str) -> Iterator[SassRow]:
    one, home = lines.code[at], lines.homes[at]
    if one.label:
        yield SassRow(f"{one.label}:")
    yield SassRow(listed_text(one), _name(home, file), at, home, lines.kinds[at])


def _group(
    lines: InstructionLines, home: SourcePlace | None, source: Sequence[str], file: str
) -> Iterator[SassRow]:
    members = lines.groups[home]
    words = words_at(source, home.line) if home is not None and home.file == file else ""
    yield SassRow(f"{_name(home, file)}  {words}".rstrip(), count_text(len(members)), None, home)
    for at in members:
        one = lines.code[at]
        inner = one.places[0] if one.places else None
        aside = _name(inner, file) if inner != home else ""
        yield SassRow(listed_text(one), aside, at, home, lines.kinds[at])


def _name(place: SourcePlace | None, file: str) -> str:
    """A line as it is called beside that source."""
    if place is None:
        return UNKNOWN
    return str(place.line) if place.file == file else f"{place.file}:{place.line}"


class SassModel(QAbstractListModel):
    """The rows, in one column."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: InstructionLines | None = None
        self.rows: Sequence[SassRow] = ()
        self.lit: frozenset[int] = frozenset()  # instructions of the chosen line
        self.most = 0  # the whole of the longest bar

    def show_rows(self, lines: InstructionLines | None, rows: Sequence[SassRow]) -> None:
        """Show other rows, none of them lit."""
        self.beginResetModel()
        self.lines, self.rows, self.lit = lines, rows, frozenset()
        wholes = (sum(row.bar.values()) for row in rows if row.bar and row.at is not None)
        self.most = max(wholes, default=0)
        self.endResetModel()

    def light(self, instructions: Sequence[int]) -> None:
        """Mark these instructions, and no others."""
        self.lit = frozenset(instructions)
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def row_of(self, at: int) -> int | None:
        """Where an instruction stands."""
        return next((row for row, one in enumerate(self.rows) if one.at == at), None)

    @property
    def first_lit(self) -> int | None:
        """The first row that is lit, or the heading right over it."""
        for row, one in enumerate(self.rows):
            if one.at in self.lit:
                return row - 1 if row and self.rows[row - 1].at is None else row
        return None

    @guarded(int)
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """As many as there are."""
        return 0 if parent.isValid() else len(self.rows)

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The text, all of it as a screen reader says it, and the row itself."""
        row = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{row.text} {row.aside}" if row.at is None else self._told(row.at)
            case _:
                return row if role == ROW else None

    def _told(self, at: int) -> str:
        lines = self.lines
        return instruction_text(lines.code[at], lines.kinds[at]) if lines is not None else ""

"""The audits of the sessions beside each other: a sentence a model over a table of its layers."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.pages.compare.list_model import ListColumn
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.plots.compare.tones import tone_colour
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.learn.audit_changes import (
    RULE,
    audit_sentences,
    change_interval,
    change_layers,
    change_ratio,
    change_spoken,
    ran_change,
    side_text,
)
from flashscope.profiles.results.compare.audited import AuditChange, AuditSide

NumberedAudit = tuple[str, AuditChange]
"""What the other session is called, and a line."""
WIDTHS = (84, 72, 70, 176, 116, 128, 128, 62, 116)
SESSION, MODEL = 0, 1  # columns that say nothing where there is only one of them
HIGHEST = 54  # pixels of the sentences, from which on they scroll


class ComparedAudits(QWidget):
    """Shows the audits of a comparison, and nothing where there are none."""

    def __init__(self, theme: Callable[[], Theme]) -> None:
        super().__init__()
        self.sentences = PlainLabel(wordWrap=True)
        self.sentences.setAccessibleName("What became of the attention of audited models")
        self.sentences.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentences.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.table = ListTable("Layers of audited models", audit_columns(theme), WIDTHS, spread=True)
        self._frame = Scrolling(self.sentences)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._frame)
        column.addWidget(self.table, 1)
        column.addStretch()

    def draw(self, findings: Findings) -> None:
        """Show what became of the audits of each session."""
        several = len(findings.audits) > 1
        lines: list[NumberedAudit] = []
        told: list[str] = []
        for name, contrast in zip(findings.names()[1:], findings.audits, strict=True):
            if contrast is not None:
                lines += [(name, one) for one in contrast.lines]
                told += [f"{name}: {one}" if several else one for one in audit_sentences(contrast)]
        self.sentences.setText("\n".join(told))
        self.table.list.set_rows(lines)
        self.table.setColumnHidden(SESSION, not several)
        self.table.setColumnHidden(MODEL, len({one.model for _, one in lines}) <= 1)
        self.table.setVisible(bool(lines))
        self._fit()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the sentences the lines that they need at this width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        needed = self.sentences.heightForWidth(max(1, self._frame.viewport().width()))
        self._frame.setFixedHeight(min(max(0, needed), px(HIGHEST)))


def audit_columns(theme: Callable[[], Theme]) -> Sequence[ListColumn[NumberedAudit]]:
    """Session, which layers of which step, what ran, both times, the ratio and what it means."""

    def side(title: str, take: Callable[[AuditChange], AuditSide | None]) -> ListColumn[NumberedAudit]:
        return ListColumn(
            title, lambda row: _ms(take(row[1])), lambda row: side_text(take(row[1])), right=True, tip=_rule
        )

    return (
        ListColumn("session", lambda row: row[0]),
        ListColumn("model", lambda row: row[1].model),
        ListColumn("step", lambda row: row[1].phase),
        ListColumn("layers", lambda row: change_layers(row[1]), tip=lambda row: "\n".join(row[1].layers)),
        ListColumn("ran", lambda row: ran_change(row[1]), tip=lambda row: ran_change(row[1])),
        side("baseline", lambda one: one.base),
        side("here", lambda one: one.other),
        ListColumn(
            "ratio",
            lambda row: row[1].ratio.value if row[1].ratio else None,
            lambda row: change_ratio(row[1]),
            right=True,
        ),
        ListColumn(
            "95% interval",
            lambda row: row[1].ratio.low if row[1].ratio else None,
            lambda row: change_interval(row[1]),
            right=True,
        ),
        ListColumn(
            "verdict",
            lambda row: change_spoken(row[1]).word,
            lambda row: "{0.glyph} {0.word}".format(change_spoken(row[1])),
            colour=lambda row: tone_colour(change_spoken(row[1]).tone, theme()),
        ),
    )


def _ms(side: AuditSide | None) -> float | None:
    return None if side is None else side.ms


def _rule(_row: NumberedAudit) -> str:
    return RULE

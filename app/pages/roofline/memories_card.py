"""The card of a device's memories: their rates, what they hold, and a sentence on both."""

from PySide6.QtCore import QSize

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.plots.roofline.memories_plot import MemoriesPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.devices.memories import memories_sentence
from flashscope.app.words.results.provenance_header import session_header
from flashscope.profiles.results.model.rows import memory_name
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.theory.memories import MemoryLevel, memory_levels

TITLE, UNIT = "Memories", "length: measured bytes a second · height: bytes held, logarithmic"
PICTURE = (900, 420)  # pixels at 100 % of an exported picture, at least
COLUMNS = ("memory", "bytes", "rate_gbs", "rate_low_gbs", "rate_high_gbs", "source")


class MemoriesCard(Card):
    """Shows those of the device that a session was measured on."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(TITLE, UNIT)
        self._theme = theme
        self._session: Session | None = None
        self._levels: list[MemoryLevel] = []
        self.plot, self.sentence = MemoriesPlot(theme), PlainLabel(wordWrap=True)
        self.sentence.setProperty("role", "title")
        self.export_button = ExportButton(TITLE, self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter)
        self.header.addWidget(self.export_button)
        self.body.addWidget(self.sentence)
        self.body.addWidget(self.plot, 1)

    def show_session(self, session: Session | None) -> None:
        """Draw the memories of this session's device, at the rates of its newest part."""
        self._session = session
        device = session.machine.device(session.backend) if session else None
        newest = max(session.ceilings, default=0) if session else 0
        ceilings = session.ceilings.get(newest) if session else None
        self._levels = memory_levels(device, ceilings, memory_name(session)) if session and device else []
        self.plot.show_levels(self._levels)
        self.sentence.setText(memories_sentence(self._levels) if self._levels else "")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        if self._session is None or not self._levels:
            return None
        return Export(
            title=f"{TITLE}, {UNIT}",
            headline=memories_sentence(self._levels),
            name="memories",
            plots=[self.plot],
            theme=self._theme,
            provenance=session_header(self._session, ()),
            columns=COLUMNS,
            rows=[
                (one.name, one.nbytes, one.rate.value, one.rate.low, one.rate.high, one.rate.source)
                for one in self._levels
            ],
            least=QSize(*map(px, PICTURE)),
        )

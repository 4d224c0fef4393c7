"""The one stylesheet, built from a theme's tokens.

Widgets opt in by dynamic properties, never by their own stylesheet:
`card` (a surface), `stage` (on a stage: of one ground, without a frame), `role` of a QLabel (`title`, `unit`,
`caption`, `dim`, `error`, `remark`, `readout`, `heading`), `role` of a button (`primary`, `quiet`, `chip`,
`rail`), `mono` (the font of code).
"""

from PySide6.QtCore import QDir

from flashscope.app.look.assets import ASSETS
from flashscope.app.look.theme import CAPTION_PX, CARD_RADIUS, CONTROL_RADIUS, TEXT_PX, Theme

ICON_PX = 16  # of what stands before the text of a cell or of a box
MARKS = "marks"  # a name for their folder, whose path may hold what no style sheet may


def stylesheet(theme: Theme) -> str:
    """Qt style sheet of the whole application."""
    QDir.setSearchPaths(MARKS, [str(ASSETS / "marks")])
    return "\n".join(part(theme) for part in PARTS)


def _surfaces(t: Theme) -> str:
    return f"""
    QMainWindow, QDialog, QWidget#page {{ background: {t.bg}; }}
    QDialog {{ border: 1px solid {t.line}; }}
    QFrame[card="true"] {{ background: {t.panel}; border: 1px solid {t.line};
        border-radius: {CARD_RADIUS}px; }}
    QWidget#page[stage="true"] {{ background: {t.panel}; }}
    QFrame[card="true"][stage="true"] {{ background: transparent; border: none; }}
    QFrame#topBar {{ background: {t.panel}; border: none; border-bottom: 1px solid {t.line}; }}
    QFrame#statusBar {{ background: {t.panel}; border: none; border-top: 1px solid {t.line}; }}
    QFrame#rail {{ background: {t.panel}; border: none; border-right: 1px solid {t.line}; }}
    QFrame#sidePanel {{ background: {t.panel}; border: none; border-right: 1px solid {t.line}; }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
    QAbstractScrollArea::corner {{ background: {t.bg}; border: none; }}
    """


def _labels(t: Theme) -> str:
    return f"""
    QLabel {{ background: transparent; color: {t.text}; }}
    QLabel[role="title"] {{ font-weight: 600; }}
    QLabel[role="heading"] {{ font-size: 22px; font-weight: 600; }}
    QLabel[role="readout"] {{ font-size: 17px; font-weight: 600; }}
    QLabel[role="caption"] {{ color: {t.dim}; font-size: {CAPTION_PX}px; font-weight: 600;
        text-transform: uppercase; letter-spacing: 1px; }}
    QLabel[role="unit"], QLabel[role="dim"] {{ color: {t.dim}; }}
    QLabel[role="unit"] {{ font-size: {CAPTION_PX}px; }}
    QWidget#dryRun QLabel {{ font-size: {CAPTION_PX}px; }}
    QLabel[role="figure"] {{ font-size: {TEXT_PX - 1}px; }}
    QLabel[role="error"] {{ color: {t.error}; }}
    QLabel[role="remark"] {{ background: {t.raised}; color: {t.error}; border: 1px solid {t.error};
        border-radius: {CONTROL_RADIUS}px; padding: 5px 9px; }}
    QLabel[role="warn"] {{ color: {t.warn}; }}
    QLabel[role="ok"] {{ color: {t.ok}; }}
    QLabel:disabled {{ color: {t.off}; }}
    """


def _buttons(t: Theme) -> str:
    return f"""
    QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
        border-radius: {CONTROL_RADIUS}px; padding: 5px 11px; outline: none; }}
    QToolButton {{ padding: 5px 7px; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {t.dim}; }}
    QPushButton:pressed, QToolButton:pressed {{ background: {t.line}; }}
    QPushButton:checked, QToolButton:checked {{ border-color: {t.accent}; color: {t.accent}; }}
    QPushButton:disabled, QToolButton:disabled {{ color: {t.off}; background: {t.panel};
        border-color: {t.grid}; }}
    QPushButton:focus {{ border: 2px solid {t.accent}; padding: 4px 10px; }}
    QToolButton:focus {{ border: 2px solid {t.accent}; padding: 4px 6px; }}
    QPushButton[role="primary"] {{ background: {t.accent}; color: {t.on_accent}; border-color: {t.accent};
        font-weight: 600; }}
    QPushButton[role="primary"]:focus {{ border: 2px solid {t.text}; }}
    QPushButton[role="primary"]:disabled {{ background: {t.raised}; color: {t.off};
        border-color: {t.grid}; }}
    QPushButton[role="quiet"], QToolButton[role="quiet"] {{ background: transparent;
        border-color: transparent; }}
    QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover {{ background: {t.raised}; }}
    QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus {{ border-color: {t.accent}; }}
    QFrame#sidePanel QToolButton[role="quiet"] {{ padding: 2px 3px; }}
    QFrame#sidePanel QToolButton[role="quiet"]:focus {{ padding: 1px 2px; }}
    QFrame#errorLine QPushButton, QFrame#errorLine QToolButton {{ padding: 1px 7px; }}
    QFrame#errorLine QPushButton:focus, QFrame#errorLine QToolButton:focus {{ padding: 0px 6px; }}
    """


def _pills(t: Theme) -> str:
    """Buttons that stand joined, or round."""
    return f"""
    QPushButton[role="segment"] {{ border-radius: 0; padding: 5px 8px; }}
    QPushButton[role="segment"][place="first"] {{ border-top-left-radius: {CONTROL_RADIUS}px;
        border-bottom-left-radius: {CONTROL_RADIUS}px; }}
    QPushButton[role="segment"][place="last"] {{ border-top-right-radius: {CONTROL_RADIUS}px;
        border-bottom-right-radius: {CONTROL_RADIUS}px; }}
    QPushButton[role="segment"][place="between"], QPushButton[role="segment"][place="last"] {{
        border-left: none; }}
    QPushButton[role="segment"]:checked {{ background: {t.accent}; color: {t.on_accent};
        border-color: {t.accent}; font-weight: 600; }}
    QPushButton[role="segment"]:focus {{ border: 2px solid {t.text}; padding: 4px 7px; }}
    QPushButton[role="chip"] {{ border-radius: 11px; padding: 2px 9px; }}
    QPushButton[role="chip"]:focus {{ padding: 1px 8px; }}
    QPushButton[role="session"] {{ text-align: left; padding: 3px 9px; font-size: {TEXT_PX - 1}px; }}
    QPushButton[role="session"]:checked {{ color: {t.text}; }}
    QPushButton[role="session"]:focus {{ padding: 2px 8px; }}
    """


def _places(t: Theme) -> str:
    """What leads from place to place and from view to view."""
    return f"""
    QToolButton[role="rail"] {{ background: transparent; border: none; border-radius: 0;
        border-left: 3px solid transparent; color: {t.dim}; padding: 8px 0; font-size: {CAPTION_PX}px; }}
    QToolButton[role="rail"]:hover {{ color: {t.text}; }}
    QToolButton[role="rail"]:checked {{ background: {t.raised}; color: {t.text};
        border-left: 3px solid {t.accent}; font-weight: 600; }}
    QToolButton[role="rail"]:focus {{ border: 2px solid {t.accent}; padding: 6px 0; }}
    QTabBar#placeTabs {{ background: {t.bg}; font-size: {TEXT_PX}px; }}
    QTabBar#placeTabs::tab {{ background: transparent; color: {t.dim}; padding: 7px 14px 6px 14px;
        border: none; border-bottom: 2px solid transparent; }}
    QTabBar#placeTabs::tab:hover {{ color: {t.text}; }}
    QTabBar#placeTabs::tab:selected {{ color: {t.text}; border-bottom: 2px solid {t.accent}; }}
    QTabBar#placeTabs::tab:selected:focus {{ border: 2px solid {t.accent}; border-radius: 4px;
        padding: 5px 12px; }}
    QTabBar#placeTabs::scroller {{ width: 40px; }}
    QTabBar#placeTabs QToolButton {{ padding: 0; }}
    QTabBar#placeTabs QToolButton::left-arrow {{ image: url("{MARKS}:left-{t.name}.svg"); }}
    QTabBar#placeTabs QToolButton::right-arrow {{ image: url("{MARKS}:right-{t.name}.svg"); }}
    """


def _words(t: Theme) -> str:
    """Buttons that look like text."""
    return f"""
    QToolButton[role="chooser"][stage="true"]::menu-indicator {{ image: none; }}
    QPushButton[role="link"] {{ background: transparent; border-color: transparent; color: {t.accent};
        text-align: left; padding: 3px 5px; }}
    QPushButton[role="link"]:focus {{ border-color: {t.accent}; padding: 2px 4px; }}
    QPushButton[role="legend"] {{ background: transparent; border: 1px solid transparent; border-radius: 4px;
        font-size: {TEXT_PX - 1}px; text-align: left; padding: 0 2px; }}
    QPushButton[role="legend"]:checked {{ color: {t.text}; border-color: transparent; }}
    QPushButton[role="legend"]:!checked {{ color: {t.dim}; }}
    QPushButton[role="legend"]:hover {{ background: {t.raised}; }}
    QWidget[still="true"] QPushButton[role="legend"]:hover {{ background: transparent; }}
    QPushButton[role="legend"]:focus {{ border: 1px solid {t.accent}; padding: 0 2px; }}
    QPushButton[role="fold"] {{ background: transparent; border: 1px solid transparent; color: {t.dim};
        font-size: {CAPTION_PX}px; text-align: left; padding: 0 4px; }}
    QPushButton[role="fold"]:hover {{ color: {t.text}; }}
    QPushButton[role="fold"]:checked {{ color: {t.text}; border-color: transparent; }}
    QPushButton[role="fold"]:focus {{ border: 1px solid {t.accent}; padding: 0 4px; }}
    QPushButton[role="brand"] {{ background: transparent; border-color: transparent; font-size: 15px;
        font-weight: 600; padding: 3px 7px; }}
    QPushButton[role="brand"]:focus {{ border-color: {t.accent}; padding: 2px 6px; }}
    QToolButton::menu-indicator {{ image: none; }}
    QToolButton[role="chooser"] {{ background: transparent; border: 1px solid transparent; font-weight: 600;
        border-radius: 4px; padding: 1px 12px 1px 0; text-align: left; }}
    QToolButton[role="chooser"]:hover {{ background: {t.raised}; }}
    QToolButton[role="chooser"]:focus {{ border: 1px solid {t.accent}; }}
    QToolButton[role="chooser"]::menu-indicator {{ image: url("{MARKS}:down-{t.name}.svg"); width: 8px;
        height: 8px; subcontrol-origin: border; subcontrol-position: center right; right: 1px; }}
    """


def _inputs(t: Theme) -> str:
    boxes = "QLineEdit, QAbstractSpinBox, QComboBox, QPlainTextEdit, QTextEdit"
    focused = ", ".join(f"{name.strip()}:focus" for name in boxes.split(","))
    disabled = ", ".join(f"{name.strip()}:disabled" for name in boxes.split(","))
    return f"""
    {boxes} {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
        border-radius: {CONTROL_RADIUS}px; padding: 4px 8px; selection-background-color: {t.accent};
        selection-color: {t.on_accent}; }}
    {focused} {{ border: 2px solid {t.accent}; padding: 3px 7px; }}
    {disabled} {{ color: {t.off}; background: {t.panel}; border-color: {t.grid}; }}
    QPlainTextEdit[stage="true"] {{ background: {t.panel}; border: none; }}
    QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ subcontrol-origin: border; width: 18px;
        border: none; background: transparent; }}
    QAbstractSpinBox::up-button {{ subcontrol-position: top right; margin: 2px 2px 0 0; }}
    QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; margin: 0 2px 2px 0; }}
    QAbstractSpinBox::up-arrow {{ image: url("{MARKS}:up-{t.name}.svg"); width: 10px; height: 10px; }}
    QAbstractSpinBox::down-arrow {{ image: url("{MARKS}:down-{t.name}.svg"); width: 10px; height: 10px; }}
    QComboBox {{ combobox-popup: 0; }}
    QComboBox::drop-down {{ border: none; width: 20px; }}
    QComboBox::down-arrow {{ image: url("{MARKS}:down-{t.name}.svg"); width: 12px; height: 12px; }}
    QComboBox QAbstractItemView {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
        selection-background-color: {t.accent}; selection-color: {t.on_accent}; outline: none; }}
    QComboBox QAbstractItemView::item:disabled {{ color: {t.off}; }}
    QCheckBox, QRadioButton {{ background: transparent; color: {t.text}; spacing: 8px; padding: 2px;
        border: 1px solid transparent; border-radius: 4px; icon-size: {ICON_PX}px; }}
    QCheckBox:focus, QRadioButton:focus {{ border-color: {t.accent}; }}
    QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {t.dim}; border-radius: 4px;
        background: {t.raised}; }}
    QCheckBox::indicator:checked {{ background: {t.accent}; border-color: {t.accent};
        image: url("{MARKS}:check-{t.name}.svg"); }}
    QCheckBox::indicator:disabled {{ background: {t.panel}; border-color: {t.line}; }}
    QCheckBox:disabled, QRadioButton:disabled {{ color: {t.off}; }}
    """


def _views(t: Theme) -> str:
    return f"""
    QTableView, QListView, QTreeView {{ background: {t.panel}; alternate-background-color: {t.raised};
        color: {t.text}; border: 1px solid {t.line}; border-radius: {CARD_RADIUS}px;
        gridline-color: {t.grid}; selection-background-color: {t.accent};
        selection-color: {t.on_accent}; icon-size: {ICON_PX}px; outline: 1px solid {t.accent}; }}
    QTableView:focus, QListView:focus, QTreeView:focus {{ border: 1px solid {t.accent}; }}
    QTableView::item, QListView::item {{ padding: 4px 8px; border: none; }}
    QTableView::item:selected, QListView::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
    QListView::item:disabled {{ color: {t.off}; }}
    QHeaderView {{ background: transparent; border: none; }}
    QHeaderView::section {{ background: transparent; color: {t.dim}; border: none;
        border-bottom: 1px solid {t.line}; padding: 6px 11px; font-size: {CAPTION_PX}px; font-weight: 600; }}
    QHeaderView::section:hover {{ color: {t.text}; }}
    QHeaderView::up-arrow, QHeaderView::down-arrow {{ width: 9px; }}  /* in the padding, beside the text */
    QTableCornerButton::section {{ background: transparent; border: none; }}
    QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 4px; }}
    QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 4px; }}
    QMenu::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
    QMenu::item:disabled {{ color: {t.off}; background: transparent; }}
    QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}
    """


def _small_parts(t: Theme) -> str:
    return f"""
    QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 4px 6px;
        font-size: {TEXT_PX - 1}px; }}
    QProgressBar {{ background: {t.raised}; border: none; border-radius: 3px; }}
    QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
    QScrollBar {{ background: transparent; border: none; margin: 0; }}
    QScrollBar:vertical {{ width: 10px; }}
    QScrollBar:horizontal {{ height: 10px; }}
    QScrollBar::handle {{ background: {t.line}; border-radius: 4px; margin: 1px; min-height: 24px;
        min-width: 24px; }}
    QScrollBar::handle:hover {{ background: {t.dim}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    """


PARTS = (_surfaces, _labels, _buttons, _pills, _places, _words, _inputs, _views, _small_parts)
"""In this order: of two rules that fit alike, the later one counts."""

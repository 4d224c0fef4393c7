"""What a page may ask of the window around it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtWidgets import QWidget

from flashscope.app.control.settings import Settings


class Host(Protocol):
    """The window around a page.

    Attributes:
        settings: What is remembered between starts.
    """

    settings: Settings

    def show_page(self, key: str) -> None:
        """Bring a view to the front."""

    def show_files(self, key: str, paths: Sequence[Path]) -> None:
        """Bring a page to the front, and let it show these sessions beside each other."""

    def show_top(self, page: QWidget) -> None:
        """Scroll a page back to where it begins."""

    def open_path(self, path: Path) -> None:
        """Show a session file."""

    def trigger(self, key: str) -> None:
        """Do what an action does, whichever page brought it."""

    def notice(self, text: str) -> None:
        """Say something that the user should know of, in one line."""

    def offer(self, text: str, title: str, act: Callable[[], None]) -> None:
        """Say something, and have a button of this title beside it; an error that is told stays instead."""

    def share(self, view: str, shared: QWidget) -> None:
        """Have what all views of a place share stand beside its tabs."""

    def form_shown(self, opened: bool) -> None:
        """Offer Run while the form of a sweep is open, else what opens it."""

    def block_run(self, reason: str) -> None:
        """Let Run say why it cannot be pressed; an empty reason lets it be pressed."""

    def resume(self, path: Path) -> None:
        """Go on with the sweep of a session file."""

    def export_each(self, paths: Sequence[Path]) -> None:
        """Ask in which format and where to, and write a file of each of these sessions."""

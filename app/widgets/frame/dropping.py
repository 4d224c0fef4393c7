"""Files that are dropped on a window."""

from pathlib import Path

from PySide6.QtGui import QDropEvent


def dropped_file(event: QDropEvent) -> Path | None:
    """The one local file that is dropped, None for anything else."""
    files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return Path(files[0]) if len(files) == 1 else None

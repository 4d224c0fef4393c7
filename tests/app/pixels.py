"""Pictures as arrays, and what is drawn in them."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon, QImage


def pixels(picture: QImage) -> NDArray[np.uint32]:
    """What `QImage.pixel` says of every pixel, as (height, width)."""
    image = picture.convertToFormat(QImage.Format.Format_ARGB32)
    bits = np.frombuffer(image.constBits(), np.uint32)
    lines: NDArray[np.uint32] = bits.reshape(image.height(), -1).copy()  # 32-bit pixels need no filling
    return lines


def ink_in_a_selected_row(icon: QIcon) -> str:
    """The colour of an icon's most opaque pixel there, as #RRGGBB."""
    drawn = icon.pixmap(QSize(42, 42), QIcon.Mode.Selected).toImage()
    inks = (drawn.pixelColor(x, y) for x in range(drawn.width()) for y in range(drawn.height()))
    return max(inks, key=lambda colour: colour.alpha()).name()

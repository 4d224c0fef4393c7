"""Pictures as arrays."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage


def pixels(picture: QImage) -> NDArray[np.uint32]:
    """What `QImage.pixel` says of every pixel, as (height, width)."""
    image = picture.convertToFormat(QImage.Format.Format_ARGB32)
    bits = np.frombuffer(image.constBits(), np.uint32)
    lines: NDArray[np.uint32] = bits.reshape(image.height(), -1).copy()  # 32-bit pixels need no filling
    return lines

"""The shapes of kernels' marks, without Qt: polygons in a box from -0.5 to 0.5, y downwards."""

Polygon = tuple[tuple[float, float], ...]
ROUND = (0.5, 0.27)  # radii of a ring


def _bar(y: float) -> Polygon:
    return ((-0.5, y - 0.17), (0.5, y - 0.17), (0.5, y + 0.17), (-0.5, y + 0.17))


def _diamond(size: float = 1.0, y: float = 0.0) -> Polygon:
    return ((0, y - 0.55 * size), (0.48 * size, y), (0, y + 0.55 * size), (-0.48 * size, y))


def _square(half: float) -> Polygon:
    return ((-half, -half), (half, -half), (half, half), (-half, half))


OWN: dict[str, tuple[Polygon, ...]] = {
    "diamond-ring": (_diamond(), _diamond(0.55)),
    "diamond-half": (_diamond(), ((0, -0.3), (0.26, 0), (-0.26, 0))),
    "diamond-slit": (((0, -0.58), (0.4, -0.11), (-0.4, -0.11)), ((0, 0.58), (0.4, 0.11), (-0.4, 0.11))),
    "hourglass": (((-0.45, -0.5), (0.45, -0.5), (0, 0)), ((-0.45, 0.5), (0.45, 0.5), (0, 0))),
    "bow-tie": (((-0.5, -0.45), (-0.5, 0.45), (0, 0)), ((0.5, -0.45), (0.5, 0.45), (0, 0))),
    "square-ring": (_square(0.5), _square(0.24)),
    "rows": (_bar(-0.3), _bar(0.3)),
    "columns": tuple(tuple((y, x) for x, y in _bar(place)) for place in (-0.3, 0.3)),
    "diamonds": (_diamond(0.56, -0.31), _diamond(0.56, 0.31)),
}
"""Symbols that pyqtgraph does not have; where two polygons overlap there is a hole."""

THEIRS: dict[str, Polygon] = {
    "s": ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)),
    "t": ((-0.5, -0.5), (0, 0.5), (0.5, -0.5)),
    "t1": ((-0.5, 0.5), (0, -0.5), (0.5, 0.5)),
    "t2": ((-0.5, -0.5), (-0.5, 0.5), (0.5, 0)),
    "t3": ((0.5, 0.5), (0.5, -0.5), (-0.5, 0)),
    "d": ((0, -0.5), (-0.4, 0), (0, 0.5), (0.4, 0)),
    "p": ((0, -0.5), (-0.475, -0.154), (-0.294, 0.405), (0.294, 0.405), (0.475, -0.154)),
    "h": ((0.433, 0.25), (0, 0.5), (-0.433, 0.25), (-0.433, -0.25), (0, -0.5), (0.433, -0.25)),
    "+": (
        *((-0.5, -0.1), (-0.5, 0.1), (-0.1, 0.1), (-0.1, 0.5), (0.1, 0.5), (0.1, 0.1)),
        *((0.5, 0.1), (0.5, -0.1), (0.1, -0.1), (0.1, -0.5), (-0.1, -0.5), (-0.1, -0.1)),
    ),
    "x": (
        *((-0.283, -0.424), (-0.424, -0.283), (-0.141, 0), (-0.424, 0.283), (-0.283, 0.424), (0, 0.141)),
        *((0.283, 0.424), (0.424, 0.283), (0.141, 0), (0.424, -0.283), (0.283, -0.424), (0, -0.141)),
    ),
    "star": (
        *((0, -0.5), (-0.112, -0.154), (-0.475, -0.154), (-0.182, 0.059), (-0.294, 0.405)),
        *((0, 0.191), (0.294, 0.405), (0.182, 0.059), (0.475, -0.154), (0.112, -0.154)),
    ),
}
"""Those of pyqtgraph's symbols that marks have, for pictures that are drawn without it; a circle is `o`."""


def path_data(name: str, x: float, y: float, size: float) -> str:
    """A symbol of that name as the `d` of an SVG path, to be filled by the even-odd rule.

    Args:
        name: What `Mark.symbol` says.
        x: Its centre, in pixels, to the right.
        y: The same, downwards.
        size: Side of its box in pixels.
    """
    if name in {"o", "ring"}:
        radii = ROUND if name == "ring" else ROUND[:1]
        return "".join(_circle(x, y, radius * size) for radius in radii)
    polygons = OWN[name] if name in OWN else (THEIRS[name],)
    corners = (" ".join(f"{x + a * size:.2f},{y + b * size:.2f}" for a, b in polygon) for polygon in polygons)
    return "".join(f"M{polygon}Z" for polygon in corners)


def _circle(x: float, y: float, radius: float) -> str:
    arc = f"a{radius:.2f},{radius:.2f} 0 1 0"
    return f"M{x - radius:.2f},{y:.2f}{arc} {2 * radius:.2f},0{arc} {-2 * radius:.2f},0Z"

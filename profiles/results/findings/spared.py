"""What a kernel spares that keeps S and P out of memory, and what its products take on the same device."""

from dataclasses import dataclass

from flashscope.kernels.catalogue.registry import find_kernel, known_kernel
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.theory.why import Load, Why, why
from flashscope.profiles.wire.ceilings import Ceilings

MATRICES = frozenset({"S", "P"})


@dataclass(frozen=True)
class Spared:
    """What a kernel spares beside its baseline.

    Attributes:
        matrices_bytes: Bytes of S and P, which the baseline holds and the kernel does not.
        traffic_ms: What the bytes alone would take, at the copy rate of their device, that the baseline moves
            through memory beyond the kernel's; None where it was not measured or no formula knows them.
        products_ms: What the products of the kernel alone would take at their rate; None as above.
    """

    matrices_bytes: int
    traffic_ms: float | None = None
    products_ms: float | None = None


def spared(row: PointRow, base: PointRow | None, ceilings: Ceilings | None) -> Spared | None:
    """What a kernel spares beside a baseline of the same problem; None where it spares no matrices.

    Nobody knows what a kernel of the user's own holds: of one there is None, too.

    Args:
        row: The kernel's point.
        base: The baseline's.
        ceilings: What their device reached; None: nobody measured.
    """
    held = 0 if base is None else _matrices_bytes(base)
    if base is None or not held or _matrices_bytes(row) or _is_own(row):
        return None
    own, other = why(row, ceilings), why(base, ceilings)
    moved, less = _alone(other, "bytes"), _alone(own, "bytes")
    traffic = None if moved is None or less is None else max(0.0, moved - less)
    return Spared(held, traffic, _alone(own, "products"))


def _matrices_bytes(row: PointRow) -> int:
    """Of S and P, as far as a kernel says what it holds; 0: it holds neither."""
    try:
        spec = find_kernel(row.kernel)
    except KeyError:
        return 0
    if spec.family != "standard" or row.problem.runs_backward:
        return 0
    return sum(one.nbytes for one in spec.workspace(row.problem, row.backend) if one.name in MATRICES)


def _is_own(row: PointRow) -> bool:
    spec = known_kernel(row.kernel)
    return spec is not None and spec.family == "own"


def _alone(told: Why | None, load: Load) -> float | None:
    return None if told is None else next(part.ms for part in told.parts if part.load == load)

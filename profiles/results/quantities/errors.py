"""How far what a point wrote is off the oracle, as figures, and as quantities for each gradient."""

from collections.abc import Iterator

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Derived, Quantity
from flashscope.profiles.wire.measurement import Figure, OutputError

OF_GRADIENTS = ("dQ", "dK", "dV")


def error_of(output: str) -> Derived:
    """The error of an output of that name."""

    def error(row: PointRow, _: PointRow | None) -> Figure | None:
        known = _judged(row, output)
        return None if known is None else Figure(value=known.error, source=_oracle_at(known))

    return error


def bound_of(output: str) -> Derived:
    """The largest error of an output that passes."""

    def bound(row: PointRow, _: PointRow | None) -> Figure | None:
        known = _judged(row, output)
        return None if known is None else Figure(value=known.bound, source="FlashAttention's criterion")

    return bound


def worst_row(row: PointRow, _: PointRow | None) -> Figure | None:
    """The error of O's worst row; of a kernel that rounds its inputs, on the inputs as it rounds them."""
    of_a_row = error_of("O of a row"), error_of("O of a row on 8-bit inputs")
    return of_a_row[0](row, None) or of_a_row[1](row, None)


def _judged(row: PointRow, output: str) -> OutputError | None:
    checked = row.measurement.correctness if row.measurement else None
    return checked.of(output) if checked else None


def _oracle_at(known: OutputError) -> str:
    return f"float64 oracle: {known.where}" if known.where else "float64 oracle"


def _of_gradient(name: str) -> Iterator[Quantity]:
    key = name.lower()
    yield Quantity(
        f"{key}-error",
        f"Largest error of {name}",
        "error",
        f"max |{name} - oracle's| against the gradients of float64 attention.",
        group="Accuracy",
        better="lower",
        columns=(f"{key}_error",),
        heading=f"{name} error",
        of=error_of(name),
        exact=True,
    )
    yield Quantity(
        f"{key}-bound",
        f"Bound of the error of {name}",
        "error",
        f"The largest error of {name} that passes.",
        group="Accuracy",
        columns=(f"{key}_error_bound",),
        of=bound_of(name),
        detail=True,
        exact=True,
    )
    yield Quantity(
        f"{key}-row-error",
        f"Error of the worst row of {name}",
        "error",
        f"L2 norm of a row's error of {name} relative to the oracle's, of the row nearest to its bound.",
        group="Accuracy",
        better="lower",
        columns=(f"{key}_row_error",),
        of=error_of(f"{name} of a row"),
        detail=True,
        exact=True,
    )


GRADIENTS: tuple[Quantity, ...] = tuple(one for name in OF_GRADIENTS for one in _of_gradient(name))
"""Error, bound and worst row of dQ, dK and dV, of points that ran a backward pass."""

"""How each kind of quantity is written: its unit, its texts, its ticks and its axis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from flashscope.app.words.ticks import TickText
from flashscope.app.words.units import (
    bytes_text,
    bytes_tick,
    clock_text,
    digits,
    efficiency_text,
    energy_text,
    error_text,
    gbs_text,
    ms_text,
    plain_tick,
    ratio_text,
    share_text,
    share_tick,
    temperature_text,
    tflops_text,
    traffic_text,
    traffic_tick,
    watts_text,
    whole_text,
)
from flashscope.profiles.results.quantities.quantity import Quantity, QuantityKind

Scale = Literal["log2", "log10", "linear"]


@dataclass(frozen=True)
class KindWords:
    """How values of one kind are written.

    Attributes:
        unit: Of the values as they are held; empty: none.
        text: A value with its unit, which may be a multiple of `unit`.
        tick: A value as an axis shows it, see `tick_texts`.
        scale: The axis it is drawn on at first.
        exported: What stands for the unit in the name of a column; empty: as `unit`.
        narrow: A value in a column whose heading names the unit; None: as `text`.
    """

    unit: str
    text: Callable[[float], str]
    tick: TickText
    scale: Scale
    exported: str = ""
    narrow: Callable[[float], str] | None = None


KINDS: dict[QuantityKind, KindWords] = {
    "time": KindWords("ms", ms_text, plain_tick, "log10"),
    "bytes": KindWords("bytes", bytes_text, bytes_tick, "log2"),
    "traffic": KindWords("bytes", traffic_text, traffic_tick, "log10"),
    "rate": KindWords("TFLOP/s", tflops_text, plain_tick, "linear", narrow=digits),
    "bandwidth": KindWords("GB/s", gbs_text, plain_tick, "linear"),
    "energy": KindWords("mJ", energy_text, plain_tick, "log10"),
    "efficiency": KindWords(
        "tokens/J", efficiency_text, plain_tick, "log10", exported="tokens_per_joule", narrow=digits
    ),
    "power": KindWords("W", watts_text, plain_tick, "linear"),
    "temperature": KindWords("°C", temperature_text, plain_tick, "linear", exported="celsius"),
    "clock": KindWords("MHz", clock_text, plain_tick, "linear"),
    "ratio": KindWords("×", ratio_text, plain_tick, "linear", exported="ratio"),
    "share": KindWords("share", share_text, share_tick, "linear"),
    "error": KindWords("", error_text, error_text, "log10", exported="absolute"),
    "count": KindWords("", whole_text, plain_tick, "linear", exported="count"),
}


def words_of(quantity: Quantity) -> KindWords:
    """How values of a quantity are written."""
    return KINDS[quantity.kind]


def unit_text(quantity: Quantity, baseline: str | None = None) -> str:
    """The unit of a quantity and what its figures are: `ms · median, q1–q3`; of a ratio over which kernel."""
    over = f"over {baseline}" if baseline else ""
    what = ", ".join(filter(None, (over, quantity.caption)))
    unit = "" if what and quantity.kind == "ratio" else words_of(quantity).unit
    return " · ".join(filter(None, (unit, what)))


def unit_short(quantity: Quantity, baseline: str | None = None) -> str:
    """What of it stands where there is little room."""
    return f"over {baseline}" if baseline else words_of(quantity).unit


def heading(quantity: Quantity) -> str:
    """What stands over a column whose values have no unit of their own: the unit, else the name."""
    words = words_of(quantity)
    return quantity.short if words.narrow is None else words.unit


def narrow_text(quantity: Quantity, value: float) -> str:
    """A value in a column under `heading`."""
    words = words_of(quantity)
    return (words.narrow or words.text)(value)


def column_name(quantity: Quantity) -> str:
    """The name of a quantity's column in an exported plot: key and unit, the unit once."""
    words = words_of(quantity)
    unit = words.exported or words.unit
    return quantity.key if quantity.key.endswith(f"_{unit.lower()}") else f"{quantity.key}_{unit}"


def in_full(quantity: Quantity) -> str:
    """What a quantity says, which way is better, and what dotted lines and rings beside it are."""
    better = f"{quantity.better.capitalize()} is better." if quantity.better else ""
    model = f"Dotted: {quantity.model_source}." if quantity.model_source else ""
    beside = f"Ringed: {quantity.beside_source}, of recordings that hold it." if quantity.beside else ""
    return " ".join(filter(None, (quantity.about, better, model, beside)))

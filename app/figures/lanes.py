"""What the telemetry draws: each quantity of a reading, declared once."""

from dataclasses import dataclass

GIB = float(1 << 30)


@dataclass(frozen=True)
class Lane:
    """One quantity of the strip.

    Attributes:
        field: The field of a Reading.
        title: What it is.
        unit: Its unit.
        about: How far the number can be trusted, for the tooltip.
        divisor: What a reading is divided by to get the value in the unit.
        top: The least upper end of the axis, in the unit.
        height: Share of the strip's height.
        column: Its name in an exported table, the unit of a reading in it.
    """

    field: str
    title: str
    unit: str
    about: str
    divisor: float = 1.0
    top: float = 1.0
    height: int = 2
    column: str = ""


def _share(field: str, title: str, about: str) -> Lane:
    about = f"{about} NVML's GPM, over the last 0.1 s or more."
    return Lane(field, title, "%", about, divisor=0.01, top=100.0, column=field)


LANES = (
    Lane(
        "memory_used",
        "memory used",
        "GiB",
        "Whole device, other programs included.",
        divisor=GIB,
        top=0.25,
        height=3,
        column="memory_used_bytes",
    ),
    Lane(
        "utilisation",
        "busy (driver window)",
        "%",
        "Share of the driver's window in which any kernel ran; not efficiency.",
        top=100.0,
        column="busy_percent",
    ),
    _share("sm_share", "SMs busy", "Share of the multiprocessors on which anything ran."),
    _share("tensor_share", "tensor cores", "Share of the time that the tensor cores worked."),
    _share("dram_share", "DRAM bandwidth", "Used of what the device memory could move at most."),
    Lane("power_w", "power", "W", "Board power as the driver reports it.", top=50.0, column="power_w"),
    Lane("temperature_c", "temperature", "°C", "Die temperature.", top=50.0, column="temperature_c"),
    Lane(
        "sm_clock_mhz",
        "SM clock",
        "MHz",
        "Clock of the multiprocessors at the moment of the reading.",
        top=500.0,
        column="sm_clock_mhz",
    ),
)
FIELDS = tuple(lane.field for lane in LANES)

"""Quantities of what a footprint is made of, and of what the device says to it."""

from flashscope.profiles.results.quantities.quantity import Quantity

MEMORY_PARTS = (
    Quantity(
        "input_bytes",
        "Inputs",
        "bytes",
        "Q, K and V; with a backward pass dO, too, and O and LSE where it is run alone.",
        group="Memory",
        detail=True,
        exact=True,
    ),
    Quantity(
        "output_bytes",
        "Outputs",
        "bytes",
        "O and LSE of a forward pass, dQ, dK and dV of a backward pass.",
        group="Memory",
        detail=True,
        exact=True,
    ),
    Quantity(
        "workspace_bytes",
        "Workspace",
        "bytes",
        "What the kernel holds beside inputs and outputs.",
        group="Memory",
        better="lower",
        detail=True,
        exact=True,
    ),
    Quantity(
        "device_delta_bytes",
        "Growth of the device's memory",
        "bytes",
        "Change of the whole device's used memory over one run, other programs included.",
        group="Memory",
        heading="device delta",
        detail=True,
    ),
)
"""In the order in which they are shown."""

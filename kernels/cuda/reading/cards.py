"""The GPUs for which a source can be read and compiled anywhere, whether there is one or not."""

from typing import TYPE_CHECKING

import msgspec

from flashscope.kernels.workload.device import Device

if TYPE_CHECKING:
    from flashscope.kernels.cuda.program import Target


class GpuCard(msgspec.Struct, frozen=True):
    """A GPU as its maker names it.

    Attributes:
        name: The name.
        compute_capability: (major, minor).
        multiprocessors: SMs.
        memory_gib: GiB of device memory.
    """

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory_gib: int

    @property
    def target(self) -> "Target":
        """What a program is made for."""
        from flashscope.kernels.cuda.program import (  # noqa: PLC0415 - it imports NumPy, which names do not need
            SHARED_MEMORY_LIMITS,
            Target,
        )

        return Target(
            self.compute_capability, SHARED_MEMORY_LIMITS[self.compute_capability], self.multiprocessors
        )

    @property
    def device(self) -> Device:
        """The same as kernels are asked whether they run there."""
        return Device(
            backend="cuda",
            name=f"NVIDIA {self.name}",
            memory_bytes=self.memory_gib << 30,
            compute_capability=self.compute_capability,
            multiprocessors=self.multiprocessors,
        )


H200 = GpuCard("H200", (9, 0), 132, 141)
CARDS = (
    H200,
    GpuCard("H100", (9, 0), 132, 80),
    GpuCard("A100", (8, 0), 108, 80),
    GpuCard("RTX 4090", (8, 9), 128, 24),
    GpuCard("B200", (10, 0), 148, 180),
    GpuCard("RTX 5090", (12, 0), 170, 32),
)
"""One or two of each architecture, by NVIDIA's data sheets; the first is that of most recordings."""


def card_of(device: Device) -> GpuCard | None:
    """A GPU as it describes itself; None where programs are made for none like it."""
    from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS  # noqa: PLC0415 - as above

    capability, count = device.compute_capability, device.multiprocessors
    if capability not in SHARED_MEMORY_LIMITS or not count:
        return None
    return GpuCard(device.name.removeprefix("NVIDIA "), capability, count, device.memory_bytes >> 30)

"""What a kernel needs to know about the machine that would run it."""

import msgspec

from flashscope.kernels.workload.problem import Backend


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One place where kernels can run.

    Attributes:
        backend: `cuda` or `cpu`.
        name: The name its maker gave it.
        memory_bytes: Total memory: HBM of a GPU, of the CPU backend the RAM that it may hold.
        compute_capability: (major, minor) of a GPU, None on the CPU.
        shared_memory_per_block: Largest opt-in shared memory of one block in bytes, None on the CPU.
        multiprocessors: Number of SMs of a GPU, on the CPU of the logical cores that may be used.
        l2_bytes: Size of the L2 cache in bytes, None when unknown.
        uuid: The GPU's UUID as NVML spells it; None on the CPU, or where the driver does not tell.
        libraries: Names of the kernels that can run there as far as libraries go, of a device of another
            machine; None: what is installed here counts.
    """

    backend: Backend
    name: str
    memory_bytes: int
    compute_capability: tuple[int, int] | None = None
    shared_memory_per_block: int | None = None
    multiprocessors: int | None = None
    l2_bytes: int | None = None
    uuid: str | None = None
    libraries: tuple[str, ...] | None = None

"""Who measured: the machine's identity, as it goes into every session."""

import msgspec

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend


class ProbeFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked for on this machine.

    Attributes:
        name: What was looked for: `NVIDIA driver`, `NVML`, `CuPy`, ...
        ok: Whether it can be used.
        detail: Its version when it can, the reason when it cannot.
        remedy: What to do about it, empty when nothing need be done.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU of a machine, by its driver's number, its UUID and its name."""

    number: int
    uuid: str
    name: str


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of the machine and the software that measured.

    Attributes:
        system: Operating system and its version.
        python: Version of the interpreter.
        devices: Every device kernels can run on; the CPU is always among them.
        driver: Version of the NVIDIA driver, None without one.
        cuda: CUDA version of the runtime that CuPy uses, None without one.
        packages: Versions of the packages that matter (flashscope, numpy, cupy, ...).
        blas_threads: Threads of one matrix product on the CPU: timings there compare only where it is equal.
            None where the libraries choose, and in sessions older than this field.
        free_bytes: Free memory by backend when it was looked at.
        findings: What was found and what was not, with remedies.
        sources: A digest of what each kernel of ours is made of, by backend and name; empty in sessions older
            than this field.
        host: The machine's name where it was reached from another one; empty: it was measured at hand, or in
            sessions older than this field.
    """

    system: str
    python: str
    devices: tuple[Device, ...]
    driver: str | None = None
    cuda: str | None = None
    packages: dict[str, str] = {}
    blas_threads: int | None = None
    free_bytes: dict[Backend, int] = {}
    findings: tuple[ProbeFinding, ...] = ()
    sources: dict[Backend, dict[str, str]] = {}
    host: str = ""

    def device(self, backend: Backend) -> Device | None:
        """The device of a backend, None when this machine has none."""
        return next((d for d in self.devices if d.backend == backend), None)

    def why_no_gpu(self) -> str:
        """Why kernels cannot run on a GPU here: what was looked for and not found, with the remedies."""
        missing = [f for f in self.findings if not f.ok]
        causes = (f"{f.name}: {f.detail}" + (f" ({f.remedy})" if f.remedy else "") for f in missing)
        return "; ".join(causes) or "none was found"

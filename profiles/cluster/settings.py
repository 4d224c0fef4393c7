"""What the processes of a host are started with: where they meet, and how they prove themselves."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

QUIET: dict[str, Any] = {
    "logging": {"distributed": "warning"},
    "distributed.scheduler.http.routes": [],  # pages that ask nobody for a certificate
    "distributed.worker.http.routes": [],
    "distributed.comm.timeouts.connect": "5s",
    "distributed.worker.profile.enabled": False,  # a thread that looks at all others 100 times a second
    "distributed.scheduler.reuse-broadcast-comm": True,
}
"""Of Dask's own settings those that differ; to be set before `distributed` is imported."""
NO_PAGES = "127.0.0.1:0"  # Dask's web server cannot be left out; it has no page, and no other machine sees it
OP = "flashscope"  # what a worker calls its device's handler

CPU = "the CPU"  # what a host calls it
ON = " on "  # stands before the host in the name of a device that has joined


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A device that a host lends: what it is called, and a GPU's UUID, empty: the CPU alone."""

    name: str
    gpu: str = ""

    @property
    def word(self) -> str:
        """What chooses it alone."""
        return self.gpu or self.name

    @property
    def joined(self) -> str:
        """The host from where it has joined the scheduler; empty: it is of the scheduler's own."""
        return self.name.partition(",")[0].partition(ON)[2]

    @property
    def order(self) -> tuple[str, list[str]]:
        """By which devices are listed: those of the scheduler's own host first, numbers as such."""
        device = self.name.partition(",")[0].partition(ON)[0]
        return self.joined, [word.zfill(4) for word in device.split()]

    def on(self, host: str) -> "Served":
        """The same where devices of several hosts are lent: `GPU 0 on lab2, NVIDIA H100`."""
        device, comma, model = self.name.partition(",")
        return replace(self, name=f"{device}{ON}{host}{comma}{model}")

    def is_called(self, word: str) -> bool:
        """Whether a word means it: its UUID or the begin of that, `GPU 0, H100`, `GPU 0` or 0."""
        if self.gpu and word.startswith("GPU-"):
            return self.gpu.startswith(word)
        short = self.name.partition(",")[0].casefold()
        return word.casefold() in {self.name.casefold(), short, short.removeprefix("gpu ")}


class HostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Of one process of a host.

    Attributes:
        folder: Where the host's processes share files that are nobody else's: certificate, scheduler file.
        host: What the scheduler listens on, empty: on every address of the machine; of a host that joins
            another, the address by which that reaches the devices.
        port: Its port, or such a device's; 0: any that is free.
        plain: Whether connections are neither encrypted nor asked for certificates.
        scheduler: The address of another host's scheduler, which the devices join; empty: it has its own.
        device: What a worker calls its device.
        gpu: The UUID of the GPU that a worker sees; empty: none.
        once: Whether the host ends when its first client has left.
        hold_s: How long a device is kept for a client that is not heard.
        trust_code: Whether kernels run here that clients send.
    """

    folder: str
    host: str = ""
    port: int = 0
    plain: bool = False
    scheduler: str = ""
    device: str = ""
    gpu: str = ""
    once: bool = False
    hold_s: float = 0
    trust_code: bool = False

    @property
    def protocol(self) -> str:
        """How Dask calls the kind of connection."""
        return "tcp" if self.plain else "tls"

    @property
    def scheduler_file(self) -> Path:
        """In which the scheduler's address is."""
        return Path(self.folder) / "scheduler.json"

    def security(self) -> Any:
        """Of the host's own processes; `distributed` is imported for it."""
        from distributed.security import Security  # noqa: PLC0415 - slow, and not wanted before QUIET is set

        if self.plain:
            return Security()
        folder = Path(self.folder)
        pair = {
            f"tls_{role}_{part}": str(folder / f"host.{part}")
            for role in ("scheduler", "worker", "client")
            for part in ("cert", "key")
        }
        return Security(require_encryption=True, tls_ca_file=str(folder / "ca.cert"), **pair)

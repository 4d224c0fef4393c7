"""How a client takes a device of a host, which is held for it from then on."""

import getpass
import socket
from typing import NamedTuple

from flashscope.profiles.cluster.calls import Attach, Attached, Refused
from flashscope.profiles.cluster.client.link import SchedulerLink
from flashscope.profiles.cluster.connection import ConnectError
from flashscope.profiles.cluster.settings import Served
from flashscope.profiles.cluster.versions import obstacle_between, versions_here


class HeldDevice(NamedTuple):
    """A device that is held for this engine.

    Attributes:
        worker: The address of its worker.
        device: What the host calls it.
        token: What the host knows this engine by.
        host: The name of the machine.
        libraries: Names of the kernels whose library is there, if they wrap one.
        trusts_code: Whether kernels that are sent run there.
        gpu: The UUID of the device; empty: it is no GPU.
    """

    worker: str
    device: str
    token: str
    host: str
    libraries: tuple[str, ...]
    trusts_code: bool
    gpu: str = ""

    @property
    def called(self) -> str:
        """What it is called where devices of several hosts are told of: `GPU 0 on lab, NVIDIA H100`."""
        served = Served(name=self.device)
        return self.device if served.joined else served.on(self.host).name


async def taken(link: SchedulerLink, wanted: str, replaces: str) -> HeldDevice:
    """The first device of a host that is free, held from now on; `wanted` is the only one that will do.

    Raises:
        ConnectError: There is none, or the host refuses.
        LinkError: It does not answer.
    """
    served = await link.workers()
    workers = {worker: device for worker, device in served.items() if wanted in {"", device}}
    if served and not workers:
        raise ConnectError(f"{link.address} does not serve {wanted}; it has {', '.join(served.values())}.")
    here, busy = versions_here(), []
    for worker, device in workers.items():
        answer = await link.call(worker, Attach(holder=_who(), versions=here, replaces=replaces))
        match answer:
            case Attached(versions=there):
                if obstacle := obstacle_between(here, there):
                    raise ConnectError(obstacle)
                return HeldDevice(
                    worker,
                    device,
                    answer.token,
                    answer.host,
                    answer.libraries,
                    answer.trusts_code,
                    answer.gpu,
                )
            case Refused(kind="busy", reason=reason):
                busy.append(reason)
            case Refused(reason=reason):
                raise ConnectError(reason)
    told = "; ".join(busy)
    raise ConnectError(
        f"No device of {link.address} is free: {told}. Wait for its end, or for the host to take it back."
        if busy
        else f"{link.address} does not serve {wanted or 'a device'} yet; try again in a moment."
    )


def _who() -> str:
    """Who holds a device, for others to read."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # nobody of that number
        user = "somebody"
    return f"{user}@{socket.gethostname()}"

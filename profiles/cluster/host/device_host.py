"""The process of one device: a Dask worker that has an engine, with our own children, for one client."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import dask
import msgspec
import psutil
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.cluster.calls import (
    Ask,
    Attach,
    Attached,
    Describe,
    Described,
    EventBatch,
    HostAnswer,
    HostCall,
    Leave,
    Pull,
    Refused,
    decode_call,
)
from flashscope.profiles.cluster.host.held import HeldEngine
from flashscope.profiles.cluster.host.stopping import stop_event
from flashscope.profiles.cluster.settings import NO_PAGES, OP, QUIET, HostSettings
from flashscope.profiles.cluster.versions import obstacle_between, versions_here
from flashscope.profiles.cluster.waiting import within
from flashscope.profiles.engine.contract import EngineFactory
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import DeviceLeft, Ready, SchedulerLost, encode
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.nvml import NvmlError, driver_version, gpu_memory

if TYPE_CHECKING:  # not before QUIET is set
    from distributed import Worker

ANSWER_S = 1.0  # that the answer to a client which leaves has to go out
PULL_S = 2.0  # a call for events is answered with none after so long
UNKNOWN = "the host no longer holds the device for this client"
ENDED = "serve was ended there"


class DeviceHost:
    """What a worker answers calls with: it lends its device to one client at a time.

    Args:
        settings: The device, and for how long it is held for a client that is not heard.
        make_engine: Makes the engine of one client.
        tell: Takes what the host's log is to say.
        left: Called when a client has left, or lost the device.
    """

    def __init__(
        self,
        settings: HostSettings,
        make_engine: EngineFactory,
        tell: Callable[[str], None],
        left: Callable[[], None] = lambda: None,
    ) -> None:
        self._device, self._hold_s = settings.device, settings.hold_s
        self._trusts_code, self._gpu = settings.trust_code, settings.gpu
        self._make_engine, self._tell, self._left = make_engine, tell, left
        self._versions = versions_here(_driver() if settings.gpu else None)
        self._described = Described(
            host=socket.gethostname(),
            backend="cuda" if settings.gpu else "cpu",
            memory_bytes=_memory_of(settings.gpu),
            versions=self._versions,
        )
        self._held: HeldEngine | None = None
        self._ended = False
        self._closing = asyncio.Lock()
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def answer(self, call: bytes) -> bytes:
        """Answer a call; what is none is refused, as Dask would log an exception here and there."""
        try:
            said = decode_call(call)
        except msgspec.DecodeError as error:
            return encode(Refused(reason=f"The host does not understand this call ({error})."))
        return encode(await self._answered(said))

    async def watch_hold(self) -> None:
        """For ever: give the device back where its client has not been heard for too long."""
        while True:
            held = self._held
            await asyncio.sleep(self._left_s(held) if held else self._hold_s)
            if held is not None and held is self._held and self._left_s(held) <= 0:
                self._tell(
                    f"{held.holder} has not been heard for {self._hold_s:g} s and loses {self._device}"
                )
                await self._give_back(held)

    async def close(self) -> None:
        """End what is held; its client hears that the device is lost, not how its engine ends."""
        self._ended = True
        self._news.set()
        if self._held is not None:
            await self._give_back(self._held)

    async def _answered(self, call: HostCall) -> HostAnswer:
        match call:
            case Describe():
                return self._description()
            case Attach():
                return await self._attach(call)
            case _:
                return await self._answered_holder(call)

    def _description(self) -> Described:
        told = replace(self._described, t_ns=time.monotonic_ns())
        if (held := self._held) is None:
            return told
        return replace(told, holder=held.holder, silent_s=time.monotonic() - held.heard)

    async def _answered_holder(self, call: Ask | Pull | Leave) -> HostAnswer:
        held = self._held
        if held is None or call.token != held.token:
            return Refused(reason=ENDED if self._ended else UNKNOWN, kind="gone")
        held.heard = time.monotonic()
        match call:
            case Ask():
                return held.ask(call)
            case Pull(first=first):
                batch = await self._pulled(held, first)
                held.heard = time.monotonic()
                return Refused(reason=ENDED, kind="gone") if self._ended else batch
            case Leave(first=first):
                await self._give_back(held)
                self._tell(f"{held.holder} gives back {self._device}")
                return held.waiting(first, most=None)

    async def _attach(self, call: Attach) -> Attached | Refused:
        if obstacle := obstacle_between(call.versions, self._versions):
            self._tell(f"{call.holder} is refused: {obstacle}")
            return Refused(reason=obstacle)
        if (held := self._held) is not None and call.replaces == held.token:
            await self._end(held)
        async with self._closing:
            if (held := self._held) is not None:
                silent = time.monotonic() - held.heard
                reason = f"{self._device} is held by {held.holder}, last heard {silent:.0f} s ago"
                return Refused(reason=reason, kind="busy")
            self._held = HeldEngine(
                call, self._make_engine, self._wake, self._device, trusts_code=self._trusts_code
            )
        self._tell(f"{call.holder} takes {self._device}")
        return Attached(
            token=self._held.token,
            host=self._described.host,
            libraries=tuple(spec.name for spec in KERNELS if spec.library_is_here()),
            trusts_code=self._trusts_code,
            gpu=self._gpu,
            versions=self._versions,
        )

    async def _pulled(self, held: HeldEngine, first: int) -> EventBatch:
        """What there is, waited for; one call at a time waits."""
        self._news.clear()
        batch = held.waiting(first)
        if not batch.events:
            try:
                await within(PULL_S, self._news.wait())
            except asyncio.TimeoutError:
                return batch
            batch = held.waiting(first)
        return batch

    async def _give_back(self, held: HeldEngine) -> None:
        """End a client's engine, after which the host may end, too."""
        if await self._end(held):
            self._loop.call_later(ANSWER_S, self._left)

    async def _end(self, held: HeldEngine) -> bool:
        """End a client's engine, which takes some seconds at most; nobody gets the device before.

        Returns:
            Whether it still had the device.
        """
        async with self._closing:
            if held is not self._held:
                return False
            await asyncio.to_thread(held.close)
            self._held = None
            return True

    def _wake(self) -> None:
        """There are events; called on the engine's thread."""
        self._loop.call_soon_threadsafe(self._news.set)

    def _left_s(self, held: HeldEngine) -> float:
        return held.heard + self._hold_s - time.monotonic()


def serve(link: Link, argument: str) -> None:
    """Run a worker with one device until the host says stop, or its scheduler is gone."""
    settings = msgspec.json.decode(argument, type=HostSettings)
    os.environ["CUDA_VISIBLE_DEVICES"] = settings.gpu  # for the engine's children; there is no CUDA in here
    dask.config.set(QUIET)
    asyncio.run(_serve(link, settings))


async def _serve(link: Link, settings: HostSettings) -> None:
    from distributed import Worker  # noqa: PLC0415 - after QUIET is set

    def tell(text: str) -> None:
        link.send(LogLine(source=settings.device, text=text))

    stop = stop_event(link)
    device = DeviceHost(settings, LocalEngine, tell, lambda: link.send(DeviceLeft()))
    worker = Worker(
        **_place(settings),
        name=settings.device,
        protocol=settings.protocol,
        security=settings.security(),
        nthreads=1,
        memory_limit=0,
        resources={settings.gpu: 1} if settings.gpu else None,  # by which clients know the GPU
        local_directory=settings.folder,
        dashboard_address=NO_PAGES,
    )
    worker.handlers[OP] = device.answer
    async with worker:
        link.send(Ready())
        holding = asyncio.create_task(device.watch_hold())
        following = asyncio.create_task(_follow(worker, link))
        await stop.wait()
        following.cancel()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        holding.cancel()
        await device.close()


def _place(settings: HostSettings) -> dict[str, Any]:
    """Where a worker finds its scheduler, and is found by it; nobody else calls it."""
    if settings.scheduler:
        return {"scheduler_ip": settings.scheduler, "host": settings.host, "port": settings.port}
    return {"scheduler_file": str(settings.scheduler_file), "host": "127.0.0.1"}


async def _follow(worker: "Worker", link: Link) -> None:
    """Say that the scheduler is gone, once it is: a worker ends with it."""
    await worker.finished()
    link.send(SchedulerLost())


def _driver() -> str | None:
    """The NVIDIA driver's version, None where nobody tells."""
    try:
        return driver_version()
    except NvmlError:
        return None


def _memory_of(gpu: str) -> int:
    """Bytes of a GPU's memory, or of the machine's without one; 0 where nobody tells."""
    if not gpu:
        return int(psutil.virtual_memory().total)
    try:
        return gpu_memory(gpu)
    except NvmlError:
        return 0

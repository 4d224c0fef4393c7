"""The process of a host's scheduler: the one address that others reach."""

import asyncio
import logging

import dask
import msgspec

from flashscope.profiles.cluster.host.stopping import stop_event
from flashscope.profiles.cluster.settings import NO_PAGES, QUIET, HostSettings
from flashscope.profiles.wire.messages import Ready
from flashscope.profiles.worker.child import Link


def serve(link: Link, argument: str) -> None:
    """Run a scheduler until the host says stop; its address stands in its file before it is ready."""
    settings = msgspec.json.decode(argument, type=HostSettings)
    dask.config.set({**QUIET, "temporary-directory": settings.folder})
    asyncio.run(_serve(link, settings))


async def _serve(link: Link, settings: HostSettings) -> None:
    from distributed import Scheduler  # noqa: PLC0415 - after QUIET is set

    from flashscope.profiles.cluster.host.joined import JoinedDevices  # noqa: PLC0415 - as above

    stop = stop_event(link)
    scheduler = Scheduler(
        host=settings.host or "0.0.0.0",  # noqa: S104 - with certificates, or where it was asked for
        port=settings.port,
        protocol=settings.protocol,
        security=settings.security(),
        scheduler_file=str(settings.scheduler_file),
        dashboard=False,
        dashboard_address=NO_PAGES,
    )
    scheduler.add_plugin(JoinedDevices(link))
    async with scheduler:
        link.send(Ready())
        await stop.wait()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # that its workers are gone is no news

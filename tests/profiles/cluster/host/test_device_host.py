"""What a device's process answers, with a fake in the engine's place."""

import asyncio

import pytest

from flashscope.profiles.cluster.calls import (
    Attach,
    Attached,
    HostAnswer,
    HostCall,
    Pull,
    Refused,
    decode_answer,
)
from flashscope.profiles.cluster.settings import CPU, HostSettings
from flashscope.profiles.cluster.versions import versions_here
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import encode

pytestmark = pytest.mark.cluster


class Ending:
    """An engine that says something of its end."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def close(self) -> None:
        self._sink(LogLine(source="engine", text="The engine was closed."))


def test_a_client_whose_host_is_ended_hears_that_the_device_is_lost_and_not_how_its_engine_ends() -> None:
    from flashscope.profiles.cluster.host.device_host import ENDED, DeviceHost  # noqa: PLC0415 - imports Dask

    async def ended() -> list[HostAnswer]:
        settings = HostSettings(folder="", device=CPU, hold_s=60)
        host = DeviceHost(settings, Ending, lambda _: None)  # type: ignore[arg-type] # nothing else is asked of it

        async def told(call: HostCall) -> HostAnswer:
            answer: HostAnswer = decode_answer(await host.answer(encode(call)))
            return answer

        attached = await told(Attach(holder="somebody", versions=versions_here()))
        assert isinstance(attached, Attached)
        pull = Pull(token=attached.token, first=0)
        waiting = asyncio.create_task(told(pull))
        await asyncio.sleep(0)
        await host.close()
        return [await waiting, await told(pull)]

    assert asyncio.run(ended()) == [Refused(reason=ENDED, kind="gone")] * 2

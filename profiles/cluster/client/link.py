"""A client's calls to a host, through its scheduler, by Dask's own connections."""

import asyncio
from contextlib import suppress
from socket import create_connection
from typing import Any
from urllib.parse import urlsplit

import dask

from flashscope.profiles.cluster.calls import HostAnswer, HostCall, decode_answer
from flashscope.profiles.cluster.connection import ConnectError, Connection
from flashscope.profiles.cluster.settings import OP, QUIET, Served
from flashscope.profiles.cluster.waiting import within
from flashscope.profiles.wire.messages import encode

dask.config.set({**QUIET, "logging": {"distributed": "critical"}})  # what goes wrong is told in words
from distributed.core import rpc  # noqa: E402 - after QUIET is set
from distributed.security import Security  # noqa: E402 - as above

CONNECT_S = 5.0
REFUSED_WITHIN_S = 1.0
CALL_S = 25.0  # more than a host waits for events, or takes to end an engine


class LinkError(Exception):
    """A call was not answered.

    Attributes:
        final: Whether a later attempt cannot be better.
    """

    def __init__(self, reason: str, *, final: bool) -> None:
        super().__init__(reason)
        self.final = final

    @property
    def refusal(self) -> ConnectError:
        """What it means to who wants a connection."""
        return ConnectError(f"There is no connection: {self}. Look whether serve runs there.")


class SchedulerLink:
    """A way to a host's scheduler, and through that to its workers; used from one event loop.

    A connection that breaks is made anew with the next call.

    Attributes:
        address: The scheduler's.
    """

    def __init__(self, connection: Connection) -> None:
        self.address = connection.address
        arguments = _proofs(connection)
        self._scheduler = rpc(connection.address, timeout=CONNECT_S, connection_args=arguments)

    async def workers(self) -> dict[str, str]:
        """The devices that are served, by their workers' addresses, those that have joined last.

        Raises:
            LinkError: The scheduler does not answer.
        """
        return {address: one.name for address, one in (await self.served()).items()}

    async def served(self) -> dict[str, Served]:
        """The same, with the UUIDs of GPUs.

        Raises:
            LinkError: The scheduler does not answer.
        """
        try:
            told = await within(CALL_S, self._scheduler.identity())
        except Exception as error:
            raise self._explained(error) from error
        workers: dict[str, Any] = told["workers"]
        found = {
            address: Served(name=str(one["name"]), gpu=next(iter(one["resources"]), ""))
            for address, one in workers.items()
        }
        return dict(sorted(found.items(), key=lambda one: one[1].order))

    async def call(self, worker: str, call: HostCall) -> HostAnswer:
        """A worker's answer.

        Raises:
            LinkError: None came.
        """
        message = {"op": OP, "call": encode(call)}
        try:
            told: Any = await within(CALL_S, self._scheduler.proxy(worker=worker, msg=message))
            answer: HostAnswer = decode_answer(told)
        except Exception as error:  # as above
            if worker not in await self.workers():
                raise LinkError("its process there has ended", final=True) from error
            raise self._explained(error) from error
        return answer

    async def close(self) -> None:
        """Close all connections, as far as what they lead to takes their last bytes."""
        with suppress(asyncio.TimeoutError):
            await within(CONNECT_S, self._scheduler.close_rpc())

    def _refuses(self) -> bool:
        """Whether nothing listens there: Dask tries again and again, and tells its last attempt alone."""
        place = urlsplit(self.address)
        try:
            create_connection((place.hostname or "", place.port or 0), REFUSED_WITHIN_S).close()
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return False

    def _explained(self, error: BaseException) -> LinkError:
        """An error in a clause."""
        causes = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        said = " ".join(map(str, causes))
        if "TLS certificate does not match" in said:
            text = f"{self.address} has another certificate than the file says"
            return LinkError(text, final=True)
        if "before comm was established" in said:  # as Dask says that it was hung up on
            remedy = "its serve takes the files of its own run alone"
            text = f"{self.address} ends the connection while certificates are shown; {remedy}"
            return LinkError(text, final=False)
        if "Connection refused" in said or (isinstance(error, OSError) and self._refuses()):
            return LinkError(f"nothing listens at {self.address} (connection refused)", final=True)
        if isinstance(error, asyncio.TimeoutError):
            return LinkError(f"{self.address} does not answer", final=False)
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        return LinkError(f"{self.address} cannot be reached ({told})", final=False)


def _proofs(connection: Connection) -> dict[str, Any]:
    """What a client proves itself with, as Dask takes it.

    Raises:
        ConnectError: The certificates are none.
    """
    if not connection.ca:
        return dict(Security().get_connection_args("client"))
    security = Security(
        require_encryption=True,
        tls_ca_file=connection.ca,
        tls_client_cert=connection.certificate,
        tls_client_key=connection.key,
    )
    try:
        return dict(security.get_connection_args("client"))
    except (OSError, ValueError) as error:  # what Python's TLS cannot read
        told = f"The certificates for {connection.address} cannot be read; copy the file anew from the host."
        raise ConnectError(told) from error

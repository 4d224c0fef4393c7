"""A host: a scheduler and a process for each device, none of which outlives it. No Dask in here."""

import socket
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection as Pipe

import msgspec
from msgspec.structs import replace

from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.host.certificates import Certificates, make_certificates
from flashscope.profiles.cluster.host.members import SCHEDULER, Members
from flashscope.profiles.cluster.host.run_folder import keep_proofs, run_folder
from flashscope.profiles.cluster.settings import HostSettings, Served

Publish = Callable[[Connection, Connection | None], None]
"""Takes what clients connect with, and what hosts join with, which a plain host has none of."""


class Serving:
    """A host from its begin to its end; used on one thread.

    Args:
        settings: Where its scheduler is reached, and how long a device is held.
        devices: What it lends.
        publish: Called once all devices are served.
        say: Takes the lines of its log.
    """

    def __init__(
        self,
        settings: HostSettings,
        devices: Sequence[Served],
        publish: Publish,
        say: Callable[[str], None],
    ) -> None:
        self._settings, self._devices, self._publish = settings, devices, publish
        self._members = Members(say)

    def run(self, stop: Pipe) -> None:
        """Serve until something can be read from `stop`, or the one client has left.

        Raises:
            HostError: The scheduler has ended, a process does not start, or the disk takes no files.
        """
        with run_folder() as folder:
            settings = replace(self._settings, folder=str(folder))
            certificates = None if settings.plain else make_certificates(socket.gethostname())
            if certificates is not None:
                keep_proofs(certificates.ca, *certificates.host, folder)
            try:
                self._serve(settings, certificates, stop)
            finally:
                self._members.end()

    def _serve(self, settings: HostSettings, certificates: Certificates | None, stop: Pipe) -> None:
        members = self._members
        scheduler = members.start("scheduler", SCHEDULER, settings)
        if not members.follow(lambda: scheduler.ready, stop):
            return
        for device in self._devices:
            members.start_device(device, settings)
        if not members.follow(lambda: all(one.ready for one in members), stop):
            return
        self._announce(settings, certificates)
        members.follow(lambda: settings.once and any(one.left for one in members), stop)

    def _announce(self, settings: HostSettings, certificates: Certificates | None) -> None:
        """Say what clients connect with, and other hosts."""
        address = msgspec.json.decode(settings.scheduler_file.read_bytes())["address"]
        if certificates is None:
            self._publish(Connection(address=address), None)
            return
        client, joining = (
            Connection(address=address, ca=certificates.ca, certificate=one.certificate, key=one.key)
            for one in (certificates.client, certificates.joining)
        )
        self._publish(client, replace(joining, joins=True))

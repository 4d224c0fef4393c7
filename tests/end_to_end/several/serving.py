"""A process that lends one CPU under several names: FILE NAME..., until SIGTERM."""

import signal
import sys
from multiprocessing import Pipe
from pathlib import Path

from flashscope.profiles.cluster.connection import Connection, write_connection
from flashscope.profiles.cluster.host.serving import Serving
from flashscope.profiles.cluster.settings import HostSettings, Served


def main(file: Path, names: list[str]) -> None:
    stop, stopper = Pipe(duplex=False)
    signal.signal(signal.SIGTERM, lambda *_: stopper.send_bytes(b"\0"))

    def publish(connection: Connection, _: Connection | None) -> None:
        write_connection(connection, file)
        sys.stdout.write(f"Connection file: {file}\n")
        sys.stdout.flush()

    settings = HostSettings(folder="", host="127.0.0.1", hold_s=120)
    devices = [Served(name=name) for name in names]
    Serving(settings, devices, publish, lambda _: None).run(stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

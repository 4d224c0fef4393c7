"""How a process with an event loop hears that it is to end."""

import asyncio
import threading

from flashscope.profiles.worker.child import Link, StopRequestedError


def stop_event(link: Link) -> asyncio.Event:
    """An event of the running loop that is set once the engine's side of the link says stop."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def listen() -> None:
        try:
            while True:
                link.receive()
        except (StopRequestedError, OSError, EOFError):
            loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=listen, name="stop", daemon=True).start()
    return stop

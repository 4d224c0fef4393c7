"""Sampling with a program in ncu's place: what it prints is joined, what it refuses is told, and it can be ended."""

import os
import stat
import time
from pathlib import Path

import pytest

from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.errors import DeviceUnavailableError
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.worker import ncu_tool
from flashscope.profiles.worker.child import CancelledError
from flashscope.profiles.worker.stalls import recording

H100 = next(card for card in CARDS if card.name == "H100")


class Link:
    """In place of the engine's pipe: what was said, and after how many looks the work is given up."""

    def __init__(self, patience: int = 1_000_000) -> None:
        self.said: list[Message] = []
        self.patience = patience

    def send(self, message: Message) -> None:
        self.said.append(message)

    def check(self, timeout_s: float = 0) -> None:
        self.patience -= 1
        if self.patience < 0:
            raise CancelledError
        time.sleep(min(timeout_s, 0.01))


def program(folder: Path, text: str) -> str:
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)

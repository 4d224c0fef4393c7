"""A launch in slow motion, on a clock that a test moves: its order, its pace, its bits, and its end."""

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.cuda.live.told import ToldTiles
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.live import (
    MOST_TILES,
    LiveKernel,
    LiveRequest,
    check_tiles,
    kept_tiles,
)
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.wire.events import RequestFailed, decode, encode
from flashscope.profiles.wire.live_events import LiveStarted, LiveTiles
from flashscope.profiles.wire.messages import Message, Retiring
from flashscope.profiles.worker import serve
from flashscope.profiles.worker.child import CancelledError, Link
from flashscope.profiles.worker.live import FRAMES_S, TileFrames, run_live, watch

S = 1_000_000_000
PROBLEM = Problem(seqlen_q=600, seqlen_k=1100, batch=1, heads=2, head_dim=16, dtype="float32", causal=True)


class SlowLink(Link):
    """Takes what is said; a wait moves the clock, and the engine gives up after so many waits."""

    def __init__(self, patience: int = 1_000_000) -> None:
        self.said: list[Message] = []
        self.now, self._left = 0, patience

    def clock(self) -> int:
        return self.now

    def send(self, message: Message) -> None:
        self.said.append(message)

    def check(self, timeout_s: float = 0) -> None:
        self.now += round(timeout_s * S)
        self._left -= 1
        if self._left < 0:
            raise CancelledError

    @property
    def frames(self) -> list[LiveTiles]:
        return [one for one in self.said if isinstance(one, LiveTiles)]


def request_of(kernel: LiveKernel = "flash2", seconds: float = 5.0) -> LiveRequest:
    return LiveRequest(problem=PROBLEM, kernel=kernel, seconds=seconds)


@pytest.mark.parametrize("kernel", ["flash1", "flash2"])
def test_tiles_come_in_the_order_of_the_kernels_loops_at_the_pace_that_was_chosen(kernel: LiveKernel) -> None:
    link = SlowLink()
    ended = run_live(request_of(kernel), link, link.clock)
    begun = link.said[0]
    assert isinstance(begun, LiveStarted)
    kept = [*kept_tiles(PROBLEM, begun.block_q, begun.block_k)]
    outer = 1 if kernel == "flash1" else 0
    in_order = sorted(kept, key=lambda tile: (tile[outer], tile[1 - outer]))
    told = [tile for frame in link.frames for tile in frame.tile.numpy().tolist()]
    assert told == [[head, i, j] for head in range(2) for i, j in in_order]
    assert ended.same
    done = [ns for frame in link.frames for ns in frame.finished_ns.numpy().tolist()]
    assert done == pytest.approx([5 * S * n / begun.tiles for n in range(begun.tiles)], abs=10)
    assert ended.took_ns == pytest.approx(5 * S, abs=10)
    skipped = {(i, j) for i in range(5) for j in range(3)} - set(kept)
    assert skipped, "a causal mask skips tiles"


def test_many_tiles_come_in_thirty_frames_a_second() -> None:
    link, tiles = SlowLink(), 400
    frames = TileFrames(5.0, link, link.clock)
    frames.begin(tiles)
    for j in range(tiles):
        frames.take((0, 0, j))
    frames.flush()
    assert 4.5 * FRAMES_S <= len(link.frames) <= 5 * FRAMES_S + 1
    assert [one.tile.numpy()[-1, 2] for one in link.frames][-1] == tiles - 1
    assert sum(frame.tile.shape[0] for frame in link.frames) == tiles


def test_one_that_is_given_up_ends_between_two_tiles() -> None:
    link = SlowLink(patience=4)
    with pytest.raises(CancelledError):
        run_live(request_of(), link, link.clock)
    assert len(link.frames) < 5


@pytest.mark.parametrize("seconds", [4.9, 60.1, float("nan")])
def test_a_pace_that_nobody_can_follow_is_refused(seconds: float) -> None:
    link = SlowLink()
    with pytest.raises(InputError, match="5 to 60 s"):
        run_live(request_of(seconds=seconds), link, link.clock)
    assert not link.said


def test_what_has_no_such_build_is_refused_with_the_reason() -> None:
    link = SlowLink()
    with pytest.raises(UnsupportedError, match="flash3"):
        run_live(request_of("flash3"), link, link.clock)
    with pytest.raises(InputError, match="at most 4096"):
        check_tiles(MOST_TILES["cpu"] + 1, "cpu")


class Gpu:
    """A launch that runs by itself: every 100 ms of its clock the next of 40 tiles is done, on SM 7."""

    tile, tiles = (128, 64), 40
    multiprocessors, tile_ns = 132, 100_000_000

    def __init__(self, link: SlowLink) -> None:
        self.request = LiveRequest(problem=replace(PROBLEM, dtype="float16"), backend="cuda")
        self.begun = self.told = 0
        self.closed = False
        self._link = link

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        self.closed = True

    def start(self) -> None:
        self.begun = self._link.now

    @property
    def done(self) -> int:
        """How many tiles are."""
        return min(self.tiles, (self._link.now - self.begun) // self.tile_ns)

    @property
    def running(self) -> bool:
        return self.done < self.tiles

    def fresh(self) -> ToldTiles:
        tile = np.array([(0, 0, n) for n in range(self.told, self.done)], np.int32).reshape(-1, 3)
        times = np.arange(self.told, self.done, dtype=np.int64) * self.tile_ns
        self.told = self.done
        return ToldTiles(tile, times, np.full(len(tile), 7, np.int32))

    def same(self) -> bool:
        return not self.closed


def test_a_gpu_is_looked_at_thirty_times_a_second_and_told_of_while_it_runs() -> None:
    link = SlowLink()
    gpu = Gpu(link)
    ended = watch(gpu.request, gpu, link, link.clock)
    begun, *frames = link.said
    assert isinstance(begun, LiveStarted)
    assert (begun.multiprocessors, begun.tile_ns, begun.tiles) == (132, gpu.tile_ns, gpu.tiles)
    assert (begun.block_q, begun.block_k) == gpu.tile
    assert [tuple(one.tile.numpy()[:, 2]) for one in link.frames] == [(n,) for n in range(gpu.tiles)]
    assert len(frames) == gpu.tiles
    assert {one.sm.numpy().item() for one in link.frames if one.sm is not None} == {7}
    assert ended.same
    assert ended.took_ns == pytest.approx(gpu.tiles * gpu.tile_ns, abs=S / FRAMES_S)
    assert gpu.closed


def test_a_gpu_that_is_given_up_is_left_within_a_frame() -> None:
    link = SlowLink(patience=10)
    gpu = Gpu(link)
    with pytest.raises(CancelledError):
        watch(gpu.request, gpu, link, link.clock)
    assert gpu.closed
    assert link.now - gpu.begun == pytest.approx(11 * S / FRAMES_S, rel=0.01)


def test_what_is_told_of_a_gpu_comes_over_the_wire_and_what_older_workers_told_does_too() -> None:
    link = SlowLink()
    gpu = Gpu(link)
    watch(gpu.request, gpu, link, link.clock)
    for said in (link.said[0], link.frames[0]):
        assert isinstance(said, LiveStarted | LiveTiles)
        assert decode(encode(said)) == said
        older = msgspec.msgpack.decode(encode(said))
        for name in ("sm", "multiprocessors", "tile_ns"):
            older.pop(name, None)
        told = decode(msgspec.msgpack.encode(older))
        assert getattr(told, "sm", None) is None
        assert getattr(told, "multiprocessors", 0) == 0


@pytest.mark.parametrize(("backend", "retires"), [("cuda", True), ("cpu", False)])
def test_a_worker_whose_gpu_a_launch_may_have_spoilt_serves_no_longer(
    backend: Backend, retires: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(serve, "run_live", fault)
    link = SlowLink()
    serve.Worker(link, ()).run_live(LiveRequest(problem=PROBLEM, backend=backend))
    *before, answer = link.said
    assert isinstance(answer, RequestFailed)
    assert "illegal memory access" in answer.reason
    assert any(isinstance(one, Retiring) for one in before) is retires

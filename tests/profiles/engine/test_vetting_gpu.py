"""Kernels of one's own on a GPU: what cheats do with streams, memory, settings and values is told."""

import ctypes
import re
from pathlib import Path

import pytest

from flashscope.kernels.cuda.driver import driver
from flashscope.kernels.own.references import read_reference
from flashscope.kernels.workload.problem import Dtype, Passes, Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.model.trust import trust_of
from flashscope.profiles.worker.instruments.bench import Bench
from tests.kernels import own_kernels
from tests.kernels.own import examples
from tests.profiles.engine.test_vetting import assert_peer_is_whole, suspected
from tests.profiles.heard import Heard, done

pytestmark = pytest.mark.gpu
HERE, EXAMPLES = Path(own_kernels.__file__).parent, Path(examples.__file__).parent
IN_TURNS = Protocol(warmup=1, repeats=4, drift_check=False)
MANY = Protocol(warmup=1, repeats=16, drift_check=False)
ON_OTHERS = "another stream|after its return"
REFUSED = {
    "drops_keys_when_worn.py": "though the first run was right",
    "keeps_first_arrays.py": "With arrays of the same shapes at other addresses, it was wrong",
    "launches_from_a_thread.py": ON_OTHERS,
    "leaves_allocator_changed.py": "settings changed: .*CuPy's allocator",
    "leaves_stream_changed.py": "settings changed: .*CuPy's current stream",
    "patches_clocks.py": "It replaced functions of the process that judges it: .*(elapsed_time|nvml)",
    "persisting_l2_window.py": "settings changed: .*the part of the L2 cache that is set aside",
    "remembers_by_address.py": "it remembers by address",
    "replays_remembered_graph.py": "it remembers by address",
    "turns_keys_over.py": "It wrote to K",
    "unjoined_after_fork.py": ON_OTHERS,
    "unjoined_stream.py": ON_OTHERS,
    "works_ahead.py": "made ahead of the call",
    "writes_behind_keys.py": "It wrote behind K",
    "writes_behind_output.cu": "At 1 query and 1 key, which it takes: It wrote behind O",
}
DOUBTED = {
    "falls_with_repetition.py": "drift: later samples are .* shorter",
    "remembers_by_content.py": "it remembers by content|it waits on the host",  # to read what it is given
    "right_at_usual_scale.py": "with scores of about 10,000 it is wrong",
    "right_beyond_64_keys.py": "at 63 queries and 63 keys, which it takes, it is wrong",
    "waits_on_host.py": "it waits on the host",
}
MINE, TORCHED = HERE / "gpu_right", HERE / "right"
RIGHT: list[tuple[Path, Dtype]] = [
    (MINE / "graph_of_its_work.py", "float32"),
    (MINE / "joined_stream.py", "float32"),
    (MINE / "raw_kernel.py", "float32"),
    (MINE / "pool_of_its_own.py", "float16"),
    (MINE / "torch_compiled.py", "float32"),
    (MINE / "whole_tiles.cu", "float32"),
    (EXAMPLES / "rows.cu", "float32"),
    (EXAMPLES / "triton_rows.py", "float16"),
    (EXAMPLES / "triton_rows.py", "bfloat16"),
    (EXAMPLES / "torch_callable.py", "bfloat16"),
    (TORCHED / "torch_naive.py", "float32"),
    (TORCHED / "torch_naive.py", "float16"),
    (TORCHED / "torch_online_blocks.py", "float16"),
    (TORCHED / "torch_sdpa.py", "float32"),
    (TORCHED / "torch_sdpa.py", "bfloat16"),
]
NEEDS = {
    "torch": pytest.mark.torch,
    "triton": pytest.mark.triton,
    "torch_compiled": pytest.mark.triton,
}


def needs_of(file: Path) -> list[pytest.MarkDecorator]:
    """By what its name begins with."""
    return [mark for begins, mark in NEEDS.items() if file.stem.startswith(begins)]


def beside_ours(
    heard: Heard, file: Path, *, dtype: Dtype = "float32", protocol: Protocol = IN_TURNS, causal: bool = False
) -> list[PointState]:
    """The ends of a kernel of one's own and of one of ours, sampled in turns."""
    own = read_reference(str(file))
    problem = Problem(seqlen_q=1024, seqlen_k=1024, heads=4, head_dim=64, dtype=dtype, causal=causal)
    kernels = (own.name, "simt" if dtype == "float32" else "flash2")
    plan = Plan(backend="cuda", kernels=kernels, problems=(problem,), protocol=protocol, own=(own,))
    return heard.sweep(plan)


def test_all_cheats_are_asked_for() -> None:
    there = {path.name for path in (HERE / "gpu_cheats").iterdir() if path.suffix in {".py", ".cu"}}
    assert {*REFUSED, *DOUBTED} == there
    assert set(MINE.glob("*.[cp]*")) <= {path for path, _ in RIGHT}


@pytest.mark.parametrize("name", REFUSED)
def test_a_cheat_on_a_gpu_is_refused_with_what_was_seen(heard: Heard, name: str) -> None:
    cheat, peer = beside_ours(heard, HERE / "gpu_cheats" / name)
    assert cheat.status in {"failed", "wrong"}, cheat
    assert re.search(REFUSED[name], cheat.reason), cheat.reason
    assert_peer_is_whole(peer)


@pytest.mark.parametrize("name", DOUBTED)
def test_a_cheat_on_a_gpu_whose_answers_are_right_is_doubtful_with_what_was_seen(
    heard: Heard, name: str
) -> None:
    protocol = MANY if name == "falls_with_repetition.py" else IN_TURNS
    cheat, peer = beside_ours(heard, HERE / "gpu_cheats" / name, protocol=protocol)
    trust = trust_of(done(cheat))
    assert trust is not None
    assert trust.word == "doubtful"
    assert any(re.search(DOUBTED[name], reason) for reason in trust.reasons), trust.reasons
    assert_peer_is_whole(peer, protocol)


@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize(
    ("file", "dtype"),
    [pytest.param(*one, id=f"{one[0].stem} {one[1]}", marks=needs_of(one[0])) for one in RIGHT],
)
def test_a_right_kernel_on_a_gpu_is_not_suspected(
    heard: Heard, file: Path, dtype: Dtype, causal: bool
) -> None:
    if causal and file.stem == "torch_compiled":
        pytest.skip("it takes no mask")
    mine, peer = beside_ours(heard, file, dtype=dtype, causal=causal)
    assert suspected(mine) == ""
    assert len(done(mine).samples) == IN_TURNS.repeats
    assert_peer_is_whole(peer)


@pytest.mark.torch
@pytest.mark.parametrize("passes", ["backward", "both"])
def test_gradients_of_a_right_kernel_on_a_gpu_are_not_suspected(heard: Heard, passes: Passes) -> None:
    own = read_reference(str(EXAMPLES / "torch_callable.py"))
    problem = Problem(seqlen_q=512, seqlen_k=512, heads=4, head_dim=64, dtype="bfloat16", passes=passes)
    names = (own.name, "flash2")
    plan = Plan(backend="cuda", kernels=names, problems=(problem,), protocol=IN_TURNS, own=(own,))
    mine, peer = heard.sweep(plan)
    assert suspected(mine) == ""
    assert_peer_is_whole(peer)


def test_each_setting_of_a_gpu_that_is_changed_reads_otherwise(
    cuda_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU

    runtime, library = cupy.cuda.runtime, driver()
    pool, stream = runtime.deviceGetMemPool(0), cupy.cuda.Stream(non_blocking=True)
    threshold = runtime.memPoolGetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold)

    def set_threshold(bytes_kept: int) -> None:
        runtime.memPoolSetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold, bytes_kept)

    def set_l2(nbytes: int) -> None:
        assert library.cuCtxSetLimit(6, ctypes.c_size_t(nbytes)) == 0

    changes = {
        "CuPy's allocator": lambda: cupy.cuda.set_allocator(cupy.cuda.MemoryPool().malloc),
        "CuPy's current stream": stream.use,
        "the driver's memory pool": lambda: set_threshold(threshold - 1),
        "PyTorch's allocator": lambda: monkeypatch.setenv("PYTORCH_ALLOC_CONF", "backend:cudaMallocAsync"),
        "the part of the L2 cache that is set aside": lambda: set_l2(4 << 20),
    }
    before, allocator = (
        {name: read() for name, read in cuda_bench.settings.items()},
        cupy.cuda.get_allocator(),
    )
    try:
        for name, change in changes.items():
            assert cuda_bench.settings[name]() == before[name]
            change()
            assert cuda_bench.settings[name]() != before[name], name
    finally:
        cupy.cuda.set_allocator(allocator)
        cupy.cuda.Stream.null.use()
        set_threshold(threshold)
        set_l2(0)

"""The occupancy of an SM: NVIDIA's documented examples, and its own calculator's answers for anything."""

import ctypes
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.cuda.design.limits import SM_LIMITS
from flashscope.kernels.cuda.design.occupancy import Demand, SmLimit, occupancy, register_budget
from flashscope.kernels.cuda.program import HOPPER, KIB, SHARED_MEMORY_LIMITS
from flashscope.kernels.cuda.reading.cards import CARDS, GpuCard, card_of
from flashscope.kernels.workload.device import Device
from tests.kernels.cuda.emulator.build import compiler

HEADER = "cu13/include/cuda_occupancy.h"
NOT_REFUSED = 256  # registers of a thread, one more than there are; the calculator lets them pass
SHIM = Path(__file__).with_name("nvidia_occupancy.cpp")


def header() -> Path | None:
    """NVIDIA's header, as the CUDA runtime's wheel has it."""
    found = find_spec("nvidia")
    places = [Path(place) / HEADER for place in (found.submodule_search_locations or ())] if found else []
    return next((place for place in places if place.exists()), None)


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    place, build = header(), compiler()
    if place is None or build is None:
        pytest.skip("needs g++ and NVIDIA's cuda_occupancy.h")
    made = tmp_path_factory.mktemp("occupancy") / "calculator.so"
    subprocess.run([build, "-shared", "-fPIC", f"-I{place.parent}", str(SHIM), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


@pytest.mark.parametrize(("threads", "blocks", "share"), [(128, 12, 0.75), (320, 4, 0.625)])
def test_the_best_practices_guides_example_comes_out(threads: int, blocks: int, share: float) -> None:
    """37 registers a thread on an SM of 64 warps: 75 % in blocks of 128, 63 % in blocks of 320."""
    found = occupancy(Demand(threads, 37, 0), SM_LIMITS[8, 0])
    assert (found.blocks, found.share) == (blocks, share)
    assert found.binding == (SmLimit.REGISTERS,)


@settings(max_examples=150, deadline=None)
@given(
    capability=st.sampled_from(sorted(SM_LIMITS)),
    threads=st.integers(1, 1100),
    registers=st.integers(1, 260).filter(lambda number: number != NOT_REFUSED),
    shared_bytes=st.integers(0, 232 * KIB),
)
def test_every_limit_is_that_of_nvidias_calculator(
    calculator: ctypes.CDLL, capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> None:
    limits = SM_LIMITS[capability]
    answer = (ctypes.c_int * 4)()
    sizes = (limits.shared_bytes, limits.block_bytes, limits.reserved_bytes)
    blocks = calculator.blocks_of_sm(
        *(*capability, limits.warps, *map(ctypes.c_size_t, sizes)),
        *(threads, registers, ctypes.c_size_t(shared_bytes), answer),
    )
    found = occupancy(Demand(threads, registers, shared_bytes), limits)
    assert found.blocks == blocks
    if shared_bytes + limits.reserved_bytes:  # of nothing there is no end
        assert list(found.by_limit.values()) == list(answer)


def test_a_thread_gets_no_more_registers_than_so_many_blocks_leave() -> None:
    """flash3's launches: 168 of three warpgroups, 128 of four, 128 of two blocks of two."""
    assert [register_budget(*one) for one in ((384, 1), (512, 1), (256, 2), (256, 1))] == [168, 128, 128, 255]
    for threads, residents in ((384, 1), (512, 1), (256, 2)):
        demand = Demand(threads, register_budget(threads, residents), 0)
        assert occupancy(demand, SM_LIMITS[HOPPER]).by_limit[SmLimit.REGISTERS] >= residents


def test_every_architecture_that_programs_are_made_for_has_limits() -> None:
    assert SM_LIMITS.keys() == SHARED_MEMORY_LIMITS.keys()
    assert {card.compute_capability for card in CARDS} <= SM_LIMITS.keys()


def test_a_gpu_is_known_by_what_it_says_of_itself() -> None:
    h200 = Device(
        backend="cuda",
        name="NVIDIA H200",
        memory_bytes=139 << 30,
        compute_capability=HOPPER,
        multiprocessors=132,
    )
    assert card_of(h200) == GpuCard("H200", HOPPER, 132, 139)
    assert card_of(Device(backend="cpu", name="a CPU", memory_bytes=1, multiprocessors=2)) is None

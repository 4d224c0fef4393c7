"""What does not let a cut be compiled or launched: the source's own conditions, and a GPU's limits."""

from collections.abc import Iterator

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import flash2, flash2_backward, flash3_backward
from flashscope.kernels.cuda.design.backward import refusals2, refusals3
from flashscope.kernels.cuda.design.conditions import FRAGMENT, no_whole_passes, no_width
from flashscope.kernels.cuda.design.cut import key_tiling, query_tiling, variant2_of, variant3_of
from flashscope.kernels.cuda.design.limits import THREADS_OF_BLOCK, limits_of
from flashscope.kernels.cuda.design.occupancy import register_budget
from flashscope.kernels.cuda.flash3 import GROUP_THREADS, MULTIPROCESSOR_BYTES, RESERVED_BYTES
from flashscope.kernels.cuda.program import KIB
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem

SETMAXNREG = {1: (224, 32), 2: (240, 24)}  # registers of a consumer and of the producer, flash3_layout.cuh
MANY_GROUPS = {3: (160, 32)}
OTHERWISE = (240, 32)
MOST_Q_BARRIERS = 4
OF_QK, OF_PV = 26, 30  # registers that ptxas of CUDA 13.0 wants for a product beside its sums


def refusals(cut: Cut, problem: Problem, card: GpuCard) -> tuple[str, ...]:
    """Why a cut does not run a problem on a card, each in a sentence; none: nothing refuses it."""
    unsupported = find_kernel(cut.spec).unsupported(problem, card.device)
    if unsupported:
        return (unsupported,)
    return (*_of_source(cut, problem, card), *_of_card(cut, problem, card))


def registers_of_groups(cut: Cut) -> tuple[int, int]:
    """Registers of a thread of flash3's consumers and of its producer, once they have been moved."""
    if cut.backward:
        return SETMAXNREG[2]
    if cut.groups == 1 and cut.residents == 1:
        return 255, 255  # none are moved
    return {**SETMAXNREG, **MANY_GROUPS}.get(cut.groups, OTHERWISE)


def shared_of(cut: Cut, problem: Problem, card: GpuCard) -> int:
    """Shared memory that a block of the cut asks for, in bytes."""
    match cut.kernel:
        case "flash2":
            return flash2.shared_bytes(problem, variant2_of(cut))
        case "flash2 backward":
            return flash2_backward.shared_bytes(problem, key_tiling(cut))
        case "flash3 backward":
            return flash3_backward.shared_bytes(problem, query_tiling(cut))
        case _:
            return variant3_of(cut, problem, card.target).shared_bytes(problem.head_dim, problem.value_dim)


def threads_of(cut: Cut) -> int:
    """Threads of a block."""
    return 32 * cut.groups * cut.columns if cut.spec == "flash2" else (cut.groups + 1) * GROUP_THREADS


def _of_source(cut: Cut, problem: Problem, card: GpuCard) -> Iterator[str]:
    match cut.kernel:
        case "flash2":
            return _of_flash2(cut, problem)
        case "flash2 backward":
            return refusals2(cut, problem)
        case "flash3 backward":
            return refusals3(cut, problem)
        case _:
            return _of_flash3(cut, problem, card)


def _of_flash2(cut: Cut, problem: Problem) -> Iterator[str]:
    """Conditions of copy.cuh and product.cuh."""
    if cut.block_k % FRAGMENT:
        yield f"A product takes {FRAGMENT} keys at a time: {cut.block_k} are not whole fragments."
    yield from no_whole_passes(
        threads_of(cut), problem.head_dim, {"query rows": cut.block_q, "keys": cut.keys}
    )


def _of_flash3(cut: Cut, problem: Problem, card: GpuCard) -> Iterator[str]:
    """Conditions of wgmma.cuh and flash3_layout.cuh."""
    yield from no_width(cut.block_k, "keys")
    variant = variant3_of(cut, problem, card.target)
    parts = cut.groups if variant.early and not variant.schedule else 1
    if cut.q_stages * (parts + 1) > MOST_Q_BARRIERS:
        yield (
            f"{cut.q_stages} stages of Q in {parts} parts need {cut.q_stages * (parts + 1)} barriers,"
            f" and there is room for {MOST_Q_BARRIERS} (flash3_layout.cuh)."
        )
    yield from _of_registers(cut)
    launched = register_budget(threads_of(cut), cut.residents)
    for what, sums, besides in (("S", cut.block_k // 2, OF_QK), ("O", problem.head_dim // 2, OF_PV)):
        if sums + besides > launched:
            yield (
                f"A product for {what} names {sums + besides} registers of a thread, and a launch of"
                f" {threads_of(cut)} threads gives it {launched} (ptxas, C7602)."
            )


def _of_registers(cut: Cut) -> Iterator[str]:
    """Whether the warpgroups can have what they ask for when they move registers."""
    if cut.residents > 1 and cut.groups > 1:
        yield (
            f"{cut.residents} blocks an SM have the registers for one consumer warpgroup each, not for"
            f" {cut.groups} (flash3_layout.cuh)."
        )
        return
    consumer, producer = registers_of_groups(cut)
    if cut.groups == 1 and cut.residents == 1:
        return
    launched = register_budget(threads_of(cut), cut.residents)
    asked, given = cut.groups * consumer + producer, (cut.groups + 1) * launched
    if asked > given:
        yield (
            f"{cut.groups} warpgroups of {consumer} registers a thread and a producer of {producer} ask for"
            f" {asked}; {cut.groups + 1} launched with {launched} have {given} (flash3_layout.cuh)."
        )


def _of_card(cut: Cut, problem: Problem, card: GpuCard) -> Iterator[str]:
    threads, taken, limits = threads_of(cut), shared_of(cut, problem, card), limits_of(card)
    if threads > THREADS_OF_BLOCK:
        yield f"A block has {threads} threads, and may have {THREADS_OF_BLOCK}."
    if taken > limits.block_bytes:
        yield (
            f"A block takes {kib_text(taken)} of shared memory, and may have {kib_text(limits.block_bytes)}"
            f" on {card.name}."
        )
    elif cut.kernel == "flash3" and cut.residents > 1:
        most = MULTIPROCESSOR_BYTES // cut.residents - RESERVED_BYTES
        if taken > most:
            yield (
                f"A block takes {kib_text(taken)} of shared memory; {cut.residents} of them share an SM"
                f" with {kib_text(most)} each."
            )
    if threads * cut.residents > limits.warps * 32:
        yield (
            f"{cut.residents} blocks of {threads} threads are more than the {limits.warps * 32}"
            f" of an SM of {card.name}."
        )


def kib_text(nbytes: int) -> str:
    """Shared memory in words, so exactly that a unit of it more is another number."""
    return f"{nbytes / KIB:,.1f} KiB".replace(".0 ", " ")

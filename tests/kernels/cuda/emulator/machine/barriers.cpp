// Barriers: numbered ones, and those in shared memory, whose phases end when all arrivals and bytes are there.
#include "block.hpp"

namespace machine {

namespace {
void complete_if_all(Block& block, Numbered& barrier) {
    const u32 needed = barrier.threads ? barrier.threads : u32(block.live);
    if (barrier.arrived < needed) return;
    if (barrier.arrived > needed) fail("more threads than the %u of a numbered barrier", needed);
    barrier.arrived = 0;
    ++barrier.phase;
    wake(barrier.waiting);
}

Barrier& found(Block& block, u32 address) {
    const auto place = block.barriers.find(address);
    if (place == block.barriers.end()) fail("no barrier was initialised at shared address %u", address);
    return place->second;
}

void add(Numbered& barrier, u32 id, u32 threads, u32 arrived) {
    if (barrier.arrived && barrier.threads != threads)
        fail("barrier %u: for %u threads here, for %u elsewhere", id, threads, barrier.threads);
    barrier.threads = threads;
    barrier.arrived += arrived;
}
}  // namespace

void meet(u32 id, u32 threads, bool waits) {
    if (id > 15) fail("there is no barrier %u", id);
    if (threads % 32) fail("barrier %u for %u threads, which are no whole warps", id, threads);
    Block& block = *running->block;
    Numbered& barrier = block.numbered[id];
    if (!waits) {  // a thread that does not wait must not arrive twice before its warp has done so once
        struct Arrival {
            Numbered& barrier;
            u32 id, threads;
        } own{barrier, id, threads};
        const Act all = [](void* const* lanes) {
            for (int i = 0; i < 32; ++i) {
                const auto& one = *static_cast<const Arrival*>(lanes[i]);
                add(one.barrier, one.id, one.threads, 1);
            }
            complete_if_all(*running->block, static_cast<const Arrival*>(lanes[0])->barrier);
        };
        together("bar.arrive", all, &own);
        return step();
    }
    add(barrier, id, threads, 1);
    const u32 phase = barrier.phase;
    complete_if_all(block, barrier);
    if (barrier.phase == phase)
        wait_in(barrier.waiting, "barrier " + std::to_string(id) + " of " + std::to_string(threads) + " threads");
    else go_with_others();
}

// Those that have ended are not waited for.
void after_exit(Block& block) {
    for (Numbered& barrier : block.numbered)
        if (barrier.arrived && !barrier.threads) complete_if_all(block, barrier);
}

void barrier_init(u32 address, u32 count) {
    shared(address, 8);
    if (count == 0) fail("a barrier for no arrivals");
    Block& block = *running->block;
    const auto place = block.barriers.find(address);
    if (place != block.barriers.end()) fail("the barrier at shared address %u is initialised again", address);
    block.barriers[address].count = block.barriers[address].pending = count;
}

void arrive(Block& block, u32 address, u32 count, long long bytes) {
    Barrier& barrier = found(block, address);
    barrier.bytes += bytes;
    if (count > barrier.pending)
        fail("one arrival more than the %u of the barrier at shared address %u", barrier.count, address);
    barrier.pending -= count;
    if (barrier.pending || barrier.bytes) return;
    barrier.pending = barrier.count;
    ++barrier.phase;
    wake(barrier.waiting);
}

void barrier_arrive(u32 address, u32 count, u32 expected_bytes) {
    arrive(*running->block, address, count, expected_bytes);
    step();
}

// Until the current phase is another than `parity`. Who waits sees the phase's end, however late it goes on.
void barrier_wait(u32 address, u32 parity) {
    if (parity > 1) fail("a parity of %u", parity);
    Barrier& barrier = found(*running->block, address);
    step();
    if ((barrier.phase & 1) == parity)
        wait_in(barrier.waiting,
                "the barrier at shared address " + std::to_string(address) + " to end phase " + std::to_string(parity) +
                    " (" + std::to_string(barrier.pending) + " arrivals and " + std::to_string(barrier.bytes) +
                    " bytes missing)");
}

}  // namespace machine

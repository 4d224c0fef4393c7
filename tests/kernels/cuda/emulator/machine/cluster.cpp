// Clusters of two blocks: addresses in one of them, arrivals there, and where all threads of both meet.
#include "block.hpp"

namespace machine {

namespace {
constexpr u32 RANK = 24, CARRIES_RANK = 1u << 25;  // bits of an address; shared memory takes fewer

Block* other_of(const Block& block) { return running_block(block.index ^ 1); }

bool all_there(const Block& block) { return block.cluster_arrivals >= size_t(block.live); }

void go_on(Block& block) {
    block.cluster_arrivals = 0;
    ++block.cluster_phase;
    wake(block.cluster_waiting);
}
}  // namespace

u32 address_in(u32 address, u32 rank) {
    if (rank > 1) fail("block %u of a cluster of two", rank);
    if (address >> RANK) fail("the shared address %#x is one of another block already", address);
    return address | rank << RANK | CARRIES_RANK;
}

Block& block_of(u32& address) {
    Block& own = *running->block;
    if (!(address & CARRIES_RANK)) return own;
    const unsigned index = (own.index & ~1u) | (address >> RANK & 1);
    address &= (1u << RANK) - 1;
    Block* const found = running_block(index);
    if (!found) fail("block %u, of the same cluster, does not run", index);
    return *found;
}

void arrive_there(u32 address) {
    Block& block = block_of(address);
    arrive(block, address, 1, 0);
    step();
}

void cluster_arrive() {
    Block& own = *running->block;
    running->cluster_waits = own.cluster_phase;
    ++own.cluster_arrivals;
    Block* const other = other_of(own);
    if (all_there(own) && other && all_there(*other)) {
        go_on(own);
        go_on(*other);
    }
    step();
}

void cluster_wait() {
    const Block& own = *running->block;
    step();
    while (own.cluster_phase == running->cluster_waits)
        wait_in(running->block->cluster_waiting, "the other block of the cluster");
}

}  // namespace machine

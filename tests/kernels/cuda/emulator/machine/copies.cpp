// Copies that run beside the threads. What they write is not a number from their start until they end.
#include <cstring>

#include "block.hpp"

namespace machine {

namespace {
constexpr u8 NO_NUMBER = 0xff;

u32 swizzled(u32 address) { return address ^ (address >> 7 & 7) << 4; }

void spoil(const Block& block, u32 address, u32 bytes) {
    std::memset(shared_in(block, address, bytes), NO_NUMBER, bytes);
    std::memset(seen_in(block, address, bytes), NO_NUMBER, bytes);
}
void deliver(const Block& block, u32 address, const void* from, u32 bytes) {
    std::memcpy(shared_in(block, address, bytes), from, bytes);
    std::memcpy(seen_in(block, address, bytes), from, bytes);
}

u32 box_bytes(const TensorMap& map) {
    u32 bytes = map.element_bytes;
    for (u32 i = 0; i < map.rank; ++i) bytes *= map.box[i];
    return bytes;
}

// Where the tensor has a row of a box from its first column on, or null outside of it.
u8* row_of(const Copy& copy, u32 row) {
    const TensorMap& map = copy.map;
    bool inside = true;
    u64 at = map.address + (long long)copy.coordinates[0] * map.element_bytes;
    for (u32 i = 1, rest = row; i < map.rank; rest /= map.box[i++]) {
        const long long place = (long long)copy.coordinates[i] + rest % map.box[i];
        inside &= place >= 0 && u64(place) < map.sizes[i];
        at += u64(place) * map.strides[i];
    }
    return inside ? reinterpret_cast<u8*>(at) : nullptr;
}
bool has_column(const Copy& copy, u32 column) {
    const long long place = (long long)copy.coordinates[0] + column;
    return place >= 0 && place < (long long)copy.map.sizes[0];
}

// Rows of 128 bytes in the swizzle of 128 bytes; what lies outside of the tensor is zero.
void end_box(const Block& block, const Copy& copy) {
    const u32 rows = copy.bytes / 128, width = copy.map.box[0], size = copy.map.element_bytes;
    for (u32 row = 0; row < rows; ++row) {
        const u8* const from = row_of(copy, row);
        u8 line[128] = {};
        for (u32 i = 0; from && i < width; ++i)
            if (has_column(copy, i)) std::memcpy(line + i * size, from + i * size, size);
        for (u32 chunk = 0; chunk < 128; chunk += 16)
            deliver(block, swizzled(copy.shared + row * 128 + chunk), line + chunk, 16);
    }
}
// The way back: what lies outside of the tensor stays here.
void end_box_store(const Block& block, const Copy& copy) {
    const u32 rows = copy.bytes / 128, width = copy.map.box[0], size = copy.map.element_bytes;
    for (u32 row = 0; row < rows; ++row) {
        u8* const to = row_of(copy, row);
        u8 line[128];
        for (u32 chunk = 0; chunk < 128; chunk += 16)
            std::memcpy(line + chunk, seen_in(block, swizzled(copy.shared + row * 128 + chunk), 16), 16);
        for (u32 i = 0; to && i < width; ++i)
            if (has_column(copy, i)) std::memcpy(to + i * size, line + i * size, size);
    }
}

void end_in(Copies& all, const Copy& copy) {
    if (--all.under_way[copy.group] == 0) all.under_way.erase(copy.group);
    wake(all.waiting);
}

void end(Block& block, const Copy& copy) {
    switch (copy.kind) {
    case Copy::Kind::BOX:
        end_box(block, copy);
        count_moved(copy.bytes);
        break;
    case Copy::Kind::BYTES: deliver(block, copy.shared, reinterpret_cast<const void*>(copy.global), copy.bytes); break;
    case Copy::Kind::SENT:
        deliver(block, copy.shared, seen_in(*copy.source, u32(copy.global), copy.bytes), copy.bytes);
        break;
    case Copy::Kind::CHUNK: {
        u8 chunk[16] = {};
        if (copy.taken) std::memcpy(chunk, reinterpret_cast<const void*>(copy.global), copy.taken);
        std::memcpy(shared_in(block, copy.shared, copy.bytes), chunk, copy.bytes);
        count_moved(copy.bytes);
        copy.owner->unpublished.emplace_back(copy.shared, copy.bytes);
        return end_in(copy.owner->chunks, copy);
    }
    case Copy::Kind::STORE:
        std::memcpy(reinterpret_cast<void*>(copy.global), seen_in(block, copy.shared, copy.bytes), copy.bytes);
        return end_in(copy.owner->stores, copy);
    case Copy::Kind::BOX_STORE: end_box_store(block, copy); return end_in(copy.owner->stores, copy);
    case Copy::Kind::SUM:
        for (u32 i = 0; i < copy.bytes; i += sizeof(float))
            *reinterpret_cast<float*>(copy.global + i) +=
                *reinterpret_cast<const float*>(seen_in(block, copy.shared + i, sizeof(float)));
        return end_in(copy.owner->stores, copy);
    }
    arrive(block, copy.barrier, 0, -(long long)copy.bytes);
}

Copy made(Copy::Kind kind, u32 shared, u64 global, u32 bytes) {
    if (kind != Copy::Kind::BOX && (global % 16 || shared % 16 || bytes % 16))
        fail("a copy of %u bytes between address %#llx and shared address %u: no multiples of 16", bytes, global, shared);
    Copy copy{};
    copy.kind = kind, copy.owner = running, copy.shared = shared, copy.global = global, copy.bytes = bytes;
    copy.slow = chance(SLOW);
    shared_in(*running->block, shared, bytes);
    return copy;
}
void start(const Copy& copy) {
    running->block->copies.push_back(copy);
    step();
}

void start_in(Copies& all, Copy& copy) {
    copy.group = all.group;
    ++all.under_way[copy.group];
    start(copy);
}
void wait_for(Copies& all, u32 pending, const char* what) {
    step();
    while (!all.under_way.empty() && int(all.under_way.begin()->first + pending - all.group) < 0)
        wait_in(all.waiting, what);
}
}  // namespace

bool end_copy(Block& block, bool slow) {
    const size_t count = block.copies.size(), start = count ? below(count) : 0;
    for (size_t i = 0; i < count; ++i) {
        Copy& place = block.copies[(start + i) % count];
        if (place.slow != slow) continue;
        const Copy copy = place;
        place = block.copies.back();
        block.copies.pop_back();
        end(block, copy);
        return true;
    }
    return false;
}

namespace {
Copy box(Copy::Kind kind, u32 at, const void* map, u32 barrier, const int* coordinates, u32 rank) {
    const TensorMap& tensor = *static_cast<const TensorMap*>(map);
    if (tensor.rank != rank) fail("a box of %u dimensions from a tensor map of %u", rank, tensor.rank);
    if (tensor.box[0] * tensor.element_bytes != 128) fail("boxes with rows of 128 bytes are emulated alone");
    if (at % 128) fail("a box at shared address %u, no multiple of 128", at);
    Copy copy = made(kind, at, 0, box_bytes(tensor));
    copy.map = tensor, copy.barrier = barrier;
    std::memcpy(copy.coordinates, coordinates, rank * sizeof(int));
    return copy;
}
void start_in(Block& block, const Copy& copy) {
    spoil(block, copy.shared, copy.bytes);
    block.copies.push_back(copy);
}
}  // namespace

void copy_box(u32 to, const void* map, u32 barrier, const int* coordinates, u32 rank) {
    start_in(*running->block, box(Copy::Kind::BOX, to, map, barrier, coordinates, rank));
    step();
}
void copy_box_to_all(u32 to, const void* map, u32 barrier, const int* coordinates, u32 rank, u32 blocks) {
    if (blocks >> 2) fail("a box to blocks %#x of a cluster of two", blocks);
    for (u32 i = 0; i < 2; ++i) {
        u32 there = address_in(to, i);
        if (blocks >> i & 1) start_in(block_of(there), box(Copy::Kind::BOX, to, map, barrier, coordinates, rank));
    }
    step();
}
// To a block of the cluster, as its barrier.
void send_bytes(u32 to, u32 from, u32 bytes, u32 barrier) {
    Copy copy = made(Copy::Kind::SENT, from, 0, bytes);
    copy.source = running->block, copy.global = from;
    Block& block = block_of(to);
    if (&block_of(barrier) != &block) fail("bytes for one block, and their barrier in another one");
    copy.shared = to, copy.barrier = barrier;
    start_in(block, copy);
    step();
}
void copy_bytes(u32 to, u64 from, u32 bytes, u32 barrier) {
    Copy copy = made(Copy::Kind::BYTES, to, from, bytes);
    copy.barrier = barrier;
    start_in(*running->block, copy);
    step();
}
void copy_chunk(u32 to, u64 from, u32 bytes, u32 taken) {
    if (bytes != 16 || taken > 16) fail("cp.async of other than 16 bytes");
    if (taken && from % 16) fail("cp.async from an odd address");
    Copy copy = made(Copy::Kind::CHUNK, to, taken ? from : 0, bytes);
    copy.taken = taken;
    std::memset(shared(to, bytes), NO_NUMBER, bytes);
    start_in(running->chunks, copy);
}
void commit_chunks() { ++running->chunks.group; }
void wait_chunks(u32 pending) { wait_for(running->chunks, pending, "cp.async"); }

void bulk_store(u64 to, u32 from, u32 bytes, bool add) {
    Copy copy = made(add ? Copy::Kind::SUM : Copy::Kind::STORE, from, to, bytes);
    start_in(running->stores, copy);
}
void store_box(const void* map, const int* coordinates, u32 from, u32 rank) {
    for (u32 i = 0; i < rank; ++i)  // of loads it may; a GPU ends a kernel that stores so: illegal instruction
        if (coordinates[i] < 0) fail("a box that is stored begins before its tensor, at %d", coordinates[i]);
    Copy copy = box(Copy::Kind::BOX_STORE, from, map, 0, coordinates, rank);
    start_in(running->stores, copy);
}
void commit_stores() { ++running->stores.group; }
void wait_stores(u32 pending) { wait_for(running->stores, pending, "bulk copies"); }

}  // namespace machine

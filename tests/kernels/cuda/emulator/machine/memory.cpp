// Memory with ends: global arrays between pages that nobody may touch, and the shared memory of blocks.
#include <sys/mman.h>

#include <cstring>

#include "block.hpp"

namespace machine {

namespace {
constexpr u8 UNTOUCHED = 0xff;  // NaN in every format
constexpr u32 FIRST = 1024;     // address of dynamic shared memory, as on sm_90
constexpr u32 STATICS = 1 << 20, STATIC_ROOM = 48 << 10;

struct Region {
    u8* pages;
    size_t page_bytes;
    u8* start;
    size_t bytes;
    std::string name;
};
std::vector<Region> regions;

size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

u8* guarded(size_t page_bytes) {
    void* const all = mmap(nullptr, page_bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) fail("no memory");
    u8* const pages = static_cast<u8*>(all) + PAGE;
    mprotect(pages, page_bytes, PROT_READ | PROT_WRITE);
    return pages;
}
void unguard(u8* pages, size_t page_bytes) { munmap(pages - PAGE, page_bytes + 2 * PAGE); }

size_t shared_pages() { return whole_pages(FIRST + shared_bytes); }
// Dynamic memory starts at a multiple of 1024 and ends less than that before the guard.
u32 shared_offset() { return u32(shared_pages() - (FIRST + shared_bytes)) / 1024 * 1024; }
}  // namespace

// Which array an address is near.
std::string place_of(u64 address) {
    const Region* nearest = nullptr;
    u64 least = ~0ull;
    for (const Region& region : regions) {
        const u64 start = reinterpret_cast<u64>(region.start), end = start + region.bytes;
        const u64 away = address < start ? start - address : address >= end ? address - end : 0;
        if (away < least) least = away, nearest = &region;
    }
    if (!nearest || least > 64 * PAGE) {
        char text[64];
        std::snprintf(text, sizeof text, "address %#llx, which is near no array", address);
        return text;
    }
    const long long offset = (long long)(address - reinterpret_cast<u64>(nearest->start));
    return "byte " + std::to_string(offset) + " of " + nearest->name + ", which has " + std::to_string(nearest->bytes);
}

void take_shared(Block& block) {
    block.memory = guarded(shared_pages()) + shared_offset();
    block.seen_by_copies = guarded(shared_pages()) + shared_offset();
    regions.push_back({nullptr, 0, block.memory + FIRST, shared_bytes, "shared memory"});
}
void begin_shared(Block& block) {
    std::memset(block.memory - shared_offset(), UNTOUCHED, shared_pages());
    std::memset(block.seen_by_copies - shared_offset(), UNTOUCHED, shared_pages());
    block.statics.assign(STATIC_ROOM, UNTOUCHED);
    block.static_places.clear();
    block.statics_end = 0;
}
void check_shared(const Block& block) {
    const u8* const pages = block.memory - shared_offset();
    for (const u8* at = pages; at < pages + shared_pages(); ++at) {
        const bool inside = at >= block.memory + FIRST && at < block.memory + FIRST + shared_bytes;
        if (!inside && *at != UNTOUCHED)
            fail("block %u wrote byte %lld of its %u of shared memory", block.index,
                 (long long)(at - block.memory) - FIRST, shared_bytes);
    }
}
void free_shared(Block& block) {
    if (block.memory) unguard(block.memory - shared_offset(), shared_pages());
    if (block.seen_by_copies) unguard(block.seen_by_copies - shared_offset(), shared_pages());
    std::erase_if(regions, [&](const Region& region) { return !region.pages && region.start == block.memory + FIRST; });
}

void* dynamic_shared(u32 alignment) {
    if (alignment > 1024) fail("shared memory is aligned to 1024 bytes at most");
    return running->block->memory + FIRST;
}
void* static_shared(const void* key, u32 bytes, u32 alignment) {
    Block& block = *running->block;
    const auto known = block.static_places.find(key);
    if (known != block.static_places.end()) return block.statics.data() + known->second;
    const u32 start = (block.statics_end + 15) / 16 * 16;
    if (bytes > STATIC_ROOM - start || alignment > 16) fail("too large a static shared array");
    block.statics_end = start + bytes;
    block.static_places[key] = start;
    return block.statics.data() + start;
}
u32 address_of(const void* pointer) {
    const Block& block = *running->block;
    const u8* const at = static_cast<const u8*>(pointer);
    if (at >= block.statics.data() && at < block.statics.data() + STATIC_ROOM)
        return STATICS + u32(at - block.statics.data());
    const long long offset = at - block.memory;
    if (offset < FIRST || offset > (long long)FIRST + shared_bytes) fail("the address of what is not in shared memory");
    return u32(offset);
}

namespace {
u32 checked(u32 address, u32 bytes) {
    if (address < FIRST || address > FIRST + shared_bytes || bytes > FIRST + shared_bytes - address)
        fail("access to %u bytes from byte %lld of %u of shared memory", bytes, (long long)address - FIRST, shared_bytes);
    return address;
}
}  // namespace
u8* shared_in(const Block& block, u32 address, u32 bytes) {
    if (address >= STATICS) {
        if (address - STATICS + bytes > STATIC_ROOM) fail("access behind the static shared arrays");
        return const_cast<u8*>(block.statics.data()) + (address - STATICS);
    }
    return block.memory + checked(address, bytes);
}
u8* seen_in(const Block& block, u32 address, u32 bytes) { return block.seen_by_copies + checked(address, bytes); }

u8* shared(u32 address, u32 bytes) {
    if (bytes <= 16 && address % bytes) fail("access to %u bytes at the odd shared address %u", bytes, address);
    return shared_in(*running->block, address, bytes);
}
void stored(u32 address, u32 bytes) {
    if (address < STATICS) running->unpublished.emplace_back(address, bytes);
}
void publish() {
    const Block& block = *running->block;
    for (const auto& [address, bytes] : running->unpublished)
        std::memcpy(seen_in(block, address, bytes), shared_in(block, address, bytes), bytes);
    running->unpublished.clear();
}

}  // namespace machine

// An array that ends (or starts) where a page begins that nobody may touch, at a multiple of 16; null: no memory.
namespace machine {
static u64 moved = 0;
void count_moved(u64 bytes) { moved += bytes; }
}  // namespace machine
extern "C" u64 machine_moved() {
    const u64 found = machine::moved;
    machine::moved = 0;
    return found;
}

extern "C" void* machine_array(size_t bytes, int at_end, const char* name) {
    using namespace machine;
    const size_t page_bytes = whole_pages(bytes ? bytes : 1);
    u8* const pages = guarded(page_bytes);
    std::memset(pages, UNTOUCHED, page_bytes);
    u8* const start = at_end ? pages + (page_bytes - bytes) / 16 * 16 : pages;
    regions.push_back({pages, page_bytes, start, bytes, name});
    return start;
}
// Whether what surrounds an array on its pages is untouched; the array is no more.
extern "C" int machine_release(const void* array) {
    using namespace machine;
    for (size_t i = 0; i < regions.size(); ++i) {
        const Region region = regions[i];
        if (region.start != array || !region.pages) continue;
        bool untouched = true;
        for (const u8* at = region.pages; at < region.pages + region.page_bytes; ++at)
            untouched &= (at >= region.start && at < region.start + region.bytes) || *at == UNTOUCHED;
        unguard(region.pages, region.page_bytes);
        regions.erase(regions.begin() + long(i));
        return untouched;
    }
    return 0;
}

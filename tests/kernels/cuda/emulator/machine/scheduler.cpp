// Which thread goes on, and for how long: until it waits. The order is random, from a seed.
//
// With priorities the warp that ranks highest goes on as long as it can, and others at most to their next access of
// memory; ranks change now and then. Without priorities any warp goes on. Either way some warps stall now and then,
// until there is nothing else to do: that finds what a missing barrier lets happen.
#include <cstdio>
#include <cstring>
#include <vector>

#include "block.hpp"

namespace machine {

u64 random_state;
u32 shared_bytes;
double eagerness;

namespace {
using Entry = void (*)(void* const*);
constexpr double CHANGE_OF_RANK = 1.0 / 64, SWITCH = 1.0 / 16, LOOK = 1.0 / 64;
constexpr unsigned MOST_LOOKS = 1000;
constexpr u64 MOST_STEPS = 20'000'000;
Entry entry;
void* const* entry_arguments;
bool by_priority;
u64 last_stall;
double stalling;  // chance of a warp to stall where its first lane comes to a step
std::vector<std::unique_ptr<Block>> resident;
Waiting polling;  // threads that look again and again for what others write
Waiting following;  // threads that wait for the launch before
struct Left {
    void* to;
    const void* from;
    size_t bytes;
};
std::vector<Left> left_behind;  // what the launch before writes when it ends
unsigned fruitless;  // looks in a row, while nobody did anything else

void begin(Block& block, unsigned index) {
    block.index = index;
    block.live = int(block.fibers.size());
    begin_shared(block);
    block.warps.assign((block.fibers.size() + 31) / 32, Warp{});
    block.warpgroups = std::vector<Warpgroup>((block.fibers.size() + 127) / 128);
    block.barriers.clear();
    for (Numbered& one : block.numbered) one = Numbered{};
    block.copies.clear();
    block.cluster_arrivals = block.cluster_phase = 0;
    block.cluster_waiting.clear();
    for (size_t i = 0; i < block.fibers.size(); ++i) {
        Fiber& fiber = block.fibers[i];
        Warp& warp = block.warps[i / 32];
        char* const stack = fiber.stack;
        fiber = Fiber{};
        fiber.block = &block, fiber.warp = &warp, fiber.thread = int(i), fiber.stack = stack;
        ++warp.live;
        warp.runnable.push_back(&fiber);
    }
    for (Warp& warp : block.warps) warp.priority = int(below(1 << 20));
}

void finish(const Block& block) {
    check_shared(block);
    for (const Copy& copy : block.copies)
        if (copy.kind != Copy::Kind::CHUNK) fail("block %u ends with copies under way", block.index);
    check_products(block);
}

Warp* choose() {
    Warp* best = nullptr;
    size_t count = 0;
    for (const auto& block : resident) {
        if (block->live == 0) continue;
        for (Warp& warp : block->warps) {
            if (warp.runnable.empty() || warp.stalled) continue;
            ++count;
            if (by_priority ? !best || warp.priority > best->priority : below(count) == 0) best = &warp;
        }
    }
    if (best && chance(CHANGE_OF_RANK)) best->priority = int(below(1 << 20));
    return best;
}

// Whether a warp that ranks higher could go on.
bool outranked() {
    if (!by_priority) return false;
    for (const auto& block : resident)
        for (const Warp& warp : block->warps)
            if (!warp.runnable.empty() && !warp.stalled && warp.priority > running->warp->priority) return true;
    return false;
}

// The warp that stalls last goes on first: others stall for long.
bool release() {
    Warp* chosen = nullptr;
    for (const auto& block : resident)
        for (Warp& warp : block->warps)
            if (warp.stalled && (!chosen || warp.stalled > chosen->stalled)) chosen = &warp;
    if (chosen) chosen->stalled = 0;
    return chosen;
}

// Something under way in some block.
bool end_something(bool slow) {
    const size_t first = below(resident.size());
    for (size_t i = 0; i < resident.size(); ++i) {
        Block& block = *resident[(first + i) % resident.size()];
        const size_t groups = block.warpgroups.size(), chosen = below(groups + 1);
        if (chosen == groups && end_copy(block, slow)) return true;
        for (size_t j = 0; j < groups; ++j)
            if (end_product(block, block.warpgroups[(chosen + j) % groups], slow)) return true;
        if (end_copy(block, slow)) return true;
    }
    return false;
}

[[noreturn]] void stuck(std::string report) {
    for (const auto& block : resident) {
        if (!block->live) continue;
        report += "; block " + std::to_string(block->index) + ":";
        const auto& fibers = block->fibers;
        for (size_t first = 0, i = 0; i <= fibers.size(); ++i) {
            if (i < fibers.size() && fibers[i].ended == fibers[first].ended &&
                fibers[i].waits_for == fibers[first].waits_for)
                continue;
            report += " threads " + std::to_string(first) + "-" + std::to_string(i - 1) + " " +
                      (fibers[first].ended ? "have ended," : (fibers[first].waits_for.empty() ? "could go on," : "wait for " + fibers[first].waits_for + ","));
            first = i;
        }
    }
    fail("%s", report.c_str());
}

// Lets those that poll look again, unless they have done so often enough.
bool look(unsigned most) {
    if (polling.empty() || fruitless >= most * polling.size()) return false;
    wake(polling);
    return true;
}

// The launch before, if it is still to end and somebody waits for that.
bool end_launch_before() {
    if (following.empty()) return false;
    for (const Left& one : left_behind) std::memcpy(one.to, one.from, one.bytes);
    left_behind.clear();
    wake(following);
    return true;
}

// When no thread can go on; false: nor can anything else.
bool proceed() {
    if (end_something(false)) return true;
    if (below(2) && end_something(true)) return true;
    return release() || look(2) || end_something(true) || end_launch_before() || look(MOST_LOOKS);
}

// Lanes of a warp that can go on do so in turns, in any order, before another warp does: they do not lose each other.
void go_on(Warp& warp) {
    Waiting lanes;
    lanes.swap(warp.runnable);
    for (size_t left = lanes.size(); left; --left) {
        const size_t place = below(left);
        Fiber& fiber = *lanes[place];
        lanes[place] = lanes[left - 1];
        ++fruitless;
        resume(fiber);
        if (polling.empty() || polling.back() != &fiber) fruitless = 0;
        if (!fiber.ended) continue;
        Block& block = *fiber.block;
        --warp.live, --block.live;
        after_exit(block);
        if (block.live) continue;
        while (end_copy(block, false) || end_copy(block, true)) {}
        finish(block);
    }
}

bool begin_blocks(std::vector<unsigned>& waiting) {
    bool any = false;
    for (const auto& block : resident) {
        if (block->live == 0 && !waiting.empty()) {
            begin(*block, waiting.back());
            waiting.pop_back();
        }
        any |= block->live > 0;
    }
    return any;
}

void run(std::vector<unsigned> waiting_blocks) {
    for (u64 steps = 0; begin_blocks(waiting_blocks); ++steps) {
        if (steps == MOST_STEPS) stuck("no end in sight");
        if (chance(eagerness)) end_something(false);
        if (chance(LOOK)) wake(polling);
        if (Warp* const warp = choose()) go_on(*warp);
        else if (!proceed()) stuck("deadlock");
    }
}
}  // namespace

void body() {
    entry(entry_arguments);
    running->ended = true;
    suspend();
    __builtin_unreachable();
}

Block* running_block(unsigned index) {
    for (const auto& block : resident)
        if (block->live && block->index == index) return block.get();
    return nullptr;
}

void wake(Fiber& fiber) {
    fiber.waits_for.clear();
    fiber.warp->runnable.push_back(&fiber);
}
void wake(Waiting& waiting) {
    for (Fiber* const fiber : waiting) wake(*fiber);
    waiting.clear();
}
void wait_in(Waiting& waiting, std::string what) {
    waiting.push_back(running);
    running->waits_for.swap(what);
    suspend();
}

// Only a warp's first lane may fall behind here: of any other one no leader of the warp takes notice.
void step() {
    if (running->thread % 32) return;
    const bool stalls = chance(stalling);
    if (stalls) running->warp->stalled = ++last_stall;
    if (!stalls && !chance(SWITCH) && !outranked()) return;
    wake(*running);
    suspend();
}
// The last to come goes on with those it wakes, not ahead of them.
void go_with_others() {
    wake(*running);
    suspend();
}
void wait_for_launch_before() {
    if (!left_behind.empty()) wait_in(following, "the launch before");
}
void give_way() { wait_in(polling, "what it polls"); }

void together(const char* what, Act act, void* argument, u32 mask) {
    const int lane = running->thread % 32;
    Gathering& own = running->warp->gathering;
    if (!(mask >> lane & 1)) fail("%s: a lane that its mask leaves out", what);
    if (own.arrived && (own.act != act || std::strcmp(own.what, what)))
        fail("%s, while others of the warp are at %s", what, own.what);
    own.act = act, own.what = what;
    own.arguments[lane] = argument;
    if (++own.arrived < __builtin_popcount(mask)) return wait_in(own.waiting, what);
    act(own.arguments);
    std::memset(own.arguments, 0, sizeof own.arguments);
    own.arrived = 0;
    wake(own.waiting);
    go_with_others();
}

}  // namespace machine

// The next launch begins before what the one before it left is there.
extern "C" void machine_follow(unsigned count, void* const* to, const void* const* from, const size_t* bytes) {
    for (unsigned i = 0; i < count; ++i) machine::left_behind.push_back({to[i], from[i], bytes[i]});
}

// Runs a launch; 0, or 1 with the reason in `error`.
extern "C" int machine_run(machine::Entry kernel, void* const* arguments, unsigned grid, unsigned threads,
                           unsigned dynamic_bytes, u64 seed, unsigned residents, char* error, unsigned room) {
    using namespace machine;
    entry = kernel, entry_arguments = arguments;
    shared_bytes = dynamic_bytes;
    random_state = seed;
    by_priority = seed % 4 != 3;
    eagerness = seed % 3 == 2 ? 1.0 / 2 : seed % 3 == 1 ? 1.0 / 256 : 0.0;
    last_stall = 0;
    stalling = seed % 5 < 2 ? 1.0 / 128 : seed % 5 < 4 ? 1.0 / 16 : 1.0 / 4;
    gridDim = {grid, 1, 1}, blockDim = {threads, 1, 1};
    threadIdx = blockIdx = {0, 0, 0};
    std::vector<unsigned> pairs((grid + 1) / 2), order;  // of which both begin together, if they are a cluster
    for (unsigned i = 0; i < pairs.size(); ++i) {
        const u32 other = below(i + 1);
        pairs[i] = pairs[other];
        pairs[other] = i;
    }
    for (const unsigned pair : pairs) {
        order.push_back(2 * pair);
        if (2 * pair + 1 < grid) order.push_back(2 * pair + 1);
    }
    polling.clear();
    fruitless = 0;
    message.clear();
    catch_faults();
    if (!setjmp(failed)) {
        for (unsigned i = 0; i < (grid < residents ? grid : residents); ++i) {
            resident.push_back(std::make_unique<Block>());
            take_shared(*resident.back());
            resident.back()->fibers.resize(threads);
            for (Fiber& fiber : resident.back()->fibers) fiber.stack = new_stack();
        }
        run(std::move(order));
        if (!left_behind.empty()) fail("nobody waits for the launch before");
    }
    leave_faults();
    running = nullptr;
    for (const auto& block : resident) {
        free_shared(*block);
        for (Fiber& fiber : block->fibers) free_stack(fiber.stack);
    }
    resident.clear();
    following.clear();
    left_behind.clear();
    std::snprintf(error, room, "%s", message.c_str());
    return !message.empty();
}

// A running launch: its blocks, their warps, and what is under way in them.
#pragma once
#include <csetjmp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine.hpp"

namespace machine {

struct Block;
struct Fiber;
struct Warp;
struct Sums;

using Waiting = std::vector<Fiber*>;

// A thread's copies under way, in groups.
struct Copies {
    u32 group = 0;                // that is open
    std::map<u32, u32> under_way;  // how many of which group
    Waiting waiting;
};

// A thread, with a stack of its own.
struct Fiber {
    Block* block = nullptr;
    Warp* warp = nullptr;
    int thread = 0;
    char* stack = nullptr;
    std::jmp_buf place;
    bool started = false, ended = false;
    u32 cluster_waits = 0;
    std::string waits_for;  // for a reader; empty: for nothing
    std::vector<std::pair<u32, u32>> unpublished;  // address and bytes of stores to shared memory
    u32 product_group = 0;  // that is open
    Copies chunks, stores;
    bool fenced = false;
    std::map<float*, std::shared_ptr<Sums>> sums;  // under way, by the registers that they belong in
};

// Lanes that come together.
struct Gathering {
    Act act = nullptr;
    const char* what = "";
    void* arguments[32] = {};
    int arrived = 0;
    Waiting waiting;
};

// Sums of products under way, away from the registers that they come from and go to.
struct Sums {
    int n;
    u32 last_group;            // that has a product of theirs
    std::vector<float> value;  // 16 x n, those of a warp
};

// A product under way: it begins when all four warps of the warpgroup have named it.
struct Part {  // of a warp
    std::shared_ptr<Sums> sums;
    std::vector<float> a;  // 16 x depth, where it comes from registers
};
struct Pending {
    Product product;
    u32 group;
    bool slow = false;
    int warps = 0;
    Part parts[4];
};

struct Warp {
    int live = 0, priority = 0;
    u64 stalled = 0;  // the higher, the later; 0: it does not
    Waiting runnable;
    Gathering gathering;
    u64 products = 0;  // that it has named
};

struct Barrier {  // in shared memory
    u32 count = 0, pending = 0, phase = 0;
    long long bytes = 0;
    Waiting waiting;
};

struct Numbered {
    u32 arrived = 0, threads = 0, phase = 0;
    Waiting waiting;
};

struct Copy {
    enum class Kind { BOX, BYTES, CHUNK, STORE, SUM, SENT, BOX_STORE } kind;
    Fiber* owner;
    Block* source;  // of what is sent
    u32 group;
    u32 shared, barrier, bytes, taken;
    u64 global;
    TensorMap map;
    int coordinates[5];
    bool slow;
};

struct Warpgroup {
    std::deque<Pending> products;
    u64 ended = 0;
    Waiting waiting;
};

struct Block {
    unsigned index = 0;
    int live = 0;
    u8 *memory = nullptr, *seen_by_copies = nullptr;  // shared memory; the same as TMA and wgmma see it
    std::vector<u8> statics;
    std::map<const void*, u32> static_places;
    u32 statics_end = 0;
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::vector<Warpgroup> warpgroups;
    std::unordered_map<u32, Barrier> barriers;
    Numbered numbered[16];
    std::vector<Copy> copies;
    size_t cluster_arrivals = 0;
    u32 cluster_phase = 0;
    Waiting cluster_waiting;
};

constexpr size_t PAGE = 4096;

extern Fiber* running;
extern u32 shared_bytes;  // dynamic, of a block
extern double eagerness;  // chance that something under way ends at a step
constexpr double SLOW = 1.0 / 6;  // chance of what is under way to end only when there is nothing else to do

// The same for the same seed.
extern u64 random_state;
inline u64 random_bits() {  // splitmix64
    u64 x = random_state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}
inline bool chance(double p) { return double(random_bits() >> 11) * 0x1p-53 < p; }
inline u32 below(size_t n) { return u32(random_bits() % n); }

// fibers.cpp
char* new_stack();
void free_stack(char* stack);
void resume(Fiber& fiber);
void suspend();  // the running fiber; someone must wake it
extern std::jmp_buf failed;
extern std::string message;
void catch_faults();
void leave_faults();

// cluster.cpp; the block of such an address, which becomes one of its own
Block& block_of(u32& address);

// scheduler.cpp
Block* running_block(unsigned index);  // null: it does not run
void wait_in(Waiting& waiting, std::string what);
void wake(Waiting& waiting);
void wake(Fiber& fiber);
void go_with_others();

// memory.cpp
void take_shared(Block& block);
void begin_shared(Block& block);
void check_shared(const Block& block);
void free_shared(Block& block);
u8* shared_in(const Block& block, u32 address, u32 bytes);
u8* seen_in(const Block& block, u32 address, u32 bytes);
std::string place_of(u64 address);

// barriers.cpp
void after_exit(Block& block);
void arrive(Block& block, u32 address, u32 count, long long bytes);

// copies.cpp, products.cpp: let one thing under way end, of the slow ones or of the others; false: there is none.
bool end_copy(Block& block, bool slow);
bool end_product(const Block& block, Warpgroup& group, bool slow);
void check_products(const Block& block);

}  // namespace machine

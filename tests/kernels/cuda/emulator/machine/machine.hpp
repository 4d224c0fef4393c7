// What emulated kernels and instructions need of the machine that runs them.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;

struct Dimensions {
    unsigned x, y, z;
};
extern Dimensions threadIdx, blockIdx, blockDim, gridDim;

namespace machine {

// Ends the launch with a message for the caller.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Shared memory of the running block. `shared` checks an access; what threads `stored` there, TMA and wgmma see once
// they `publish` it.
void* dynamic_shared(u32 alignment);
void* static_shared(const void* key, u32 bytes, u32 alignment);
u32 address_of(const void* pointer);
u8* shared(u32 address, u32 bytes);
void stored(u32 address, u32 bytes);
// What products have read of it, and copies have written, since it was last asked for: `machine_moved`.
void count_moved(u64 bytes);
void publish();

// Other threads may come first: now and then, or because this one can only wait for them.
void step();
void give_way();

// Until the launch before has ended, which happens when nothing else can.
void wait_for_launch_before();

// All lanes of a warp come together, and `act` is done once. `arguments`: of each lane; null where the mask leaves one
// out.
using Act = void (*)(void* const* arguments);
void together(const char* what, Act act, void* argument, u32 mask = ~0u);

// bar.sync, bar.arrive; 0 threads: all that have not ended.
void meet(u32 barrier, u32 threads, bool waits);

void barrier_init(u32 address, u32 count);
void barrier_arrive(u32 address, u32 count, u32 expected_bytes);
void barrier_wait(u32 address, u32 parity);

// Clusters of two blocks, 2 n and 2 n + 1: addresses in one of them, all threads of both.
u32 address_in(u32 address, u32 rank);
void arrive_there(u32 address);
void cluster_arrive();
void cluster_wait();

// Copies, each under way for a while.
struct TensorMap {
    u64 address;
    u32 rank, element_bytes;
    u64 sizes[5], strides[5];  // elements; bytes, of which the first is not used
    u32 box[5];
};
static_assert(sizeof(TensorMap) <= 128, "what a CUtensorMap has room for");
void copy_box(u32 to, const void* map, u32 barrier, const int* coordinates, u32 rank);
void copy_box_to_all(u32 to, const void* map, u32 barrier, const int* coordinates, u32 rank, u32 blocks);
void copy_bytes(u32 to, u64 from, u32 bytes, u32 barrier);
void send_bytes(u32 to, u32 from, u32 bytes, u32 barrier);
void copy_chunk(u32 to, u64 from, u32 bytes, u32 taken);
void commit_chunks();
void wait_chunks(u32 pending);
// From shared memory; `add`: float sums grow by them.
void bulk_store(u64 to, u32 from, u32 bytes, bool add);
void store_box(const void* map, const int* coordinates, u32 from, u32 rank);
void commit_stores();
void wait_stores(u32 pending);

enum class Element { HALF, BFLOAT, E4M3 };

// What a lane gives to and takes from instructions on matrices of its warp.
struct Matrices {
    u32 registers[4];
    u32 address;  // of a row
    int count;
    bool transposed;
};
void load_matrices(Matrices& own);
void store_matrices(Matrices& own);
struct WarpProduct {  // 16 x depth by depth x 8, of 16 bits
    Element element;
    int depth;
    u32 a[4], b[2];
    float c[4];
};
void multiply(WarpProduct& own);

struct Fiber;
// A product of a warpgroup, 64 rows by n columns; one thread's part. A in shared memory or in registers.
struct Product {
    float* sums;
    int n;
    Element element;
    u64 a, b;
    u32 held[4];  // of A, where it is in registers
    bool in_registers, accumulate, transposed_a, transposed_b;
    int sign_a, sign_b;
    Fiber* fiber;
};
void start_product(Product& own);
void fence_products();
void commit_products();
void wait_products(u32 pending);

extern "C" {
float half_to_float(u16 x);
u16 float_to_half(float x);
float bfloat_to_float(u16 x);
u16 float_to_bfloat(float x);
float e4m3_to_float(u8 x);
u8 float_to_e4m3(float x);
}

}  // namespace machine

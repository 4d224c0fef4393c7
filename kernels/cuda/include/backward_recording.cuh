// Where a backward pass leaves what each tile of queries and keys of one K/V head held, and who ran it. Only with -DTRACE=1:
// in the kernel that is timed every mark below is nothing.
//
// Tile (h, i, j) of query head h of the group has slot (h * tiles_q + i) * tiles_k + j in every array; what is never visited
// keeps the caller's fill, as does what lies behind the last query or key. dQ and dK lack the scale.
#pragma once
#if TRACE
struct BackwardRecording {
    float* p;         // (slots, BR, BC)
    float* dp;        // (slots, BR, BC)
    float* ds;        // (slots, BR, BC), not yet rounded
    float* delta;     // (slots, BR)
    float* dq;        // (slots, BR, HEAD_DIM), what the tile adds; of a launch of dQ alone the sum after it
    float* dk;        // (slots, BC, HEAD_DIM), the sum after the tile
    float* dv;        // (slots, BC, HEAD_DIM)
    int* turn;        // (slots), which of its block's tiles it was, from 1; 0: never visited
    long long* t_ns;  // (slots), when it ended
    int* sm;          // (slots)
    int kv_head;      // that is recorded, among those of all sequences
};

// The tile in hand.
template <int BR, int BC>
struct TileSlots {
    const BackwardRecording& to;
    int turn = 0, rows = 0, keys = 0;  // of the tile that are recorded: none of another K/V head
    long long slot = 0;

    explicit __device__ __forceinline__ TileSlots(const BackwardRecording& given) : to(given) {}

    // The next tile of a block's keys from k0 on: query head `head` of the group, its queries from q0 on.
    __device__ __forceinline__ void tile(int kv_head, int head, int q0, int seqlen_q, int k0, int seqlen_k) {
        const int tiles_q = (seqlen_q + BR - 1) / BR, tiles_k = (seqlen_k + BC - 1) / BC;
        const bool shown = kv_head == to.kv_head;
        rows = shown ? min(BR, seqlen_q - q0) : 0;
        keys = shown ? min(BC, seqlen_k - k0) : 0;
        slot = ((long long)head * tiles_q + q0 / BR) * tiles_k + k0 / BC;
        ++turn;
    }
    __device__ __forceinline__ void put_weight(float* target, int query, int key, float x) const {
        if (query < rows && key < keys) target[(slot * BR + query) * BC + key] = x;
    }
    __device__ __forceinline__ void put_key(float* target, int key, int column, float x) const {
        if (key < keys && column < HEAD_DIM) target[(slot * BC + key) * HEAD_DIM + column] = x;
    }
    __device__ __forceinline__ void put_query(int query, int column, float x) const {
        if (query < rows && column < HEAD_DIM) to.dq[(slot * BR + query) * HEAD_DIM + column] = x;
    }
    __device__ __forceinline__ void put_delta(int query, float x) const {
        if (query < rows) to.delta[slot * BR + query] = x;
    }
    // By one thread.
    __device__ __forceinline__ void stamp() const {
        if (rows <= 0) return;
        long long now;
        int id;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        to.turn[slot] = turn;
        to.t_ns[slot] = now;
        to.sm[slot] = id;
    }
};
#define TRACE_GIVEN , const __grid_constant__ BackwardRecording recording
#define TRACE_TAKEN , Recorder& recorder
#define TRACE_PASSED , recorder
#define TRACED(...) __VA_ARGS__
#else
#define TRACE_GIVEN
#define TRACE_TAKEN
#define TRACE_PASSED
#define TRACED(...)
#endif

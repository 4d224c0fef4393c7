// flash3's producer. Its blocks draw tiles late: one that drew its next tile when it began one would hold it for that long,
// and take the longest tile left too early. Causal tiles ended up to 5 % later for it.
#pragma once
#include "flash3_early.cuh"

constexpr int AHEAD = 2;  // key tiles left to ask for when the next tile is drawn: the counter answers under them

// The producer, one warpgroup: a thread draws tiles and asks for Q, and for K and V where they lie as arrays; of pages as
// many threads as a tile has boxes. Its numbers come one by one: as members of a struct they change the registers.
__device__ __forceinline__ void produce(const Shared& at, const TensorMap& map_q, const TensorMap& map_k,
                                        const TensorMap& map_v, const Tables& tables, const Lengths& lengths,
                                        const PageTable& page_table, int heads, int group_heads, int section,
                                        int seqlen_q, int head_rows, int seqlen_k, int left, int right, int* counter,
                                        int splits, int sequence_heads, int tiles_q, int tiles) {
    if (MOVES_REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
    const bool first = LOADERS == 1 || threadIdx.x == 0;
    if (threadIdx.x < LOADERS) {
        Ring rk, rv;
        [[maybe_unused]] QRing rq;
        [[maybe_unused]] u32 tile_phase = 0;
        int tile = blockIdx.x;
        bool asked = EARLY;  // for Q and the first keys of the first tile
        int2 place = Work::place(tile, tiles, heads, section, tiles_q, tables);
        while (place.x >= 0) {
            const Work work(place, seqlen_q, head_rows, seqlen_k, left, right, splits, tables, lengths,
                            sequence_heads);
            CLOCKS_OF_TILE(work.head * tiles_q + work.q0 / BLOCK_Q)
            asked = asked && !work.empty();
            const int draw_at = min(work.last, work.begin + AHEAD);
            if (!SCHEDULE) tile = tiles;
            else if (work.empty()) tile = gridDim.x + draw_tile(counter);
            const int head = SPLIT ? work.head / splits : work.head, kv = key_head(head, group_heads);
            const Pages pages(page_table, kv, seqlen_k, RAGGED ? work.keys : seqlen_k);
            if (asked) {
                rq.next();
                rk.next();
            } else if (!ONE_TILE && first && !work.empty()) {
                wait(at.q_empty(rq.stage), rq.phase ^ 1);
                CLOCK(2)
                load_tile<PANELS>(at.q + rq.stage * Q_BYTES, Q_PANEL, map_q, at.q_full(rq.stage), work.q0, head);
                CLOCK(3)
                rq.next();
            }
            CLOCKS_WRITE_LOADS()
            for (int j = asked ? work.last : work.last + 1; j >= work.begin && !work.empty(); --j) {
                if (SCHEDULE && j == draw_at) tile = gridDim.x + draw_tile(counter);
                if (j > work.begin) {
                    int2 box;
                    if (PAGE_SIZE) box = pages.find((j - 1) * BLOCK_K);
                    wait(at.k_empty(rk.stage), rk.phase ^ 1);
                    CLOCK(0)
                    load_keys(at.k + rk.stage * K_BYTES, map_k, at.k_full(rk.stage),
                              SPARSE ? __ldg(work.list + (j - 1)) : (j - 1) * BLOCK_K, kv, box);
                    CLOCK(1)
                    rk.next();
                }
                if (j <= work.last) {
                    int2 box;
                    if (PAGE_SIZE) box = pages.find(j * BLOCK_K);
                    wait(at.v_empty(rv.stage), rv.phase ^ 1);
                    CLOCK(2)
                    load_keys<V_PANELS>(at.v + rv.stage * V_BYTES, map_v, at.v_full(rv.stage),
                              SPARSE ? __ldg(work.list + j) : j * BLOCK_K, kv, box);
                    CLOCK(3)
                    rv.next();
                }
                CLOCKS_WRITE_LOADS()
            }
            asked = false;
            place = Work::place(tile, tiles, heads, section, tiles_q, tables);
            if (SCHEDULE && first) {
                wait(at.tile_empty(), tile_phase ^ 1);
                put_place(at, place);
                arrive(at.tile_full());
                tile_phase ^= 1;
            }
        }
        if constexpr (SCHEDULE) {
            __threadfence();
            if (first && atomicInc((u32*)counter + 1, gridDim.x - 1) == gridDim.x - 1) atomicExch(counter, 0);
        }
    }
}

// Tiles of K and V from pages: where they are copied from is looked up in the page table. The keys that a thread copies
// between two look-ups lie in one page: tiles begin at multiples of their size, which divides PAGE_SIZE or the reverse.
#pragma once
#include "copy.cuh"
#include "ragged.cuh"

template <typename Tile, int ROWS>
struct Pages {
    static constexpr int STRETCH = Tile::PASS <= PAGE_SIZE ? PAGE_SIZE : Tile::PASS;
    static constexpr int LOOKUPS = (ROWS + STRETCH - 1) / STRETCH;
    static_assert(ROWS % PAGE_SIZE == 0 || PAGE_SIZE % ROWS == 0, "tiles of whole pages, or pages of whole tiles");

    const element *k, *v;  // all pages
    const int* table;
    int kv_heads;
    int entry;       // of the table: the sequence's first
    unsigned place;  // of this thread's chunk in a page, in elements
    int keys;        // of the sequence

    // `kv_head`: among those of all sequences.
    __device__ __forceinline__ Pages(const element* k, const element* v, const int* table, int kv_heads, int kv_head,
                                     int sequence, int seqlen_k, int keys)
        : Pages(k, v, table, kv_heads, kv_head % kv_heads, sequence * (seqlen_k / PAGE_SIZE), keys) {}

    // To thread_target() of a tile of K and of V: the keys from `first` on, zeros for those that the sequence has not.
    __device__ __forceinline__ void copy(unsigned to_k, unsigned to_v, int first) const {
        if (Tile::LANES * 16 > Tile::ROW_BYTES && Tile::thread_chunk() * 16 >= Tile::ROW_BYTES) return;
        first += Tile::source_row();
        long long sources[LOOKUPS];
#pragma unroll
        for (int n = 0; n < LOOKUPS; ++n) {
            const int key = first + n * STRETCH;
            const long long page = key < keys ? page_of(table + entry, key) : 0;
            sources[n] = page * kv_heads * (PAGE_SIZE * HEAD_DIM) + place + unsigned(first) % PAGE_SIZE * HEAD_DIM;
        }
        const int rows = Tile::thread_chunk() * 8 < HEAD_DIM ? keys - first : 0;
#pragma unroll
        for (int i = 0; i < ROWS; i += Tile::PASS) {
            if (Tile::PASS > ROWS && Tile::thread_row() >= ROWS) continue;
            const long long source = sources[i / STRETCH] + i % STRETCH * HEAD_DIM;
            copy_chunk(moved(to_k, i), k + source, i < rows);
            copy_chunk(moved(to_v, i), v + source, i < rows);
        }
    }
    // thread_target() of a tile, so many rows on.
    static __device__ __forceinline__ unsigned moved(unsigned target, int rows) {
        if (Tile::PASS % 8 == 0) return target + rows * Tile::ROW_BYTES;
        const int row = Tile::thread_row(), chunk = Tile::thread_chunk();
        return target - Tile::offset(row, chunk) + Tile::offset(row + rows, chunk);
    }

  private:
    __device__ __forceinline__ Pages(const element* k, const element* v, const int* table, int kv_heads, int kv_head,
                                     int entry, int keys)
        : k(k), v(v), table(table), kv_heads(kv_heads), entry(entry),
          place(unsigned(kv_head) * (PAGE_SIZE * HEAD_DIM) + Tile::thread_chunk() * 8), keys(keys) {}
};

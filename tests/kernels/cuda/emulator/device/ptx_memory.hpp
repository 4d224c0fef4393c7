// Loads and stores, sums in global memory, and copies that run beside the arithmetic.
#pragma once

namespace ptx {

template <typename T>
inline void load_shared(u32 address, const T& to) {
    using Held = typename T::Held;
    const u8* const from = machine::shared(address, T::count * sizeof(Held));
    for (int i = 0; i < T::count; ++i) __builtin_memcpy(&to[i], from + i * sizeof(Held), sizeof(Held));
    machine::step();
}
template <typename... T>
inline void store_shared(u32 address, const T&... values) {
    constexpr u32 bytes = (sizeof(T) + ...);
    u8* to = machine::shared(address, bytes);
    ((__builtin_memcpy(to, &values, sizeof values), to += sizeof values), ...);
    machine::stored(address, bytes);
    machine::step();
}
template <typename T, typename To>
inline void ld_shared(To& to, u32 address) {
    load_shared(address, list(to));
}
template <typename T, typename V, int n>
inline void ld_shared_v2(const List<V, n>& to, u32 address) {
    static_assert(n == 2, "two registers");
    load_shared(address, to);
}
template <typename T, typename V, int n>
inline void ld_shared_v4(const List<V, n>& to, u32 address) {
    static_assert(n == 4, "four registers");
    load_shared(address, to);
}
template <typename T, typename V>
inline void st_shared(u32 address, const V& x) {
    store_shared(address, x);
}
template <typename T, typename V>
inline void st_shared_v2(u32 address, const List<V, 2>& x) {
    store_shared(address, x[0], x[1]);
}
template <typename T, typename V>
inline void st_shared_v4(u32 address, const List<V, 4>& x) {
    store_shared(address, x[0], x[1], x[2], x[3]);
}

// float sums: each of the neighbours is added by itself.
template <typename V, int n>
inline void add_to(u64 address, const List<V, n>& x) {
    if (address % (n * sizeof(V))) machine::fail("red.global.add of %d sums at an odd address", n);
    V* const sums = reinterpret_cast<V*>(address);
    for (int i = 0; i < n; ++i) sums[i] += x[i];
    machine::step();
}
template <typename T, typename V>
inline void red_global_add(u64 address, const V& x) {
    V y = x;
    add_to(address, list(y));
}
template <typename T, typename V>
inline void red_global_add_v2(u64 address, const List<const V, 2>& x) {
    V y[2] = {x[0], x[1]};
    add_to(address, list(y[0], y[1]));
}
template <typename T, typename V>
inline void red_global_add_v4(u64 address, const List<const V, 4>& x) {
    V y[4] = {x[0], x[1], x[2], x[3]};
    add_to(address, list(y[0], y[1], y[2], y[3]));
}

// What other blocks write and wait for.
template <typename T, typename To>
inline void ld_acquire_gpu_global(To& to, u64 address) {
    machine::give_way();
    to = *reinterpret_cast<const To*>(address);
}
template <typename T, typename V>
inline void st_release_gpu_global(u64 address, const V& x) {
    *reinterpret_cast<V*>(address) = x;
    machine::step();
}
template <typename T, typename V>
inline void red_release_gpu_global_add(u64 address, const V& x) {
    *reinterpret_cast<V*>(address) += x;
    machine::step();
}

inline void cp_async_cg_shared_global(u32 to, u64 from, int bytes, int taken) {
    machine::copy_chunk(to, from, bytes, taken);
}
inline void cp_async_commit_group() { machine::commit_chunks(); }
inline void cp_async_wait_group(int pending) { machine::wait_chunks(pending); }

template <int n>
inline void copy_box(u32 to, u64 map, const List<const u32, n>& place, u32 bar) {
    int coordinates[n];
    for (int i = 0; i < n; ++i) coordinates[i] = int(place[i]);
    machine::copy_box(to, reinterpret_cast<const void*>(map), bar, coordinates, n);
}
// Policies of the L2, of all that is copied: they change no result.
constexpr u64 EVICT_FIRST = 1, EVICT_LAST = 2;
template <typename T>
inline void createpolicy_fractional_L2_evict_first(u64& made, double) {
    made = EVICT_FIRST;
}
template <typename T>
inline void createpolicy_fractional_L2_evict_last(u64& made, double) {
    made = EVICT_LAST;
}
#define COPY_BOX(rank)                                                                                         \
    inline void cp_async_bulk_tensor_##rank##d_shared_cluster_global_mbarrier_complete_tx_bytes(               \
        u32 to, u64 map, const List<const u32, rank>& place, u32 bar) {                                        \
        copy_box(to, map, place, bar);                                                                         \
    }                                                                                                          \
    inline void cp_async_bulk_tensor_##rank##d_shared_cluster_global_mbarrier_complete_tx_bytes_L2_cache_hint( \
        u32 to, u64 map, const List<const u32, rank>& place, u32 bar, u64 policy) {                            \
        if (policy != EVICT_FIRST && policy != EVICT_LAST) machine::fail("a cache policy of %#llx", policy);   \
        copy_box(to, map, place, bar);                                                                         \
    }
COPY_BOX(2)
COPY_BOX(3)
COPY_BOX(4)
COPY_BOX(5)
inline void cp_async_bulk_tensor_3d_shared_cluster_global_mbarrier_complete_tx_bytes_multicast_cluster(
    u32 to, u64 map, const List<const u32, 3>& place, u32 bar, u16 blocks) {
    const int coordinates[] = {int(place[0]), int(place[1]), int(place[2])};
    machine::copy_box_to_all(to, reinterpret_cast<const void*>(map), bar, coordinates, 3, blocks);
}
inline void cp_async_bulk_shared_cluster_shared_cta_mbarrier_complete_tx_bytes(u32 to, u32 from, u32 bytes, u32 bar) {
    machine::send_bytes(to, from, bytes, bar);
}
inline void cp_async_bulk_shared_cluster_global_mbarrier_complete_tx_bytes(u32 to, u64 from, u32 bytes, u32 bar) {
    machine::copy_bytes(to, from, bytes, bar);
}
inline void cp_async_bulk_global_shared_cta_bulk_group(u64 to, u32 from, u32 bytes) {
    machine::bulk_store(to, from, bytes, false);
}
template <typename T>
inline void cp_reduce_async_bulk_global_shared_cta_bulk_group_add(u64 to, u32 from, u32 bytes) {
    machine::bulk_store(to, from, bytes, true);
}
inline void cp_async_bulk_tensor_3d_global_shared_cta_bulk_group(u64 map, const List<const u32, 3>& place, u32 from) {
    const int coordinates[] = {int(place[0]), int(place[1]), int(place[2])};
    machine::store_box(reinterpret_cast<const void*>(map), coordinates, from, 3);
}
inline void cp_async_bulk_commit_group() { machine::commit_stores(); }
inline void cp_async_bulk_wait_group(int pending) { machine::wait_stores(pending); }
inline void cp_async_bulk_wait_group_read(int pending) { machine::wait_stores(pending); }

}  // namespace ptx

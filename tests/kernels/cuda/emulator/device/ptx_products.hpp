// wgmma: products of a warpgroup.
#pragma once

namespace ptx {

inline void wgmma_fence_sync_aligned() { machine::fence_products(); }
inline void wgmma_commit_group_sync_aligned() { machine::commit_products(); }
inline void wgmma_wait_group_sync_aligned(int pending) { machine::wait_products(pending); }

template <int n>
inline machine::Product product_of(const List<float, n>& sums, u64 b, machine::Element element, bool accumulate) {
    machine::Product own{};
    own.sums = sums.at[0];
    for (int i = 1; i < n; ++i)
        if (sums.at[i] != own.sums + i) machine::fail("wgmma: the sums of a thread must be neighbours in an array");
    own.n = 2 * n;
    own.b = b;
    own.element = element;
    own.accumulate = accumulate;
    own.sign_a = own.sign_b = 1;
    return own;
}
// A in shared memory; transposed operands are those of 16 bits alone.
template <typename S, typename D, typename A, typename B, int n>
inline void wgmma_mma_async_sync_aligned(const List<float, n>& sums, u64 a, u64 b, bool accumulate, int sign_a,
                                         int sign_b, int transposed_a = 0, int transposed_b = 0) {
    machine::Product own = product_of(sums, b, element_of<A>, accumulate);
    own.a = a;
    own.sign_a = sign_a, own.sign_b = sign_b;
    own.transposed_a = transposed_a, own.transposed_b = transposed_b;
    machine::start_product(own);
}
// A in registers.
template <typename S, typename D, typename A, typename B, int n, typename V>
inline void wgmma_mma_async_sync_aligned(const List<float, n>& sums, const List<V, 4>& a, u64 b, bool accumulate,
                                         int sign_a, int sign_b, int transposed_b = 0) {
    machine::Product own = product_of(sums, b, element_of<A>, accumulate);
    for (int i = 0; i < 4; ++i) own.held[i] = a[i];
    own.in_registers = true;
    own.sign_a = sign_a, own.sign_b = sign_b;
    own.transposed_b = transposed_b;
    machine::start_product(own);
}

}  // namespace ptx

// Matrices of a warp: ldmatrix, stmatrix and mma.sync.
#pragma once

namespace ptx {

template <bool transposed, typename V, int n>
inline void load_matrices(const List<V, n>& x, u32 address) {
    machine::Matrices own{{}, address, n, transposed};
    machine::load_matrices(own);
    for (int i = 0; i < n; ++i) x[i] = own.registers[i];
}
template <bool transposed, typename V, int n>
inline void store_matrices(u32 address, const List<V, n>& x) {
    machine::Matrices own{{}, address, n, transposed};
    for (int i = 0; i < n; ++i) own.registers[i] = x[i];
    machine::store_matrices(own);
}
template <typename T, typename V>
inline void ldmatrix_sync_aligned_m8n8_x4_shared(const List<V, 4>& x, u32 address) {
    load_matrices<false>(x, address);
}
template <typename T, typename V>
inline void ldmatrix_sync_aligned_m8n8_x4_trans_shared(const List<V, 4>& x, u32 address) {
    load_matrices<true>(x, address);
}
template <typename T, typename V>
inline void ldmatrix_sync_aligned_m8n8_x2_shared(const List<V, 2>& x, u32 address) {
    load_matrices<false>(x, address);
}
template <typename T, typename V>
inline void ldmatrix_sync_aligned_m8n8_x2_trans_shared(const List<V, 2>& x, u32 address) {
    load_matrices<true>(x, address);
}
template <typename T, typename V>
inline void stmatrix_sync_aligned_m8n8_x4_shared(u32 address, const List<V, 4>& x) {
    store_matrices<false>(address, x);
}
template <typename T, typename V>
inline void stmatrix_sync_aligned_m8n8_x4_trans_shared(u32 address, const List<V, 4>& x) {
    store_matrices<true>(address, x);
}

template <typename T>
constexpr machine::Element element_of = machine::Element::HALF;
template <>
constexpr machine::Element element_of<type::bf16> = machine::Element::BFLOAT;
template <>
constexpr machine::Element element_of<type::e4m3> = machine::Element::E4M3;

template <typename S, typename, typename T, typename, typename, typename A, typename B, typename C>
inline void mma_sync_aligned_row_col(const List<float, 4>& d, const A& a, const B& b, const C& c) {
    static_assert(B::count * 2 == A::count, "a product 16 x 8, as deep as 4 registers of A for each 16");
    machine::WarpProduct own{element_of<T>, 4 * A::count, {}, {}, {}};
    for (int i = 0; i < A::count; ++i) own.a[i] = a[i];
    for (int i = 0; i < B::count; ++i) own.b[i] = b[i];
    for (int i = 0; i < 4; ++i) own.c[i] = c[i];
    machine::multiply(own);
    for (int i = 0; i < 4; ++i) d[i] = own.c[i];
}

}  // namespace ptx

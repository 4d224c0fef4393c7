// The instructions of inline PTX, each a function of its name; ../ptx.py makes the calls.
#pragma once
#include "cuda.hpp"

namespace ptx {

template <int m, int n, int k>
struct Shape {};

// Types of PTX, and what holds them here.
// Types, where they tell instructions apart.
namespace type {
struct b8;
struct b16;
struct b32;
struct b64;
struct u32;
struct u64;
struct s32;
struct s64;
struct f32;
struct f16;
struct bf16;
struct f16x2;
struct bf16x2;
struct e4m3;
struct e4m3x2;
}  // namespace type
struct None {};
constexpr None none{};

// {%0, %1, ...}
template <typename T, int n>
struct List {
    using Held = T;
    T* at[n];
    static constexpr int count = n;
    T& operator[](int i) const { return *at[i]; }
};
template <typename T, typename... More>
inline List<T, 1 + sizeof...(More)> list(T& first, More&... more) {
    return {{&first, &more...}};
}

template <typename T>
inline u32 bits_of(const T& x) {
    static_assert(sizeof(T) == 4, "a register of 32 bits");
    return same_bits<u32>(x);
}

}  // namespace ptx

#include "ptx_arithmetic.hpp"
#include "ptx_barriers.hpp"
#include "ptx_matrices.hpp"
#include "ptx_memory.hpp"
#include "ptx_products.hpp"

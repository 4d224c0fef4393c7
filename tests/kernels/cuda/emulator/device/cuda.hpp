// CUDA C++ for g++: the words of the language and the functions of its headers that the kernels use.
#pragma once
#include "../machine/machine.hpp"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) alignas(n)

struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
    return {x, y, z, w};
}
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a < b ? b : a; }
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline int abs(int a) { return a < 0 ? -a : a; }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
inline float fabsf(float a) { return __builtin_fabsf(a); }
inline float expf(float a) { return __builtin_expf(a); }
inline float exp2f(float a) { return __builtin_exp2f(a); }
inline float logf(float a) { return __builtin_logf(a); }
inline float log2f(float a) { return __builtin_log2f(a); }
inline float sqrtf(float a) { return __builtin_sqrtf(a); }
inline float __logf(float a) { return __builtin_logf(a); }
inline float __fadd_rd(float a, float b) {  // the sum in double is exact, or far from the next float
    const double sum = double(a) + b;
    const float near = float(sum);
    return near > sum ? __builtin_nextafterf(near, -__builtin_inff()) : near;
}

template <typename To, typename From>
inline To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
inline float __int_as_float(int x) { return same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
inline int __float_as_int(float x) { return same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned(((unsigned long long)high << 32 | low) >> by % 32);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }

template <typename T>
inline T __ldg(const T* from) {
    return *from;
}
template <typename T>
inline void __stcs(T* to, T x) {
    *to = x;
}
inline unsigned __cvta_generic_to_shared(const void* pointer) { return machine::address_of(pointer); }

inline void __syncthreads() { machine::meet(0, 0, true); }
inline void __threadfence() { machine::step(); }
inline void __nanosleep(unsigned) { machine::give_way(); }

// What every lane gives, and what it gets of another one.
template <typename T>
struct Exchange {
    T given, taken;
    int from;
    static void all(void* const* lanes) {
        for (int i = 0; i < 32; ++i) {
            auto* const own = static_cast<Exchange*>(lanes[i]);
            if (!own) continue;
            auto* const other = static_cast<const Exchange*>(lanes[own->from & 31]);
            if (!other) machine::fail("lane %d takes from lane %d, which is not in the mask", i, own->from);
            own->taken = other->given;
        }
    }
};
template <typename T>
inline T exchange(const char* what, unsigned mask, T value, int from) {
    Exchange<T> own{value, value, from};
    machine::together(what, Exchange<T>::all, &own, mask);
    return own.taken;
}
template <typename T>
inline T __shfl_sync(unsigned mask, T value, int from) {
    return exchange("__shfl_sync", mask, value, from);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int other) {
    return exchange("__shfl_xor_sync", mask, value, int(threadIdx.x % 32) ^ other);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, int by) {
    const int lane = threadIdx.x % 32;
    return exchange("__shfl_up_sync", mask, value, lane < by ? lane : lane - by);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, int by) {
    const int lane = threadIdx.x % 32;
    return exchange("__shfl_down_sync", mask, value, lane + by > 31 ? lane : lane + by);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    struct Vote {
        int own;
        unsigned all;
    } vote{predicate, 0};
    const machine::Act count = [](void* const* lanes) {
        unsigned all = 0;
        for (int i = 0; i < 32; ++i)
            if (lanes[i] && static_cast<Vote*>(lanes[i])->own) all |= 1u << i;
        for (int i = 0; i < 32; ++i)
            if (lanes[i]) static_cast<Vote*>(lanes[i])->all = all;
    };
    machine::together("a vote", count, &vote, mask);
    return vote.all;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
inline void __syncwarp(unsigned mask = ~0u) { __ballot_sync(mask, 0); }

// Blocks take turns only where a thread waits, so that these need no care.
template <typename T, typename U>
inline T atomicAdd(T* at, U by) {
    machine::step();
    const T before = *at;
    *at = before + T(by);
    return before;
}
template <typename T, typename U>
inline T atomicExch(T* at, U to) {
    machine::step();
    const T before = *at;
    *at = T(to);
    return before;
}
template <typename T, typename U, typename V>
inline T atomicCAS(T* at, U expected, V to) {
    machine::step();
    const T before = *at;
    if (before == T(expected)) *at = T(to);
    return before;
}
inline unsigned atomicInc(unsigned* at, unsigned last) {
    machine::step();
    const unsigned before = *at;
    *at = before >= last ? 0 : before + 1;
    return before;
}

// Calls a kernel with arguments that lie anywhere.
template <typename T>
struct Plain { using type = T; };
template <typename T>
struct Plain<const T> { using type = T; };
template <int... i>
struct Places {};
template <int n, int... i>
struct Counted : Counted<n - 1, n - 1, i...> {};
template <int... i>
struct Counted<0, i...> { using type = Places<i...>; };
template <typename... A, int... i>
inline void call_at(void (*kernel)(A...), void* const* arguments, Places<i...>) {
    kernel(*static_cast<const typename Plain<A>::type*>(arguments[i])...);
}
template <typename... A>
inline void call_kernel(void (*kernel)(A...), void* const* arguments) {
    call_at(kernel, arguments, typename Counted<sizeof...(A)>::type());
}

// Conversions, approximate functions, and what only moves bits.
#pragma once

namespace ptx {

inline float flushed(float x) { return __builtin_fabsf(x) < 1.17549435e-38f ? 0.0f * x : x; }

template <typename T>
inline void ex2_approx_ftz(float& y, float x) {
    y = flushed(__builtin_exp2f(flushed(x)));
}
template <typename T>
inline void lg2_approx_ftz(float& y, float x) {
    y = __builtin_log2f(flushed(x));
}
template <typename T>
inline void rcp_approx_ftz(float& y, float x) {
    y = flushed(1.0f / flushed(x));
}

template <typename To>
struct Rounded;
template <>
struct Rounded<type::f16> { static u16 of(float x) { return machine::float_to_half(x); } };
template <>
struct Rounded<type::bf16> { static u16 of(float x) { return machine::float_to_bfloat(x); } };
template <>
struct Rounded<type::f16x2> : Rounded<type::f16> {};
template <>
struct Rounded<type::bf16x2> : Rounded<type::bf16> {};

template <typename To, typename From>
inline void cvt_rn(u16& y, float x) {
    y = Rounded<To>::of(x);
}
template <typename To, typename From>
inline void cvt_rn(u32& y, float high, float low) {
    y = (u32)Rounded<To>::of(high) << 16 | Rounded<To>::of(low);
}
template <typename To, typename From>
inline void cvt_rn_satfinite(u16& y, float high, float low) {
    y = ::u16(machine::float_to_e4m3(high) << 8 | machine::float_to_e4m3(low));
}
template <typename To, typename From>
inline void cvt(float& y, u16 x) {
    y = machine::half_to_float(x);
}

template <typename T, typename To, typename From>
inline void mov(To& to, const From& from) {
    to = same_bits<To>(from);
}
template <typename T, typename To>
inline void mov(To& to, const List<u16, 2>& from) {
    to = same_bits<To>((u32)from[1] << 16 | from[0]);
}
template <typename T, typename From>
inline void mov(const List<u16, 2>& to, const From& from) {
    to[0] = ::u16(bits_of(from)), to[1] = ::u16(bits_of(from) >> 16);
}
template <typename T>
inline void setp_ne(bool& p, int a, int b) {
    p = a != b;
}
template <typename T>
inline void selp(u32& to, u32 yes, u32 no, bool p) {
    to = p ? yes : no;
}
[[noreturn]] inline void trap() { machine::fail("trap"); }

template <typename T>
inline void setmaxnreg_dec_sync_aligned(int) {}
template <typename T>
inline void setmaxnreg_inc_sync_aligned(int) {}
inline void nanosleep(u32) { machine::give_way(); }

}  // namespace ptx

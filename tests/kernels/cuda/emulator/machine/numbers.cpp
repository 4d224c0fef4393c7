// Elements of 8 and 16 bits.
#include <cmath>
#include <cstring>

#include "machine.hpp"

namespace machine {

namespace {
template <typename To, typename From>
To same_bits(From from) {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
}  // namespace

float half_to_float(u16 x) {
    float size = same_bits<float>(u32(x & 0x7fff) << 13) * 0x1p112f;
    if (size >= 65536.0f) size = same_bits<float>(same_bits<u32>(size) | 0x7f800000);
    return x & 0x8000 ? -size : size;
}

// To the nearest, ties to the even one.
u16 float_to_half(float x) {
    const u16 sign = same_bits<u32>(x) >> 16 & 0x8000;
    const float size = std::fabs(x);
    if (std::isnan(x)) return 0x7fff;
    if (size >= 65520.0f) return sign | 0x7c00;
    if (size < 0x1p-14f) return sign | u16(std::nearbyint(size * 0x1p24f));
    const u32 bits = same_bits<u32>(size), rounded = bits + 0xfff + (bits >> 13 & 1);
    return sign | u16((rounded >> 13) - (112 << 10));
}

float bfloat_to_float(u16 x) { return same_bits<float>(u32(x) << 16); }

u16 float_to_bfloat(float x) {
    if (std::isnan(x)) return 0x7fff;
    const u32 bits = same_bits<u32>(x);
    return u16((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float e4m3_to_float(u8 x) {
    const float size = (x & 127) == 127 ? NAN : same_bits<float>(u32(x & 127) << 20) * 0x1p120f;
    return x & 128 ? -size : size;
}

// What is too large becomes the largest.
u8 float_to_e4m3(float x) {
    const u8 sign = same_bits<u32>(x) >> 24 & 128;
    const float size = std::fabs(x);
    if (std::isnan(x)) return 127;
    if (size >= 448.0f) return sign | 126;
    if (size < 0x1p-6f) return sign | u8(std::nearbyint(size * 512.0f));
    const u32 bits = same_bits<u32>(size), rounded = bits + 0x7ffff + (bits >> 20 & 1);
    return sign | u8((rounded >> 20) - (120 << 3));
}

}  // namespace machine

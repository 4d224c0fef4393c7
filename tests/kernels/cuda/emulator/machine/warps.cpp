// Matrices of a warp: ldmatrix, stmatrix and mma.sync.
//
// Lane t has of a matrix of 8 rows the columns 2 (t % 4) and the next of row t / 4; transposed the same rows of column
// t / 4. Of 16 rows it has t / 4 and t / 4 + 8; of what is deeper than 8, those 8 further.
#include "block.hpp"

namespace machine {

namespace {
u16* row_of(void* const* lanes, int matrix, int row) {
    return reinterpret_cast<u16*>(shared(static_cast<const Matrices*>(lanes[matrix * 8 + row])->address, 16));
}

// Calls for each element of a lane's register: lane, register, half, and where the element is.
template <typename Each>
void for_elements(void* const* lanes, Each each) {
    const Matrices& first = *static_cast<const Matrices*>(lanes[0]);
    for (int i = 0; i < first.count; ++i) {
        for (int row = 0; row < 8; ++row) {
            u16* const line = row_of(lanes, i, row);
            for (int column = 0; column < 8; ++column) {
                const int lane = first.transposed ? column * 4 + row / 2 : row * 4 + column / 2;
                const int half = (first.transposed ? row : column) % 2;
                each(static_cast<Matrices*>(lanes[lane])->registers[i], 16 * half, line[column]);
            }
        }
    }
}
void load_all(void* const* lanes) {
    count_moved(u64(static_cast<const Matrices*>(lanes[0])->count) * 8 * 16);
    for_elements(lanes, [](u32& to, int shift, u16 x) { to = (to & ~(0xffffu << shift)) | u32(x) << shift; });
}
void store_all(void* const* lanes) {
    for_elements(lanes, [](u32 from, int shift, u16& x) { x = u16(from >> shift); });
}

void unpack(Element element, float* to, u32 pair) {
    for (int i = 0; i < 2; ++i) {
        const u16 x = u16(pair >> 16 * i);
        to[i] = element == Element::HALF ? half_to_float(x) : bfloat_to_float(x);
    }
}
void multiply_all(void* const* lanes) {
    float a[16][16], b[8][16];
    const int depth = static_cast<const WarpProduct*>(lanes[0])->depth;
    for (int lane = 0; lane < 32; ++lane) {
        const WarpProduct& own = *static_cast<const WarpProduct*>(lanes[lane]);
        const int line = lane / 4, at = lane % 4 * 2;
        for (int i = 0; i < depth / 4; ++i) unpack(own.element, &a[line + i % 2 * 8][at + i / 2 * 8], own.a[i]);
        for (int i = 0; i < depth / 8; ++i) unpack(own.element, &b[line][at + i * 8], own.b[i]);
    }
    for (int lane = 0; lane < 32; ++lane) {
        WarpProduct& own = *static_cast<WarpProduct*>(lanes[lane]);
        for (int i = 0; i < 4; ++i) {
            const float *const left = a[lane / 4 + i / 2 * 8], *const right = b[lane % 4 * 2 + i % 2];
            for (int k = 0; k < depth; ++k) own.c[i] += left[k] * right[k];
        }
    }
}
}  // namespace

void load_matrices(Matrices& own) { together("ldmatrix", load_all, &own); }
void store_matrices(Matrices& own) {
    together("stmatrix", store_all, &own);
    if (running->thread % 32 < 8 * own.count) stored(own.address, 16);
    step();
}
void multiply(WarpProduct& own) { together("mma", multiply_all, &own); }

}  // namespace machine

// wgmma. Products are under way until they are waited for; until then the registers of their sums hold no number, and
// what is found there otherwise was written too early. Shared memory is read at any
// time between, once all four warps of the warpgroup have come to the product.
#include <cstring>

#include "block.hpp"

namespace machine {

namespace {
constexpr u32 UNDER_WAY = 0x7fbadbad;  // not a number

float value_of(Element element, const u8* at) {
    u16 x = *at;
    if (element == Element::E4M3) return e4m3_to_float(*at);
    std::memcpy(&x, at, sizeof x);
    return element == Element::HALF ? half_to_float(x) : bfloat_to_float(x);
}

// An operand in shared memory (PTX ISA, matrix descriptor).
struct Operand {
    const Block& block;
    u32 start, leading, stride, swizzle;
    Operand(const Block& block, u64 bits)
        : block(block), start(u32(bits & 0x3fff) << 4), leading(u32(bits >> 16 & 0x3fff) << 4),
          stride(u32(bits >> 32 & 0x3fff) << 4), swizzle(u32(bits >> 62)) {
        if (bits >> 49 & 7) fail("a matrix descriptor with an offset of its base");
        if (swizzle > 1) fail("a matrix descriptor with another swizzle than of 128 bytes, or none");
    }
    // 16 bytes of which `line` says where among the rows (columns) of the operand, `chunk` where along them.
    const u8* at(u32 offset) const {
        u32 address = start + offset;
        if (swizzle) address ^= (address >> 7 & 7) << 4;
        return seen_in(block, address & ~15u, 16) + address % 16;
    }
    // `lines` x `depth` elements, the depth inside.
    void read(float* to, Element element, bool transposed, int lines, int depth) const {
        const u32 size = element == Element::E4M3 ? 1 : 2, per_chunk = 16 / size;
        if (transposed && !swizzle) fail("a transposed operand is emulated in the swizzle of 128 bytes alone");
        const u32 outer = u32(transposed ? depth : lines), inner = u32(transposed ? lines : depth);
        for (u32 line = 0; line < outer; ++line) {
            for (u32 first = 0; first < inner; first += per_chunk) {
                const u8* const chunk = at(offset(line, first * size, transposed));
                for (u32 i = 0; i < per_chunk && first + i < inner; ++i) {
                    const u32 place = transposed ? (first + i) * u32(depth) + line : line * u32(depth) + first + i;
                    to[place] = value_of(element, chunk + i * size);
                }
            }
        }
    }
    u32 offset(u32 line, u32 byte, bool transposed) const {
        if (!swizzle) return line / 8 * stride + line % 8 * 16 + byte / 16 * leading;
        const u32 rows = line / 8 * stride + line % 8 * 128;
        return transposed ? rows + byte / 128 * leading + byte % 128 : rows + byte;
    }
};

int depth_of(const Product& product) { return product.element == Element::E4M3 ? 32 : 16; }

// Row, of the warp's 16, and column of a lane's i-th sum.
int row_of(int lane, int i) { return lane / 4 + i / 2 % 2 * 8; }
int column_of(int lane, int i) { return i / 4 * 8 + lane % 4 * 2 + i % 2; }

// A lane's registers become sums under way.
void take(Fiber& lane, float* registers, const std::shared_ptr<Sums>& sums) {
    lane.sums[registers] = sums;
    for (int i = 0; i < sums->n / 2; ++i) {
        const int place = row_of(lane.thread % 32, i) * sums->n + column_of(lane.thread % 32, i);
        sums->value[size_t(place)] = registers[i];
        std::memcpy(registers + i, &UNDER_WAY, sizeof UNDER_WAY);
    }
}
void give_back(const Fiber& lane, float* registers, const Sums& sums) {
    for (int i = 0; i < sums.n / 2; ++i) {
        if (std::memcmp(registers + i, &UNDER_WAY, sizeof UNDER_WAY))
            fail("wgmma: sum %d was written while its product was under way", i);
        registers[i] = sums.value[size_t(row_of(lane.thread % 32, i) * sums.n + column_of(lane.thread % 32, i))];
    }
}

void from_registers(float* a, void* const* lanes, Element element) {
    const int each = element == Element::E4M3 ? 4 : 2, depth = 8 * each;
    for (int lane = 0; lane < 32; ++lane) {
        u8 bytes[16];
        std::memcpy(bytes, static_cast<const Product*>(lanes[lane])->held, sizeof bytes);
        for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + i % 2 * 8, column = lane % 4 * each + i / 2 * 4 * each;
            for (int j = 0; j < each; ++j)
                a[row * depth + column + j] = value_of(element, bytes + 4 * i + j * 4 / each);
        }
    }
}

void compute(const Block& block, const Pending& one) {
    const Product& product = one.product;
    const int depth = depth_of(product), n = product.n;
    std::vector<float> a(size_t(64 * depth)), b(size_t(n * depth)), columns(size_t(n * depth));
    if (!product.in_registers)
        Operand(block, product.a).read(a.data(), product.element, product.transposed_a, 64, depth);
    Operand(block, product.b).read(b.data(), product.element, product.transposed_b, n, depth);
    count_moved(u64(depth) * u64(n + (product.in_registers ? 0 : 64)) * (product.element == Element::E4M3 ? 1 : 2));
    for (int k = 0; k < depth; ++k)
        for (int j = 0; j < n; ++j) columns[size_t(k * n + j)] = b[size_t(j * depth + k)];
    const float sign = float(product.sign_a * product.sign_b);
    for (int row = 0; row < 64; ++row) {
        const Part& part = one.parts[row / 16];
        const float* const factors = product.in_registers ? &part.a[size_t(row % 16 * depth)] : &a[size_t(row * depth)];
        float* const sums = part.sums->value.data() + row % 16 * n;
        if (!product.accumulate) std::memset(sums, 0, size_t(n) * sizeof(float));
        for (int k = 0; k < depth; ++k) {
            const float left = sign * factors[k];
            const float* const right = columns.data() + k * n;
            for (int j = 0; j < n; ++j) sums[j] += left * right[j];
        }
    }
}

bool same(const Product& x, const Product& y) {
    return x.n == y.n && x.a == y.a && x.b == y.b && x.in_registers == y.in_registers && x.accumulate == y.accumulate &&
           x.transposed_a == y.transposed_a && x.transposed_b == y.transposed_b && x.sign_a == y.sign_a;
}

// What the running warp names is the next product of its warpgroup.
Part& next_part(const Product& product, u32 group) {
    Block& block = *running->block;
    Warp& warp = *running->warp;
    const size_t place = size_t(&warp - block.warps.data());
    Warpgroup& all = block.warpgroups[place / 4];
    const u64 at = warp.products++ - all.ended;
    if (at == all.products.size()) {
        const bool first = all.products.empty() || all.products.back().group != group;
        all.products.push_back(Pending{product, group, first && chance(SLOW), 0, {}});
    }
    Pending& one = all.products[at];
    if (!same(one.product, product) || one.group != group)
        fail("wgmma: the warps of a warpgroup name different operands, or groups");
    ++one.warps;
    return one.parts[place % 4];
}

void start_all(void* const* lanes) {
    const Product& first = *static_cast<const Product*>(lanes[0]);
    Fiber* const fibers = first.fiber;
    const auto known = fibers->sums.find(first.sums);
    auto sums = known == fibers->sums.end() ? nullptr : known->second;
    const bool fresh = !sums;
    if (fresh) {
        sums = std::make_shared<Sums>();
        sums->n = first.n;
        sums->value.resize(16 * size_t(first.n));
    }
    if (sums->n != first.n) fail("wgmma: sums under way of %d columns are used as %d", sums->n, first.n);
    for (int lane = 0; lane < 32; ++lane) {
        const Product& own = *static_cast<const Product*>(lanes[lane]);
        if (!same(first, own)) fail("wgmma: lane %d names other operands than lane 0", lane);
        if (own.fiber->product_group != fibers->product_group) fail("wgmma: lane %d is in another group", lane);
        if (fresh) take(*own.fiber, own.sums, sums);
        else if (own.fiber->sums[own.sums] != sums) fail("wgmma: lane %d names other sums", lane);
    }
    sums->last_group = fibers->product_group;
    Part& part = next_part(first, fibers->product_group);
    part.sums = sums;
    if (first.in_registers) {
        part.a.resize(size_t(16 * depth_of(first)));
        from_registers(part.a.data(), lanes, first.element);
    }
}
}  // namespace

// The oldest; they end in their order.
bool end_product(const Block& block, Warpgroup& group, bool slow) {
    if (group.products.empty() || group.products.front().warps < 4 || group.products.front().slow != slow) return false;
    compute(block, group.products.front());
    group.products.pop_front();
    ++group.ended;
    wake(group.waiting);
    return true;
}

void start_product(Product& own) {
    if (!running->fenced && !running->sums.count(own.sums))
        fail("wgmma without a wgmma.fence since the last wait");
    own.fiber = running;
    together("wgmma", start_all, &own);
    step();
}
void fence_products() { running->fenced = true; }
void commit_products() { ++running->product_group; }
void wait_products(u32 pending) {
    Fiber& own = *running;
    step();
    const int last = int(own.product_group) - int(pending);  // groups before it have to end
    Warpgroup& group = own.block->warpgroups[size_t(own.thread / 128)];
    while (!group.products.empty() && int(group.products.front().group) < last) wait_in(group.waiting, "wgmma");
    for (auto at = own.sums.begin(); at != own.sums.end();) {
        if (int(at->second->last_group) >= last) {
            ++at;
            continue;
        }
        give_back(own, at->first, *at->second);
        at = own.sums.erase(at);
    }
    own.fenced = false;
}

void check_products(const Block& block) {
    for (const Warpgroup& group : block.warpgroups)
        if (!group.products.empty()) fail("block %u ends with products under way", block.index);
}

}  // namespace machine

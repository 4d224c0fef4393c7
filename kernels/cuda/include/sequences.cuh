// What a kernel is told of its sequences beyond the arrays' shape (ragged.cuh), as a struct by value. What a build has no
// use for is a constant of the type: it takes no bytes.
#pragma once
#include "ragged.cuh"

// Query rows and keys of each sequence.
template <bool NEEDED>
struct LengthsIf {
    static constexpr const int *query_lengths = nullptr, *key_lengths = nullptr;
};
template <>
struct LengthsIf<true> {
    const int *query_lengths, *key_lengths;
};

template <bool NEEDED>
struct PageTableIf {
    static constexpr const int* page_table = nullptr;
};
template <>
struct PageTableIf<true> {
    const int* page_table;
};

struct Sequences : LengthsIf<RAGGED>, PageTableIf<(PAGE_SIZE > 0)> {};

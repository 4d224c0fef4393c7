// Batches whose sequences differ in length (RAGGED), and K and V in pages of PAGE_SIZE keys (0: as arrays).
//
// A sequence's rows and keys lie at the front of its part of the arrays. What lies behind is padding, which may hold
// NaN: no key of it is met, and its rows get O = 0 and LSE = -inf. Causal and window align a sequence's own last query
// with its own last key.
#pragma once

#ifndef RAGGED
#define RAGGED 0
#endif
#ifndef PAGE_SIZE
#define PAGE_SIZE 0
#endif

#if PAGE_SIZE
// The page of a key, from the sequence's row of the page table. Not for a key that the sequence has not: there the
// table may hold any number.
__device__ __forceinline__ int page_of(const int* table, int key) { return __ldg(table + unsigned(key) / PAGE_SIZE); }
#endif

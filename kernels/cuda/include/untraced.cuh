// In place of trace.cuh in the kernels that are timed: a recorder that records nothing, and leaves no code.
#pragma once
#include "simt_softmax.cuh"

struct Recording {};

struct Recorder {
    explicit __device__ __forceinline__ Recorder(const Recording&) {}
    __device__ __forceinline__ int turned(int step, int) const { return step; }
    __device__ __forceinline__ void scores(int, int, const float (&)[ROWS][COLUMNS], float) const {}
    __device__ __forceinline__ void row(int, float, float, float) const {}
    __device__ __forceinline__ void row_in_parts(int, float, float, float) const {}
    __device__ __forceinline__ void output(int, const float (&)[OUTPUTS]) const {}
    __device__ __forceinline__ void outputs(const float (&)[ROWS][OUTPUTS]) const {}
    __device__ __forceinline__ void stamp() const {}
};

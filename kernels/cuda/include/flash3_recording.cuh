// What builds of flash3 that look inside record of each tile (i, j): its state (-DTRACE=1), or that it is done (-DLIVE=1).
// In the kernel that is timed every mark below is nothing.
#pragma once
#if TRACE
#include "trace_warpgroups.cuh"
#elif LIVE
#include "live_warpgroups.cuh"
#endif
#if TRACE || LIVE
#define RECORDING_GIVEN , const __grid_constant__ Recording recording
#define RECORD(...) __VA_ARGS__;
#else
#define RECORDING_GIVEN
#define RECORD(...)
#endif

// What flash2's backward pass records of a tile: see backward_trace.cuh.
#pragma once
#include "backward_trace.cuh"
#include "flash2_backward_layout.cuh"

TRACED(using Recorder = TileRecorder<QUERIES, KEYS>;)

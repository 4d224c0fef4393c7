// Programmatic dependent launch (PTX ISA, griddepcontrol; Hopper and newer): a launch may begin while the one before it
// ends, so that the way to the first blocks and what they prepare takes no time of its own.
//
// A launch that may (`Stage.follows` in program.py) waits itself, in every thread that reads what an earlier launch wrote
// or writes for others to read: then that is all there, and the earlier launch has ended. As it waited likewise, so has
// the one before it. A program's first launch may not: it begins when all before it has ended.
#pragma once

// Until the launch before has ended and what it wrote can be seen; no time at all if it has.
__device__ __forceinline__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The next launch may begin once all blocks of this one came here or ended: none of it takes the place of one of these.
__device__ __forceinline__ void let_next_launch_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

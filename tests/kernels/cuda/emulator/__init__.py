"""Runs the CUDA sources of the kernels on a CPU, to show without a GPU what they compute.

`ptx.py` turns inline PTX into calls of C++ functions, one an instruction (device/); g++ compiles the rest
of a source as it is. Every thread is a fiber of a machine (machine/) that switches between them where one
waits, and now and then at a store, in an order drawn from a seed: any warp, or one ahead of all others as
far as it can get, and some held back until nothing else can go on.

What is modelled: blocks side by side; shared memory, by its size; warps that come together for shuffles,
votes, ldmatrix, stmatrix and mma.sync; wgmma from swizzled shared memory through its descriptors, and from
registers; TMA boxes and bulk copies, cp.async; mbarriers with phases and bytes, numbered barriers;
atomics; clusters of two blocks, which reach into each other. What is asynchronous ends at any time before
it is waited for, some of it last of all. Until then the registers of a product's sums and what a copy
writes are NaN, as all memory is that nobody wrote, and sums that are written meanwhile end the run. Stores
to shared memory are seen by wgmma and TMA only after a fence. Arrays lie between pages that nobody may
touch. So a missing wait, barrier, fence or bound shows as a wrong result or as an error that names the
thread, and threads that wait for each other end in a list of what they wait for.

What is not modelled: time; lanes of a warp that lose each other without a reason in the source; the order
in which other threads see stores to global memory, and races between instructions that do not wait;
registers, their number and (for wgmma's first operand) when they may change again; bank conflicts; how
approximate functions round.
"""

// NVIDIA's own occupancy calculator, called for a device by its numbers.
#include <climits>
#include <cstddef>
#include <cuda_occupancy.h>

extern "C" int blocks_of_sm(int major, int minor, int warps, size_t shared, size_t most_of_block, size_t reserved,
                            int threads, int registers, size_t asked, int* limits) {
    cudaOccDeviceProp device;
    device.computeMajor = major, device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024, device.maxThreadsPerMultiprocessor = warps * 32;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32, device.numSms = 1, device.sharedMemPerBlock = 48 << 10;
    device.sharedMemPerMultiprocessor = shared, device.sharedMemPerBlockOptin = most_of_block;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = 1024, kernel.numRegs = registers, kernel.sharedSizeBytes = 0;
    kernel.maxDynamicSharedSizeBytes = asked, kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    cudaOccDeviceState state;
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, asked)) return -1;
    limits[0] = result.blockLimitRegs, limits[1] = result.blockLimitSharedMem;
    limits[2] = result.blockLimitWarps, limits[3] = result.blockLimitBlocks;
    return result.activeBlocksPerMultiprocessor;
}

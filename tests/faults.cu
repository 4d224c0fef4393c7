// Two kernels that misbehave on purpose.

// Writes far outside any allocation: the context is poisoned from then on.
extern "C" __global__ void illegal_address(float* output) {
  output[1ull << 44] = 1.0f;
}

// Never ends; the flag is volatile so that the loop is not optimised away.
extern "C" __global__ void endless(volatile float* output) {
  while (output[0] != 12345.0f) {
  }
}

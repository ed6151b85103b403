//===- main.cpp - tests of the CUDA device table: the emulated GPU put in place ===//
#include "test/runtime/device/cuda/Gpu.h"

#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  if (dlc::cuda::test::emulated()) {
    setenv("DLC_CUDA_DRIVER", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_NVRTC", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_CUBLASLT", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_CUDNN", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_EMULATED_MEMORY", "1G", 0);
  }
  if (argc == 2 && std::strcmp(argv[1], "--probe") == 0)
    return dlc::cuda::test::runProbe();
  if (argc == 2 && std::strcmp(argv[1], "--plans") == 0)
    return dlc::cuda::test::runPlans();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

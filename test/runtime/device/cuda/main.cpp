//===- main.cpp - main function of the CUDA tests, which selects the emulated GPU ===//
#include "test/runtime/device/cuda/Gpu.h"

#include <cstdlib>

int main(int argc, char **argv) {
  if (dlc::cuda::test::emulated()) {
    setenv("DLC_CUDA_DRIVER", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_NVRTC", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_CUBLASLT", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_CUDNN", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_CUDA_NCCL", DLC_EMULATED_GPU_FILE, 0);
    setenv("DLC_EMULATED_MEMORY", "1G", 0);
  }
  auto &modes = dlc::cuda::test::modes();
  if (auto mode = modes.find(argc == 2 ? argv[1] : ""); mode != modes.end())
    return mode->second();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

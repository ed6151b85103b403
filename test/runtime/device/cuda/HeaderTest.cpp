//===- HeaderTest.cpp - compares dlc's CUDA driver declarations with NVIDIA's header ===//
//
// Built if a CUDA toolkit is installed.
//
//===--------------------------------------------------------------------------===//
#include "runtime/device/cuda/Driver.h"
#include "test/runtime/device/cuda/Match.h"

#include <cuda.h>
#include <gtest/gtest.h>

using namespace dlc::cuda;

using dlc::test::match;

namespace {

TEST(Header, FunctionsTakeWhatWePass) {
#define DLC_CHECK(member, symbol, parameters)                                                      \
  EXPECT_TRUE(match(decltype(Driver::member){}, decltype(&(symbol)){})) << #symbol;
  DLC_CUDA_DRIVER_FUNCTIONS(DLC_CHECK)
#undef DLC_CHECK
}

TEST(Header, NumbersMeanWhatWeTakeThemFor) {
  EXPECT_EQ(int{OutOfMemory}, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(int{StubLibrary}, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(int{NoDevice}, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(int{InvalidImage}, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(int{NoBinary}, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(int{UnsupportedPtx}, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(int{NotFound}, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(int{IllegalAddress}, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(int{LaunchTimeout}, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(int{HardwareStack}, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(int{IllegalInstruction}, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EQ(int{MisalignedAddress}, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(int{LaunchFailed}, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(int{DriverMismatch}, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_EQ(int{Multiprocessors}, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(int{CapabilityMajor}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(int{CapabilityMinor}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(int{MaxSharedOptIn}, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(int{FunctionShared}, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(int{FunctionDynamicShared}, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(int{StreamNonBlocking}, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(int{EventDefault}, CU_EVENT_DEFAULT);
  EXPECT_EQ(int{HostPortable}, CU_MEMHOSTALLOC_PORTABLE);
  EXPECT_EQ(int{CaptureThreadLocal}, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(int{JitErrorLog}, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(int{JitErrorLogBytes}, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
}

} // namespace

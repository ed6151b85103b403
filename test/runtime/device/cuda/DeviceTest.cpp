//===- DeviceTest.cpp - devices, memory, copies, modules and launches ---------===//
#include "test/runtime/device/cuda/Gpu.h"

#include <cstring>

using namespace dlc::cuda::test;

namespace {

constexpr const char *kernels = R"(
extern "C" __global__ void __launch_bounds__(128) twice(float *y, const float *x) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < 1000) y[i] = 2 * x[i];
}
extern "C" __global__ void turned(float *y, const float *x) {
  extern __shared__ __align__(16) float s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void corner(float *y) { y[0] = gridDim.z * 100 + blockDim.y; }
)";

TEST_F(Gpu, SaysWhatItIs) {
  char error[256] = "";
  EXPECT_GE(table().count(error, sizeof(error)), 1) << error;
  EXPECT_STREQ(table().kind, "cuda");
  EXPECT_EQ(table().version, DLC_DEVICE_TABLE_VERSION);
  dlc_device_properties p;
  ok(table().properties, device, &p);
  EXPECT_GE(p.major, 7);
  EXPECT_GT(p.multiprocessors, 0);
  EXPECT_GT(std::strlen(p.name), 0u);
  EXPECT_EQ(table().capabilities & (DLC_DEVICE_PINNED | DLC_DEVICE_HOST_MEMORY), DLC_DEVICE_PINNED);
  uint64_t before = p.free_bytes;
  EXPECT_LE(before, p.total_bytes);
  allocate(64 << 20);
  ok(table().properties, device, &p);
  EXPECT_LE(p.free_bytes + (64 << 20), before);
}

TEST_F(Gpu, CopiesThereAndBack) {
  void *s = stream(), *a = allocate(4000), *b = allocate(4000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 256, 0u);
  std::vector<float> values = iota(1000);
  upload(s, a, values);
  ok(table().copy, device, s, b, static_cast<const void *>(a), uint64_t{4000}, int{DLC_COPY_WITHIN},
     static_cast<void *>(nullptr));
  EXPECT_EQ(download(s, b, 1000), values);
  ok(table().fill, device, s, b, uint8_t{0}, uint64_t{2000});
  std::vector<float> half = download(s, b, 1000);
  EXPECT_EQ(half[499], 0);
  EXPECT_EQ(half[500], 500);
}

TEST_F(Gpu, CopiesOfNothingAreFine) {
  void *none = this;
  ok(table().allocate, device, uint64_t{0}, &none);
  EXPECT_EQ(none, nullptr);
  ok(table().fill, device, stream(), none, uint8_t{1}, uint64_t{0});
  table().release(device, none);
}

TEST_F(Gpu, PinsHostMemory) {
  void *s = stream(), *a = allocate(4000), *pinned = nullptr;
  ok(table().allocate_pinned, device, uint64_t{4000}, &pinned);
  auto *floats = static_cast<float *>(pinned);
  for (int i = 0; i < 1000; ++i)
    floats[i] = static_cast<float>(i);
  ok(table().copy, device, s, a, static_cast<const void *>(pinned), uint64_t{4000},
     int{DLC_COPY_HOST_TO_DEVICE}, static_cast<void *>(nullptr));
  EXPECT_EQ(download(s, a, 1000), iota(1000));
  table().release_pinned(device, pinned);
}

TEST_F(Gpu, CopiesBetweenTwo) {
  char error[256] = "";
  if (table().count(error, sizeof(error)) < 2)
    GTEST_SKIP() << "one GPU";
  void *other = open(1);
  void *here = allocate(4000), *there = allocateOn(other, 4000);
  void *s = stream(), *t = streamOn(other), *arrived = event();
  upload(s, here, iota(1000));
  ok(table().event_record, device, arrived, s);
  // A stream waits for an event of another device.
  ok(table().event_wait, other, t, arrived);
  ok(table().copy, other, t, there, static_cast<const void *>(here), uint64_t{4000},
     int{DLC_COPY_FROM_PEER}, device);
  std::vector<float> values(1000);
  ok(table().copy, other, t, static_cast<void *>(values.data()), static_cast<const void *>(there),
     uint64_t{4000}, int{DLC_COPY_DEVICE_TO_HOST}, static_cast<void *>(nullptr));
  ok(table().stream_synchronize, other, t);
  EXPECT_EQ(values, iota(1000));
  EXPECT_NE(failing(table().copy, other, t, there, static_cast<const void *>(here), uint64_t{4000},
                    int{DLC_COPY_FROM_PEER}, static_cast<void *>(nullptr))
                .find("from another device requires the source device"),
            std::string::npos);
}

TEST_F(Gpu, LaunchesKernels) {
  void *module = load(kernels), *s = stream(), *x = allocate(4000), *y = allocate(4000);
  upload(s, x, iota(1000));
  launch(s, function(module, "twice"), {y, x}, 8, 128);
  std::vector<float> got = download(s, y, 1000);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(got[i], 2.0f * i);
}

TEST_F(Gpu, KeepsModulesApart) {
  void *s = stream(), *y = allocate(4);
  auto text = [](int value) {
    return "extern \"C\" __global__ void k(float *y) { y[0] += " + std::to_string(value) + "; }";
  };
  void *one = load(text(1)), *ten = load(text(10));
  ok(table().fill, device, s, y, uint8_t{0}, uint64_t{4});
  launch(s, function(one, "k"), {y}, 1, 1);
  launch(s, function(ten, "k"), {y}, 1, 1);
  launch(s, function(ten, "k"), {y}, 1, 1);
  EXPECT_EQ(download(s, y, 1)[0], 21);
}

TEST_F(Gpu, GivesKernelsTheSharedMemoryTheyAskFor) {
  void *module = load(kernels), *s = stream(), *x = allocate(4096), *y = allocate(4096);
  void *turned = function(module, "turned");
  upload(s, x, iota(1024));
  for (uint32_t shared : {4096u, 100u * 1024}) {
    launch(s, turned, {y, x}, 1, 1024, shared);
    std::vector<float> got = download(s, y, 1024);
    for (int i = 0; i < 1024; ++i)
      ASSERT_EQ(got[i], 1023.0f - i);
  }
  const uint32_t one[3] = {1, 1, 1};
  void *arguments[] = {&y, &x};
  std::string error = failing(table().launch, device, s, turned, static_cast<const uint32_t *>(one),
                              static_cast<const uint32_t *>(one), uint32_t{1} << 20,
                              static_cast<void **>(arguments));
  EXPECT_NE(error.find("'turned' requires 1.0 MiB of shared memory"), std::string::npos) << error;
}

TEST_F(Gpu, LaunchesInThreeDimensions) {
  void *module = load(kernels), *s = stream(), *y = allocate(4);
  const uint32_t grid[3] = {2, 3, 4}, block[3] = {8, 5, 2}, none[3] = {0, 1, 1};
  void *arguments[] = {&y};
  void *corner = function(module, "corner");
  for (const uint32_t *blocks : {grid, none})
    ok(table().launch, device, s, corner, blocks, static_cast<const uint32_t *>(block), uint32_t{0},
       static_cast<void **>(arguments));
  EXPECT_EQ(download(s, y, 1)[0], 405);
}

TEST_F(Gpu, KeepsAStreamsWorkAsAGraph) {
  void *module = load(kernels), *s = stream(), *t = stream();
  void *x = allocate(4000), *y = allocate(4000), *z = allocate(4000);
  void *twice = function(module, "twice"), *forked = event(), *joined = event(), *graph = nullptr;
  ok(table().capture_begin, device, s);
  launch(s, twice, {y, x}, 8, 128);
  ok(table().event_record, device, forked, s);
  ok(table().event_wait, device, t, forked);
  launch(t, twice, {z, y}, 8, 128);
  ok(table().event_record, device, joined, t);
  ok(table().event_wait, device, s, joined);
  launch(s, twice, {y, z}, 8, 128);
  ok(table().capture_end, device, s, &graph);
  // Capturing runs no command. The graph reads the contents of the buffers at the time of its
  // launch.
  for (float first : {1.0f, 100.0f}) {
    std::vector<float> values = iota(1000, first);
    upload(s, x, values);
    ok(table().graph_launch, device, graph, s);
    std::vector<float> got = download(s, y, 1000);
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(got[i], 8 * (first + i));
  }
  table().graph_destroy(device, graph);
}

} // namespace

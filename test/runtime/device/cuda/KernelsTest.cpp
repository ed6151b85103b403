//===- KernelsTest.cpp - features of CUDA kernels, on the emulated GPU --------===//
#include "test/runtime/device/cuda/Gpu.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace dlc::cuda::test;

namespace {

class Kernels : public Gpu {
protected:
  void SetUp() override {
    if (!emulated())
      GTEST_SKIP() << "of the emulated GPU alone";
    Gpu::SetUp();
  }
  void TearDown() override {
    const char *threads = std::getenv("DLC_EMULATED_THREADS");
    const char *order = std::getenv("DLC_EMULATED_ORDER");
    if (emulated()) {
      configure("order", order ? order : "late");
      configure("revive", "");
      configure("threads", threads ? threads : "forward");
    }
    Gpu::TearDown();
  }

  /// Runs the kernel k(y, x) of the source and returns y.
  std::vector<float> run(const std::string &text, const std::vector<float> &x, size_t count,
                         uint32_t block, uint32_t grid = 1) {
    void *s = stream(), *in = allocate(x.size() * 4), *out = allocate(count * 4);
    upload(s, in, x);
    ok(table().fill, device, s, out, uint8_t{0}, uint64_t{count * 4});
    launch(s, function(load(text), "k"), {out, in}, grid, block);
    return download(s, out, count);
  }
};

TEST_F(Kernels, WarpsShuffle) {
  std::vector<float> got = run(R"(
extern "C" __global__ void k(float *y, const float *x) {
  float v = x[threadIdx.x];
  for (int mask = 16; mask; mask /= 2) v += __shfl_xor_sync(0xffffffffu, v, mask);
  y[threadIdx.x] = v;
  y[64 + threadIdx.x] = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 3, 8);
  y[128 + threadIdx.x] = __shfl_up_sync(0xffffffffu, x[threadIdx.x], 2);
  y[192 + threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], 5);
  y[256 + threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x % 32 < 3);
  y[320 + threadIdx.x] = __any_sync(0xffffffffu, threadIdx.x == 40) + 2 * __all_sync(0xffffffffu, threadIdx.x < 40);
})",
                               iota(64), 384, 64);
  for (int i = 0; i < 64; ++i) {
    int warp = i / 32 * 32, lane = i % 32;
    ASSERT_EQ(got[i], i < 32 ? 496 : 1520);
    ASSERT_EQ(got[64 + i], lane % 8 < 5 ? i + 3 : i);
    ASSERT_EQ(got[128 + i], lane < 2 ? i : i - 2);
    ASSERT_EQ(got[192 + i], warp + 5);
    ASSERT_EQ(got[256 + i], 7);
    ASSERT_EQ(got[320 + i], i < 32 ? 2 : 1);
  }
}

TEST_F(Kernels, LanesThatEndedAreNotWaitedFor) {
  std::vector<float> got = run(R"(
extern "C" __global__ void k(float *y, const float *x) {
  if (threadIdx.x >= 20) return;
  float v = __shfl_xor_sync(0xfffffu, x[threadIdx.x], 1);
  __syncthreads();
  y[threadIdx.x] = v;
})",
                               iota(32), 32, 32);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(got[i], i ^ 1);
}

TEST_F(Kernels, BlocksReduce) {
  std::vector<float> got = run(R"(
extern "C" __global__ void k(float *y, const float *x) {
  __shared__ __align__(16) float part[8];
  __shared__ int votes;
  if (threadIdx.x == 0) votes = 0;
  float v = x[blockIdx.x * 256 + threadIdx.x];
  for (int mask = 16; mask; mask /= 2) v += __shfl_xor_sync(0xffffffffu, v, mask);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  int count = __syncthreads_count(threadIdx.x < 77);
  atomicAdd(&votes, 1);
  __syncthreads();
  float total = 0;
  for (int i = 0; i < 8; ++i) total += part[i];
  if (threadIdx.x == 255) y[blockIdx.x] = total + (count - 77) + (votes - 256);
})",
                               std::vector<float>(1024, 1), 4, 256, 4);
  EXPECT_EQ(got, std::vector<float>(4, 256));
}

/// A kernel without a required barrier is correct in at most one order of its threads.
TEST_F(Kernels, AMissingSyncthreadsShows) {
  const char *text = R"(
extern "C" __global__ void k(float *y, const float *x) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[threadIdx.x ? threadIdx.x - 1 : 0];
})";
  std::vector<float> want = iota(64, -1);
  want[0] = 0;
  configure("threads", "forward");
  EXPECT_EQ(run(text, iota(64), 64, 64), want);
  configure("threads", "reverse");
  EXPECT_NE(run(text, iota(64), 64, 64), want);
}

TEST_F(Kernels, AsyncCopiesComeLate) {
  const char *text = R"(
extern "C" __global__ void k(float *y, const float *x) {
  __shared__ __align__(16) float s[16];
  dlc_emulated::copy_async<16>(s + threadIdx.x * 4, x + threadIdx.x * 4, threadIdx.x == 3 ? 8 : 16);
  dlc_emulated::commit_group();
  y[threadIdx.x] = s[threadIdx.x * 4];
  dlc_emulated::wait_groups(0);
  __syncthreads();
  y[4 + threadIdx.x] = s[threadIdx.x * 4 + 3];
})";
  std::vector<float> got = run(text, iota(16), 8, 4);
  EXPECT_NE(got[1], 4);
  EXPECT_EQ(std::vector<float>(got.begin() + 4, got.end()), (std::vector<float>{3, 7, 11, 0}));
}

uint16_t brain(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<uint16_t>(bits >> 16);
}

/// Fragments are filled as the PTX manual defines, from row-major a (16 x K) and column-major b (K
/// x 8).
TEST_F(Kernels, TensorCoresMultiply) {
  constexpr int K = 16;
  std::vector<uint16_t> a16(16 * K), b16(K * 8);
  std::vector<float> packed((16 * K + K * 8) / 2), want(128);
  for (int i = 0; i < 16 * K; ++i)
    a16[i] = brain(static_cast<float>(i % 7 - 3));
  for (int i = 0; i < K * 8; ++i)
    b16[i] = brain(static_cast<float>(i % 5 - 2));
  std::memcpy(packed.data(), a16.data(), a16.size() * 2);
  std::memcpy(packed.data() + a16.size() / 2, b16.data(), b16.size() * 2);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n)
      for (int k = 0; k < K; ++k)
        want[m * 8 + n] += static_cast<float>(((m * K + k) % 7 - 3) * ((n * K + k) % 5 - 2));
  const char *text = R"(
extern "C" __global__ void k(float *y, const float *x) {
  const unsigned *a = (const unsigned *)x, *b = a + 128;
  int group = threadIdx.x / 4, in = threadIdx.x % 4;
  unsigned fa[4], fb[2];
  for (int i = 0; i < 4; ++i) fa[i] = a[(group + i % 2 * 8) * 8 + in + i / 2 * 4];
  for (int i = 0; i < 2; ++i) fb[i] = b[group * 8 + in + i * 4];
  float d[4] = {0, 0, 0, 0};
  dlc_emulated::mma_m16n8k16_bf16(d, fa, fb);
  for (int i = 0; i < 4; ++i) y[(group + i / 2 * 8) * 8 + in * 2 + i % 2] = d[i];
  // The same with ldmatrix: rows of 8 elements, four matrices in the order of the fragment.
  __shared__ __align__(16) unsigned s[128];
  for (int i = 0; i < 4; ++i) s[threadIdx.x * 4 + i] = a[threadIdx.x * 4 + i];
  __syncthreads();
  int matrix = threadIdx.x / 8, row = threadIdx.x % 8;
  dlc_emulated::ldmatrix<4, false>(fa, s + (row + matrix % 2 * 8) * 8 + matrix / 2 * 4);
  for (int i = 0; i < 4; ++i) d[i] = 0;
  dlc_emulated::mma_m16n8k16_bf16(d, fa, fb);
  for (int i = 0; i < 4; ++i) y[128 + (group + i / 2 * 8) * 8 + in * 2 + i % 2] = d[i];
})";
  std::vector<float> got = run(text, packed, 256, 32);
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(got[i], want[i]) << i;
    ASSERT_EQ(got[128 + i], want[i]) << i;
  }
}

TEST_F(Kernels, MathIsThere) {
  std::vector<float> got = run(R"(
extern "C" __global__ void k(float *y, const float *x) {
  float4 v = make_float4(x[0], x[1], x[2], x[3]);
  y[0] = sinpif(0.5f) + cospif(1.0f); y[1] = rsqrtf(v.z * 8); y[2] = erff(v.y); y[3] = fmaf(v.w, 2, 1);
  y[4] = __popc(0xf0u) + __clz(1) + __ffs(8); y[5] = __umulhi(0x80000000u, 6u); y[6] = min(3, 2) + max(2.5f, 1.0f);
  y[7] = __int_as_float(__float_as_int(v.w)); y[8] = exp2f(5) + exp(0.0); y[9] = __brev(1u) == 0x80000000u;
  int z = 0; y[10] = atomicMax(&z, 4) + atomicCAS(&z, 4, 9) + z;
})",
                               iota(4), 11, 1);
  std::vector<float> want = {0, 0.25f, std::erf(1.0f), 7, 4 + 31 + 4, 3, 4.5f, 3, 33, 1, 13};
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_FLOAT_EQ(got[i], want[i]) << i;
}

TEST_F(Kernels, FaultsAreErrors) {
  configure("order",
            "late"); // the launch itself succeeds then, and the error is reported by the wait
  auto fault = [&](const char *body) {
    void *s = stream(), *y = allocate(100), *x = allocate(100);
    launch(s,
           function(load(std::string("extern \"C\" __global__ void k(float *y, const float *x) {") +
                         body + "}"),
                    "k"),
           {y, x}, 1, 64);
    std::string error = failing(table().stream_synchronize, device, s);
    configure("revive", "");
    return error;
  };
  // A write past the end, a barrier in only one branch, and a lane that waits for lanes that never
  // arrive.
  EXPECT_NE(fault("y[25] = 1;").find("LAUNCH_FAILED"), std::string::npos);
  EXPECT_NE(
      fault("if (threadIdx.x < 32) __syncthreads(); else __shfl_sync(0xffffffffu, 1, 0); "
            "if (threadIdx.x == 40) __syncthreads(); else if (threadIdx.x > 32) __syncwarp();")
          .find("LAUNCH_FAILED"),
      std::string::npos);
  EXPECT_NE(fault("if (threadIdx.x == 3) __trap();").find("LAUNCH_FAILED"), std::string::npos);
  std::string error = fault("assert(x == nullptr);");
  EXPECT_NE(error.find("cannot use the device any more"), std::string::npos) << error;
}

TEST_F(Kernels, PointersMustBeTheDevicesOwn) {
  configure("order", "late");
  void *module = load("extern \"C\" __global__ void k(float *y) { if (y) y[0] = 1; }");
  void *k = function(module, "k"), *s = stream();
  float host = 0;
  void *released = nullptr, *other = allocateOn(open(1), 4);
  ok(table().allocate, device, uint64_t{4}, &released);
  table().release(device, released);
  for (void *wrong : {static_cast<void *>(&host), released, other}) {
    launch(s, k, {wrong}, 1, 1);
    std::string error = failing(table().stream_synchronize, device, s);
    EXPECT_NE(error.find("ILLEGAL_ADDRESS"), std::string::npos) << error;
    configure("revive", "");
  }
  launch(s, k, {nullptr}, 1, 1);
  ok(table().stream_synchronize, device, s);
}

TEST_F(Kernels, TheHostCannotFollowADevicesAddress) {
  auto *y = static_cast<volatile float *>(allocate(4));
  EXPECT_DEATH({ y[0] = 1; }, "");
}

TEST_F(Kernels, NewMemoryHoldsNoNumbers) {
  void *s = stream(), *y = allocate(4);
  EXPECT_TRUE(std::isnan(download(s, y, 1)[0]));
}

} // namespace

//===- ErrorsTest.cpp - errors of devices: missing, too old, out of memory, invalid ===//
#include "test/runtime/device/cuda/Gpu.h"

#include "runtime/device/cuda/Nvrtc.h"

#include <cstdio>
#include <cstring>
#include <elf.h>

using namespace dlc::cuda::test;

namespace {

void expectIn(const std::string &text, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

TEST(Driver, MissingIsSaidWithWhereItWasSought) {
  expectIn(probe("DLC_CUDA_DRIVER=/none/libcuda.so.1"),
           {"0 devices: no NVIDIA driver: libcuda: missing", "install NVIDIA's driver",
            "/none/libcuda.so.1: no such file", "open: device cuda:0 not found"});
}

TEST(Driver, TooOldIsSaid) {
  if (!emulated())
    GTEST_SKIP();
  expectIn(probe("DLC_EMULATED_VERSION=11040"),
           {"0 devices", "too old: required: CUDA 12.0; found: CUDA 11.4"});
  expectIn(probe("DLC_CUDA_DRIVER=libm.so.6"), {"0 devices", "too old", "has no cuInit"});
}

TEST(Driver, NoGpuIsSaid) {
  if (!emulated())
    GTEST_SKIP();
  expectIn(probe("DLC_EMULATED_DEVICES=0"), {"0 devices", "finds no GPU", "CUDA_ERROR_NO_DEVICE"});
  expectIn(probe("DLC_EMULATED_INIT=803"), {"0 devices", "kernel module have different versions"});
  expectIn(probe("DLC_EMULATED_INIT=34"), {"0 devices", "only a stub"});
}

TEST_F(Gpu, NoSuchDevice) {
  char error[256] = "";
  void *none = nullptr;
  EXPECT_NE(table().open(77, &none, error, sizeof(error)), 0);
  expectIn(error, {"cuda:77 not found: this machine has ", "GPU"});
  EXPECT_NE(table().open(-1, &none, error, sizeof(error)), 0);
  // A short buffer truncates the message.
  char little[8] = "";
  EXPECT_NE(table().open(77, &none, little, sizeof(little)), 0);
  EXPECT_STREQ(little, "device ");
}

TEST_F(Gpu, MemoryRunsOutAndComesBack) {
  dlc_device_properties p;
  ok(table().properties, device, &p);
  void *first = nullptr, *second = nullptr;
  uint64_t most = p.free_bytes / 10 * 9;
  ok(table().allocate, device, most, &first);
  std::string error = failing(table().allocate, device, most, &second);
  expectIn(error, {"out of device memory: required:", "free", "reduce the batch size"});
  EXPECT_EQ(second, nullptr);
  // The device remains usable.
  void *s = stream(), *small = allocate(400);
  upload(s, small, iota(100));
  EXPECT_EQ(download(s, small, 100), iota(100));
  table().release(device, first);
  ok(table().allocate, device, most, &second);
  table().release(device, second);
}

TEST_F(Gpu, ModulesMustBeForTheDevice) {
  void *module = nullptr;
  auto loading = [&](const std::vector<char> &image) {
    return failing(table().module_load, device, static_cast<const void *>(image.data()),
                   uint64_t{image.size()}, &module);
  };
  expectIn(loading(std::vector<char>(1000, 'x')), {"cannot load a module of 1000 bytes"});
  expectIn(loading({}), {"contains no code: found 0 bytes"});
  if (!emulated())
    return;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = 190; // machine type of a real GPU's image
  std::vector<char> real(sizeof(header));
  std::memcpy(real.data(), &header, sizeof(header));
  expectIn(loading(real), {"NO_BINARY_FOR_GPU", "another architecture than sm_90", "emulated"});
  auto older = dlc::cuda::compileCuda("extern \"C\" __global__ void k() {}", "k.cu", "sm_80");
  ASSERT_EQ(older.error, "");
  expectIn(loading(older.cubin), {"NO_BINARY_FOR_GPU", "the image is for sm_80"});
}

TEST_F(Gpu, KernelsMustBeInTheModule) {
  void *module = load("extern \"C\" __global__ void k() {}"), *found = nullptr;
  expectIn(failing(table().function, device, module, "other", &found),
           {"has no kernel 'other'", "compile the model again"});
}

TEST_F(Gpu, LaunchesMustFit) {
  void *module = load("extern \"C\" __global__ void k() {}"), *k = function(module, "k");
  const uint32_t grid[3] = {1, 1, 1}, block[3] = {2000, 1, 1};
  std::string error =
      failing(table().launch, device, stream(), k, static_cast<const uint32_t *>(grid),
              static_cast<const uint32_t *>(block), uint32_t{0}, static_cast<void **>(nullptr));
  expectIn(error, {"cannot launch kernel 'k'", "2000x1x1 threads"});
}

TEST_F(Gpu, CopiesMustStayWithin) {
  void *a = allocate(400);
  std::vector<float> values(200);
  std::string error =
      failing(table().copy, device, stream(), a, static_cast<const void *>(values.data()),
              uint64_t{800}, int{DLC_COPY_HOST_TO_DEVICE}, static_cast<void *>(nullptr));
  expectIn(error, {"cannot copy from the host"});
  error = failing(table().copy, device, stream(), a, static_cast<const void *>(values.data()),
                  uint64_t{4}, 9, static_cast<void *>(nullptr));
  expectIn(error, {"direction from 0 to 3; found: 9"});
}

TEST(Plugin, NeedsTheSystemsLibraryAlone) {
  if (*DLC_TEST_SANITIZE)
    GTEST_SKIP() << "sanitizers bring their own";
  FILE *pipe = popen("readelf -d '" DLC_CUDA_PLUGIN_FILE
                     "' | grep NEEDED; nm -D --defined-only '" DLC_CUDA_PLUGIN_FILE "'",
                     "r");
  char line[512];
  int needed = 0, shown = 0;
  while (std::fgets(line, sizeof(line), pipe)) {
    if (std::strstr(line, "NEEDED")) {
      ++needed;
      // Permitted dependencies: the C library and the dynamic loader, which is a part of it.
      EXPECT_TRUE(std::strstr(line, "libc.so.6") || std::strstr(line, "ld-linux")) << line;
    } else {
      ++shown;
      EXPECT_TRUE(std::strstr(line, " dlc_cuda_")) << line;
    }
  }
  pclose(pipe);
  EXPECT_GE(needed, 1);
  EXPECT_EQ(shown, 1);
}

} // namespace

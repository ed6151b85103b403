//===- Gpu.cpp - shared code of the tests of the CUDA device table ------------===//
#include "test/runtime/device/cuda/Gpu.h"

#include "runtime/device/cuda/Nvrtc.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <numeric>

namespace dlc::cuda::test {

namespace {

void *openLibrary(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return library;
}

} // namespace

bool emulated() { return std::getenv("DLC_TEST_GPU") == nullptr; }

const dlc_device_table &table() {
  static const dlc_device_table *found = [] {
    char error[1024] = "";
    auto get = reinterpret_cast<dlc_device_table_function>(
        dlsym(openLibrary(DLC_CUDA_PLUGIN_FILE), "dlc_cuda_device_table"));
    const dlc_device_table *t = get(error, sizeof(error));
    if (!t) {
      std::fprintf(stderr, "%s\n", error);
      std::abort();
    }
    return t;
  }();
  return *found;
}

void configure(const char *setting, const char *value) {
  static auto set = reinterpret_cast<int (*)(const char *, const char *)>(
      dlsym(openLibrary(DLC_EMULATED_GPU_FILE), "dlc_emulated_configure"));
  ASSERT_TRUE(set(setting, value)) << setting << " = " << value;
}

std::string probe(const std::string &variables, const std::string &mode) {
  char self[4096] = {};
  EXPECT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  FILE *pipe = popen((variables + " '" + self + "' " + mode + " 2>&1").c_str(), "r");
  std::string output;
  for (int c; (c = fgetc(pipe)) != EOF;)
    output += static_cast<char>(c);
  pclose(pipe);
  return output;
}

std::map<std::string, int (*)()> &modes() {
  static std::map<std::string, int (*)()> all;
  return all;
}

static int runProbe() {
  char error[4096] = "";
  void *device = nullptr;
  int count = table().count(error, sizeof(error));
  std::printf("%d devices: %s\n", count, error);
  if (table().open(0, &device, error, sizeof(error)))
    std::printf("open: %s\n", error);
  return 0;
}
static const Mode kProbe("--probe", runProbe);

std::vector<char> compile(const std::string &text) {
  NvrtcResult result = compileCuda(text, "test.cu", "sm_90a");
  EXPECT_EQ(result.error, "");
  return result.cubin;
}

void Gpu::SetUp() { device = open(0); }

void Gpu::TearDown() {
  for (const OwnedDescriptor &o : modules)
    table().module_unload(o.device, o.what);
  for (const OwnedDescriptor &o : events)
    table().event_destroy(o.device, o.what);
  for (const OwnedDescriptor &o : streams)
    table().stream_destroy(o.device, o.what);
  for (const OwnedDescriptor &o : memory)
    table().release(o.device, o.what);
  for (const OwnedDescriptor &o : devices)
    table().close(o.what);
}

void *Gpu::open(int index) {
  char error[1024] = "";
  void *made = nullptr;
  EXPECT_EQ(table().open(index, &made, error, sizeof(error)), 0) << error;
  devices.push_back({nullptr, made});
  return made;
}

void *Gpu::allocateOn(void *on, uint64_t bytes) {
  void *address = nullptr;
  ok(table().allocate, on, bytes, &address);
  memory.push_back({on, address});
  return address;
}

void *Gpu::streamOn(void *on) {
  void *made = nullptr;
  ok(table().stream_create, on, &made);
  streams.push_back({on, made});
  return made;
}

void *Gpu::event() {
  void *made = nullptr;
  ok(table().event_create, device, &made);
  events.push_back({device, made});
  return made;
}

void Gpu::upload(void *stream, void *to, std::vector<float> given) {
  const std::vector<float> &values = uploaded.emplace_back(std::move(given));
  ok(table().copy, device, stream, to, static_cast<const void *>(values.data()),
     uint64_t{values.size() * sizeof(float)}, int{DLC_COPY_HOST_TO_DEVICE},
     static_cast<void *>(nullptr));
}

std::vector<float> Gpu::download(void *stream, const void *from, size_t count) {
  std::vector<float> values(count);
  ok(table().copy, device, stream, static_cast<void *>(values.data()), from,
     uint64_t{count * sizeof(float)}, int{DLC_COPY_DEVICE_TO_HOST}, static_cast<void *>(nullptr));
  ok(table().stream_synchronize, device, stream);
  return values;
}

void *Gpu::load(const std::string &text) {
  std::vector<char> image = compile(text);
  void *module = nullptr;
  ok(table().module_load, device, static_cast<const void *>(image.data()), uint64_t{image.size()},
     &module);
  modules.push_back({device, module});
  return module;
}

void *Gpu::function(void *module, const char *name) {
  void *found = nullptr;
  ok(table().function, device, module, name, &found);
  return found;
}

void Gpu::launch(void *stream, void *function, std::vector<void *> pointers, uint32_t grid,
                 uint32_t block, uint32_t shared) {
  std::vector<void *> arguments;
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  const uint32_t blocks[3] = {grid, 1, 1}, threads[3] = {block, 1, 1};
  ok(table().launch, device, stream, function, static_cast<const uint32_t *>(blocks),
     static_cast<const uint32_t *>(threads), shared, arguments.data());
}

std::vector<float> iota(size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

} // namespace dlc::cuda::test

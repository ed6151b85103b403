//===- CudnnPlansTest.cpp - plans graphs with the installed cuDNN, without a GPU ---===//
//
// Checks which graphs the installed cuDNN supports. cuDNN plans for a GPU with given properties
// while a stub replaces the driver. The test runs in a child process, because a process can load
// only one libcuda.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cuda/CudnnGraph.h"
#include "test/runtime/device/cuda/Gpu.h"

#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

using namespace dlc::cudnn;
using nlohmann::json;

namespace {

/// Device properties that cuDNN reads, here those of an H200 or an A100.
json propertiesOf(int version, int multiprocessors, int sharedMost) {
  return {{"deviceName", "described"},
          {"deviceVer", version},
          {"driverVer", 13000},
          {"cudaDeviceId", 0},
          {"pciDeviceId", 590680286},
          {"multiProcessorCount", multiprocessors},
          {"warpSize", 32},
          {"regsPerBlock", 65536},
          {"maxRegistersPerSM", 65536},
          {"maxSharedMemoryPerBlock", 49152},
          {"maxSharedMemoryPerBlockOptin", sharedMost},
          {"reservedSharedMemoryPerBlock", 1024},
          {"maxCtasPerSM", 32},
          {"maxThreadsPerBlock", 1024},
          {"maxThreadsPerSM", 2048},
          {"isTccDriver", 0},
          {"supportCoopLaunch", 1},
          {"totalGlobalMem", int64_t{80} << 30},
          {"smClockRateKHz", 1410000},
          {"memClockRateKHz", 2619000},
          {"l2CacheSize", int64_t{40} << 20},
          {"maxBlockSize", {1024, 1024, 64}},
          {"maxGridSize", {2147483647, 65535, 65535}}};
}

struct Layer {
  int64_t batch, channels, size, outputs, window, stride, pad, groups;
};

json tensor(std::vector<int64_t> dims, bool channelsLast) {
  std::vector<int64_t> strides = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
  if (channelsLast)
    strides = {dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]};
  return {{"dims", dims}, {"strides", strides}};
}

json descOf(const Layer &layer, const char *kind, const char *type, bool channelsLast) {
  int64_t out = (layer.size + 2 * layer.pad - layer.window) / layer.stride + 1;
  json desc = {{"kind", kind}, {"dtype", type}};
  desc["x"] = tensor({layer.batch, layer.channels, layer.size, layer.size}, channelsLast);
  desc["w"] = tensor({layer.outputs, layer.channels / layer.groups, layer.window, layer.window},
                     channelsLast);
  desc["y"] = tensor({layer.batch, layer.outputs, out, out}, channelsLast);
  desc["strides"] = {layer.stride, layer.stride};
  desc["low"] = desc["high"] = {layer.pad, layer.pad};
  desc["dilations"] = {1, 1};
  return desc;
}

json added(json tensor, const char *type) {
  tensor["op"] = "add";
  tensor["dtype"] = type;
  return tensor;
}

/// Layers of ResNet-50, MobileNetV2 and AlexNet, and a small odd one. cuDNN compiles kernels for
/// grouped convolutions when it plans them, so there is only one layer of each kind.
std::vector<json> descriptions() {
  constexpr Layer layers[] = {{32, 64, 56, 64, 3, 1, 1, 1}, {32, 3, 224, 64, 7, 2, 3, 1},
                              {8, 96, 28, 96, 3, 2, 1, 96}, {64, 256, 13, 384, 3, 1, 1, 1},
                              {2, 3, 9, 5, 3, 2, 1, 1},     {8, 64, 14, 64, 3, 1, 1, 4}};
  std::vector<json> all;
  for (const Layer &layer : layers)
    for (const char *type : {"f32", "tf32", "bf16", "f16"})
      for (bool channelsLast : {false, true}) {
        if (layer.groups > 1 && (channelsLast || type[0] != 'b'))
          continue;
        bool tf32 = std::string(type) == "tf32";
        const char *element = tf32 ? "f32" : type;
        auto take = [&](json desc) {
          if (tf32)
            desc["math"] = "tf32";
          // Engines for tensor cores, which need no transposes in this layout.
          if (channelsLast && std::string(element) != "f32" && !desc.contains("post"))
            desc["tensor_cores"] = true;
          all.push_back(std::move(desc));
        };
        for (const char *kind : {"convolution", "data_gradient", "weight_gradient"})
          take(descOf(layer, kind, element, channelsLast));
        json biased = descOf(layer, "convolution", element, channelsLast);
        json bias = added(tensor({1, layer.outputs, 1, 1}, channelsLast), element),
             residual = added(biased["y"], element);
        biased["post"] = {bias};
        take(biased);
        biased["post"] = {bias, {{"op", "relu"}}};
        take(biased);
        biased["post"] = {bias, {{"op", "relu"}, {"upper", 6.0}}};
        take(biased);
        biased["post"] = {residual, bias, {{"op", "relu"}}};
        take(biased);
        // Epilogues in any order are compiled for tensor cores with channels last. Each compilation
        // takes half a second, so only a few are tested.
        if (!channelsLast || &layer != layers || (!tf32 && type[0] != 'b'))
          continue;
        for (json post : {json{{{"op", "relu"}}}, json{bias, residual, {{"op", "relu"}}}}) {
          biased["post"] = post;
          biased["tensor_cores"] = true;
          take(biased);
        }
      }
  return all;
}

/// Attention of BERT in training (which stores the log-sum-exp), of ViT, and a small odd one. With
/// `together` the heads of a row are adjacent, as in the result of a projection. cuDNN compiles
/// each of them, so there are only a few.
std::vector<json> attentions() {
  struct Heads {
    int64_t batch, heads, queries, keys, size;
    const char *type;
    bool trains, together;
  };
  std::vector<json> all;
  for (const Heads &h : {Heads{8, 12, 128, 128, 64, "bf16", true, true},
                         {2, 12, 197, 197, 64, "f16", false, true},
                         {2, 4, 5, 7, 8, "bf16", true, false}}) {
    auto rows = [&](int64_t count) -> json {
      std::vector<int64_t> strides = {h.heads * count * h.size, count * h.size, h.size, 1};
      if (h.together)
        strides = {h.heads * count * h.size, h.size, h.heads * h.size, 1};
      return {{"dims", {h.batch, h.heads, count, h.size}}, {"strides", strides}};
    };
    json desc = {{"kind", "attention"}, {"dtype", h.type}, {"scale", 0.125}};
    desc["q"] = desc["y"] = rows(h.queries);
    desc["k"] = desc["v"] = rows(h.keys);
    if (h.trains)
      desc["lse"] = {{"dims", {h.batch, h.heads, h.queries, 1}},
                     {"strides", {h.heads * h.queries, h.queries, 1, 1}}};
    all.push_back(desc);
  }
  return all;
}

int planAll() {
  if (!dlopen(DLC_STUB_DRIVER_FILE, RTLD_NOW | RTLD_GLOBAL)) {
    std::printf("failed: %s\n", dlerror());
    return 1;
  }
  unsetenv("DLC_CUDA_CUDNN");
  dlc::cuda::LoadedLibrary library = dlc::cuda::findLibrary(dlc::cuda::Library::Cudnn);
  if (!library) {
    std::printf("missing: %s\n", dlc::cuda::formatLibraryStatus(library).c_str());
    return 0;
  }
  Functions f = loadFunctions(library);
  if (!f.error.empty()) {
    std::printf("failed: %s\n", f.error.c_str());
    return 1;
  }
  int planned = 0;
  for (const json &properties : {propertiesOf(800, 108, 166912), propertiesOf(900, 132, 232448)}) {
    std::string text = properties.dump();
    OwnedDescriptor device;
    try {
      device = OwnedDescriptor(f, DevicePropertiesKind);
      device.set(DeviceJson, OfChar, static_cast<int64_t>(text.size()), text.data(),
                 "describing a GPU");
      device.finalize("describing a GPU");
    } catch (const CudnnError &failure) {
      // cuDNN before 9.8 cannot plan for a GPU that is not present.
      std::printf("missing: cuDNN %zu: %s\n", f.version(), failure.text.c_str());
      return 0;
    }
    std::vector<json> all = descriptions();
    // Fused attention was introduced in about 9.10. The oldest version that was tested is 9.19.
    if (f.version() >= 91900)
      for (const json &desc : attentions())
        all.push_back(desc);
    for (const json &desc : all) {
      try {
        Graph graph = buildGraph(f, desc, nullptr);
        planOf(f, graph, nullptr, device.get(), uint64_t{256} << 20, 1);
        ++planned;
      } catch (const CudnnError &failure) {
        std::printf("failed: sm_%d %s\n  %s\n", properties["deviceVer"].get<int>() / 10,
                    desc.dump().c_str(), failure.text.c_str());
      }
    }
    for (auto [key, wrong] : {std::pair{"y", tensor({32, 64, 55, 55}, false)},
                              std::pair{"w", tensor({64, 63, 3, 3}, false)}}) {
      json desc = descriptions().front();
      desc[key] = wrong;
      try {
        buildGraph(f, desc, nullptr);
        std::printf("failed: taken, but wrong: %s\n", desc.dump().c_str());
      } catch (const CudnnError &) {
        ++planned;
      }
    }
  }
  std::printf("planned: %d with cuDNN %zu\n", planned, f.version());
  return 0;
}

TEST(CudnnPlans, OfTheInstalledLibrary) {
  if (std::string(DLC_TEST_SANITIZE) != "")
    GTEST_SKIP() << "NVIDIA's code is not instrumented";
  if (getenv("DLC_EMULATED_ORDER") || getenv("DLC_EMULATED_THREADS"))
    GTEST_SKIP() << "nothing runs here";
  // Discards cuDNN's messages about functions that the stub does not have.
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  FILE *child = popen(("'" + std::string(self) + "' --plans 2>/dev/null").c_str(), "r");
  ASSERT_TRUE(child);
  std::string text;
  char part[4096];
  while (size_t got = fread(part, 1, sizeof part, child))
    text.append(part, got);
  EXPECT_EQ(pclose(child), 0) << text;
  if (text.find("missing:") == 0)
    GTEST_SKIP() << text;
  EXPECT_EQ(text.find("failed:"), std::string::npos) << text;
  EXPECT_NE(text.find("planned: "), std::string::npos) << text;
  std::printf("%s", text.c_str());
}

} // namespace

// Runs the plans of the installed cuDNN if the program's argument is --plans.
static const dlc::cuda::test::Mode kPlans("--plans", planAll);

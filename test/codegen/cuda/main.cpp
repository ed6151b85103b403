//===- main.cpp - compares CUDA kernels on the emulated GPU with the reference -----===//
//
//   cuda-kernels [--filter A,B] [--sample N] [--from K] [--tf32] [--threads forward|reverse]
//   [--show] [--arch sm_90a]
//
// CUDA source is generated for every fusion of the conformance cases, as for a real GPU. Hundreds
// of kernels at a time are compiled with the host's compiler and run through the device table.
// --sample selects every Nth case, starting with case K.
//
//===----------------------------------------------------------------------===//
#include "codegen/Pipeline.h"
#include "codegen/cuda/Generate.h"
#include "dlc/device.h"
#include "test/codegen/cuda/Units.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <thread>

using namespace dlc;
using namespace dlc::cudatest;

namespace {

struct Arguments {
  conformance::Choice choice;
  std::string threads = "forward", arch = "sm_90a";
  bool show = false, tf32 = false;
};

/// The emulated GPU, used through the runtime's device table.
class Gpu {
public:
  explicit Gpu(const std::string &plugin) {
    void *library = dlopen(plugin.c_str(), RTLD_NOW);
    if (!library)
      throw std::runtime_error(dlerror());
    auto make = reinterpret_cast<const dlc_device_table *(*)(char *, size_t)>(
        dlsym(library, "dlc_cuda_device_table"));
    table = make ? make(error, sizeof error) : nullptr;
    if (!table)
      throw std::runtime_error(error);
    check(table->open(0, &device, error, sizeof error));
    check(table->stream_create(device, &stream, error, sizeof error));
  }

  void *load(const std::vector<char> &image) {
    void *module;
    check(table->module_load(device, image.data(), image.size(), &module, error, sizeof error));
    return module;
  }

  /// Runs the unit and returns its results. Elements that the kernel does not write are wrong.
  std::vector<ref::Tensor> run(const Unit &unit, void *module) {
    std::vector<void *> inputs, outputs, scratch;
    for (const ref::Tensor &t : unit.inputs) {
      inputs.push_back(allocate(t.bytes()));
      copy(inputs.back(), t.data(), t.bytes(), DLC_COPY_HOST_TO_DEVICE);
    }
    std::vector<ref::Tensor> results;
    for (const ref::Tensor &t : unit.expected) {
      results.push_back(ref::Tensor::empty(t.getType()));
      std::memset(results.back().mutableData(), 0x5b, results.back().bytes());
      outputs.push_back(allocate(t.bytes()));
      copy(outputs.back(), results.back().data(), t.bytes(), DLC_COPY_HOST_TO_DEVICE);
    }
    for (int64_t bytes : unit.kernel.scratch) {
      scratch.push_back(allocate(bytes));
      check(table->fill(device, stream, scratch.back(), 0x5b, bytes, error, sizeof error));
    }
    for (const cuda::Launch &launch : unit.kernel.launches) {
      void *function;
      check(
          table->function(device, module, launch.function.c_str(), &function, error, sizeof error));
      std::vector<void *> values;
      for (const cuda::LaunchArgument &a : launch.arguments) {
        using Kind = cuda::LaunchArgument::Kind;
        auto &list = a.kind == Kind::Input ? inputs : a.kind == Kind::Output ? outputs : scratch;
        values.push_back(&list[a.index]);
      }
      check(table->launch(device, stream, function, launch.grid.data(), launch.block.data(),
                          launch.shared, values.data(), error, sizeof error));
    }
    for (auto [result, from] : llvm::zip(results, outputs))
      copy(result.mutableData(), from, result.bytes(), DLC_COPY_DEVICE_TO_HOST);
    check(table->stream_synchronize(device, stream, error, sizeof error));
    for (auto *list : {&inputs, &outputs, &scratch})
      for (void *p : *list)
        table->release(device, p);
    return results;
  }

private:
  void check(int result) {
    if (result)
      throw std::runtime_error(error);
  }
  void *allocate(int64_t bytes) {
    void *address = nullptr;
    check(table->allocate(device, std::max<int64_t>(bytes, 1), &address, error, sizeof error));
    return address;
  }
  void copy(void *to, const void *from, int64_t bytes, int direction) {
    if (bytes > 0)
      check(table->copy(device, stream, to, from, bytes, direction, nullptr, error, sizeof error));
  }

  const dlc_device_table *table = nullptr;
  void *device = nullptr, *stream = nullptr;
  char error[4096] = "";
};

std::string besides(const char *program, const std::string &library) {
  std::string path = llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void *>(&besides));
  return (llvm::sys::path::parent_path(llvm::sys::path::parent_path(path)) + "/lib/" + library)
      .str();
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (arguments.choice.takes(a, i + 1 < argc ? argv[i + 1] : nullptr))
      ++i;
    else if (a == "--threads")
      arguments.threads = value();
    else if (a == "--arch")
      arguments.arch = value();
    else if (a == "--tf32")
      arguments.tf32 = true;
    else if (a == "--show")
      arguments.show = true;
    else
      return std::fprintf(stderr, "cuda-kernels: unknown argument '%s'\n", a.c_str()), 2;
  }
  std::string emulator = besides(argv[0], "libdlc_emulated_gpu.so");
  setenv("DLC_CUDA_DRIVER", emulator.c_str(), 0);
  setenv("DLC_CUDA_NVRTC", emulator.c_str(), 0);
  setenv("DLC_EMULATED_THREADS", arguments.threads.c_str(), 1);

  std::vector<conformance::Case> all;
  for (auto add :
       {conformance::addElementwiseCases, conformance::addShapeCases, conformance::addGatherCases,
        conformance::addReduceCases, conformance::addContractCases, conformance::addWindowCases,
        conformance::addTrainingCases, conformance::addNormCases, conformance::addRecurrentCases,
        conformance::addControlCases, conformance::addQuantizedCases})
    add(all);
  std::vector<conformance::Case> cases = arguments.choice.of(all);

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  prepareContext(context);
  int failures = 0;
  auto failed = [&](const std::string &name, const std::string &why) {
    ++failures;
    std::printf("FAIL %s: %s\n", name.c_str(), why.c_str());
  };
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<Unit> units;
  collectUnits(context, cases, arguments.tf32, units, failed);
  double generated = seconds();
  if (arguments.show) {
    for (auto [i, unit] : llvm::enumerate(units)) {
      std::printf("// %s\n%s", unit.name.c_str(), unit.first == i ? unit.kernel.text.c_str() : "");
      for (const cuda::Launch &launch : unit.kernel.launches)
        std::printf("// %s <<<%u %u, %u %u>>>\n", launch.function.c_str(), launch.grid[0],
                    launch.grid[1], launch.block[0], launch.block[1]);
    }
    return failures != 0;
  }

  // Each distinct source is compiled once. There are enough modules to use all processors.
  std::vector<const cuda::Kernel *> kernels;
  std::vector<size_t> numbers;
  for (auto [i, unit] : llvm::enumerate(units)) {
    numbers.push_back(unit.first == i ? kernels.size() : numbers[unit.first]);
    if (unit.first == i)
      kernels.push_back(&unit.kernel);
  }
  std::vector<unsigned> where;
  std::string error;
  auto modules =
      cuda::compileKernels(kernels, arguments.arch, "", int(std::thread::hardware_concurrency()),
                           where, error, nullptr, 256 << 10);
  if (!modules) {
    std::printf("FAIL compiling: %s\n", error.c_str());
    return 1;
  }
  double compiled = seconds();
  try {
    Gpu gpu(besides(argv[0], "libdlc_cuda.so"));
    std::vector<void *> loaded;
    for (const cuda::Module &module : *modules)
      loaded.push_back(gpu.load(module.image));
    for (auto [i, unit] : llvm::enumerate(units)) {
      std::vector<ref::Tensor> got;
      try {
        got = gpu.run(unit, loaded[where[numbers[i]]]);
      } catch (const std::exception &e) {
        failed(unit.name, std::string("does not run: ") + e.what());
        if (std::strstr(e.what(), "719") || std::strstr(e.what(), "700"))
          throw;
        continue;
      }
      for (auto [r, want] : llvm::enumerate(unit.expected)) {
        std::string why;
        if (!conformance::agree(got[r], want, unit.tolerance, why)) {
          failed(unit.name, unit.kernel.launches.empty()
                                ? why
                                : unit.kernel.launches[0].function + ": " + why);
          break;
        }
      }
    }
  } catch (const std::exception &e) {
    std::printf("FAIL %s\n", e.what());
    ++failures;
  }
  std::printf(
      "%zu cases, %zu kernels, %zu of them different, in %zu modules, %s order: %d failed; %.1f s "
      "generating, %.1f s compiling, %.1f s running\n",
      cases.size(), units.size(), kernels.size(), modules->size(), arguments.threads.c_str(),
      failures, generated, compiled - generated, seconds() - compiled);
  return failures != 0;
}

//===- Text.cpp - cuda-text: prints or compiles the CUDA kernels of a model -------===//
//
//   cuda-text [--tf32] [--precision bf16] [--multiprocessors N] [--for sm_90]
//   [--compile sm_90a,sm_80 [--modules]] FILE.mlir...
//
// Without --compile, prints each kernel and its launches for one architecture. Modules in one file
// are separated by lines of `// -----`. With --compile, NVRTC compiles every kernel separately,
// each source once for each architecture, and the output of ptxas is reported: a kernel with
// register spills is a failure. With --modules several kernels are compiled together, as in
// programs, which is faster. Times are processor times and are longer on a busy machine. If NVRTC
// is not installed, this is reported and is not a failure.
//
//===----------------------------------------------------------------------===//
#include "codegen/Pipeline.h"
#include "codegen/cpu/Normalize.h"
#include "codegen/cuda/Generate.h"
#include "codegen/cuda/Target.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace dlc;
using namespace mlir;

namespace {

struct Named {
  std::string source; ///< location in the model
  cuda::Kernel kernel;
  std::string text; ///< source with a kernel name that is the same for all kernels
};

/// Compile time in seconds of each source. Networks share kernels.
using Done = std::map<std::string, double>;

struct Arguments {
  std::vector<std::string> files, archs;
  std::string arch = "sm_90";
  bool modules = false;
  std::string precision = "none";
  cuda::KernelOptions options;
};

/// Collects the distinct kernels of a module.
LogicalResult collect(ModuleOp module, const Arguments &arguments, std::vector<Named> &kernels) {
  PassManager passes(module.getContext());
  passes.addPass(createExpandQuantizedPass());
  passes.addPass(createPackIntegersPass());
  passes.addPass(createSimplifyPass());
  passes.addPass(createMarkAttentionPass({.device = "cuda:0"}, /*gradients=*/true));
  passes.addPass(createGradPass());
  passes.addPass(createPrecisionPass({.precision = arguments.precision}));
  passes.addPass(createPlacePass({.device = "cuda:0"}));
  passes.addPass(createDecomposePass());
  passes.addPass(createExcessPrecisionPass());
  passes.addPass(createFusePass());
  if (failed(passes.run(module)))
    return failure();
  size_t before = kernels.size();
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (cuda::isKernelOp(op))
      ops.push_back(op);
    return isa<FusionOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  std::map<std::string, size_t> seen;
  for (Operation *op : ops) {
    OpBuilder b(op);
    std::string why;
    FusionOp fusion = cuda::wrapInFusion(b, op);
    auto normal = cpu::normalizeFusion(fusion, why);
    if (failed(normal))
      return op->emitError(why);
    auto anonymous = cuda::generateKernel(*normal, "kernel", arguments.options);
    if (failed(anonymous))
      return failure();
    if (!seen.insert({anonymous->text, kernels.size()}).second)
      continue;
    std::string last = (*normal).getBody().front().getTerminator()->getPrevNode()
                           ? (*normal)
                                 .getBody()
                                 .front()
                                 .getTerminator()
                                 ->getPrevNode()
                                 ->getName()
                                 .stripDialect()
                                 .str()
                           : "copy";
    std::string name = "k" + std::to_string(kernels.size() - before) + "_" + last;
    kernels.push_back({name, std::move(*cuda::generateKernel(*normal, name, arguments.options)),
                       anonymous->text});
    normal->erase();
  }
  return success();
}

void print(const Named &named) {
  std::printf("%s", named.kernel.text.c_str());
  for (const cuda::Launch &l : named.kernel.launches) {
    std::printf("// launch %s grid %u %u %u block %u %u %u shared %u arguments", l.function.c_str(),
                l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared);
    for (const cuda::LaunchArgument &a : l.arguments)
      std::printf(" %s%u",
                  a.kind == cuda::LaunchArgument::Kind::Input    ? "in"
                  : a.kind == cuda::LaunchArgument::Kind::Output ? "out"
                                                                 : "tmp",
                  a.index);
    std::printf("\n");
  }
  for (auto [output, input] : named.kernel.inplace)
    std::printf("// out%u may be in%u\n", output, input);
  std::printf("\n");
}

double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Compiles the kernels of a file that are not in `done` yet, on all processors.
class Compilation {
public:
  Compilation(const std::string &file, const std::string &arch, Done &done)
      : file(file), arch(arch), done(done) {}

  void run(const std::vector<Named> &kernels, bool inModules) {
    std::vector<std::vector<const Named *>> groups;
    std::set<std::string> seen;
    size_t text = 0;
    for (const Named &named : kernels) {
      if (named.kernel.launches.empty() || done.count(named.text) ||
          !seen.insert(named.text).second)
        continue;
      if (groups.empty() || !inModules || text + named.text.size() > 32 << 10) {
        groups.emplace_back();
        text = 0;
      }
      groups.back().push_back(&named);
      text += named.text.size();
    }
    fresh = seen.size();
    std::atomic<size_t> next = 0;
    auto work = [&] {
      for (size_t i; (i = next++) < groups.size();)
        compile(groups[i]);
    };
    std::vector<std::thread> others(std::max(1u, std::thread::hardware_concurrency()) - 1);
    for (std::thread &other : others)
      other = std::thread(work);
    work();
    for (std::thread &other : others)
      other.join();
  }

  size_t fresh = 0;
  int registers = 0, spills = 0;
  bool compiled = true;

private:
  void compile(const std::vector<const Named *> &group) {
    std::vector<const cuda::Kernel *> kernels;
    size_t launches = 0;
    for (const Named *named : group) {
      kernels.push_back(&named->kernel);
      launches += named->kernel.launches.size();
    }
    std::vector<unsigned> where;
    std::string error;
    double start = processorSeconds();
    auto modules = cuda::compileKernels(kernels, arch, "", 1, where, error, nullptr, ~size_t(0));
    double seconds = (processorSeconds() - start) / double(launches);
    std::lock_guard guard(lock);
    if (!modules) {
      std::printf("%s\n", error.c_str());
      compiled = false;
      return;
    }
    for (const Named *named : group)
      done[named->text] = seconds;
    for (const cuda::KernelResources &r : (*modules)[0].resources) {
      registers = std::max(registers, r.registers);
      if (r.spillStoreBytes + r.spillLoadBytes == 0)
        continue;
      // ptxas saves a register or two around subroutine calls, even far below the register limit,
      // and up to eight outside the loops of kernels that use all registers.
      constexpr int savedBytes = 32;
      spills += r.spillStoreBytes > savedBytes || r.spillLoadBytes > savedBytes;
      std::printf("%s: %s spills %d and %d bytes, %d bytes of stack, %d registers\n", file.c_str(),
                  r.name.c_str(), r.spillStoreBytes, r.spillLoadBytes, r.stackBytes, r.registers);
    }
  }

  const std::string &file, &arch;
  Done &done;
  std::mutex lock;
};

/// Prints one line for an architecture. Returns false if there was a failure.
bool compileAll(const std::string &file, const std::vector<Named> &kernels, const std::string &arch,
                bool inModules, Done &done) {
  Compilation compilation(file, arch, done);
  compilation.run(kernels, inModules);
  std::vector<double> seconds;
  for (const Named &named : kernels)
    if (auto known = done.find(named.text); known != done.end())
      seconds.push_back(known->second);
  std::sort(seconds.begin(), seconds.end());
  size_t n = seconds.size();
  std::printf("%s %s: %zu kernels, %zu of them new%s: %.3f s in the median, %.3f s at most, %d "
              "registers at most, %d spill\n",
              file.c_str(), arch.c_str(), kernels.size(), compilation.fresh,
              inModules ? ", in modules" : "",
              seconds.empty() ? 0 : (seconds[(n - 1) / 2] + seconds[n / 2]) / 2,
              seconds.empty() ? 0 : seconds.back(), compilation.registers, compilation.spills);
  return compilation.compiled && compilation.spills == 0;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (a == "--tf32")
      arguments.options.tf32 = true;
    else if (a == "--precision")
      arguments.precision = value();
    else if (a == "--multiprocessors")
      arguments.options.multiprocessors = std::atoi(value().c_str());
    else if (a == "--for")
      arguments.arch = value();
    else if (a == "--modules")
      arguments.modules = true;
    else if (a == "--compile") {
      SmallVector<StringRef> parts;
      std::string all = value();
      StringRef(all).split(parts, ',');
      for (StringRef part : parts)
        arguments.archs.push_back(part.str());
    } else
      arguments.files.push_back(a);
  }
  if (!arguments.archs.empty()) {
    std::string why;
    if (cuda::nvrtcVersion(&why).empty()) {
      std::printf("skipped: %s\n", why.c_str());
      return 0;
    }
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  bool good = true;
  std::map<std::string, Done> done;
  // The set of kernels depends on the GPU.
  std::vector<std::string> archs = arguments.archs;
  if (archs.empty())
    archs.push_back(arguments.arch);
  for (const std::string &file : arguments.files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer) {
      std::fprintf(stderr, "cuda-text: cannot read '%s'\n", file.c_str());
      return 1;
    }
    SmallVector<StringRef> texts;
    (*buffer)->getBuffer().split(texts, "\n// -----\n");
    for (const std::string &arch : archs) {
      arguments.options.sharedBytes = cuda::getSharedMemoryBytes(arch);
      arguments.options.warpgroups = cuda::hasWarpgroups(arch);
      arguments.options.bytes = cuda::multipliesBytes(arch);
      std::vector<Named> kernels;
      for (StringRef text : texts) {
        auto module = parseSourceString<ModuleOp>(text, &context, file);
        if (!module || failed(collect(*module, arguments, kernels)))
          return 1;
      }
      if (!arguments.archs.empty())
        good &= compileAll(file, kernels, arch, arguments.modules, done[arch]);
      else
        for (const Named &named : kernels)
          print(named);
    }
  }
  return good ? 0 : 1;
}

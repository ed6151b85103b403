//===- Launch.cpp - text and arguments of one kernel launch ---------------===//
#include "codegen/cuda/Plan.h"

using namespace mlir;

namespace dlc::cuda {

LaunchBuilder::LaunchBuilder(KernelGenerator &plan) : e(t, plan.indexType), plan(plan) {
  size_t number = plan.kernel.launches.size();
  function = plan.name + (number ? "_" + std::to_string(number) : "");
  e.tablePrefix = function;
  for (auto &[value, buffer] : plan.known)
    e.bind(value, buffer);
}

std::string LaunchBuilder::declare(StringRef file, StringRef classTemplate,
                                   const TemplateParameters &parameters) {
  plan.include(file.str());
  e.tables += "struct " + function + "_parameters {\n" + parameters.text + "};\n";
  return ("dk::" + classTemplate + "<" + function + "_parameters>").str();
}

void LaunchBuilder::instantiate(StringRef file, StringRef kernel,
                                const TemplateParameters &parameters,
                                ArrayRef<std::string> arguments, bool usesMemory) {
  std::string type = declare(file, kernel, parameters);
  if (usesMemory)
    t.line("__shared__ " + type + "::memory memory;");
  t.line(type + "::run(" + llvm::join(arguments, ", ") + (usesMemory ? ", memory);" : ");"));
}

void LaunchBuilder::call(StringRef file, StringRef kernel, const TemplateParameters &parameters,
                         ArrayRef<std::string> reads, ArrayRef<std::string> writes,
                         bool usesMemory) {
  for (const std::string &name : reads)
    if (name != "nullptr")
      use(name);
  for (const std::string &name : writes)
    write(name);
  instantiate(file, kernel, parameters,
              llvm::to_vector(llvm::concat<const std::string>(reads, writes)), usesMemory);
}

void LaunchBuilder::finish(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                           uint32_t shared, int64_t blocksTogether) {
  Launch launch{function, grid, block, shared, {}};
  // The kernel's arguments are in the order of the fusion's operands, results and scratch memory.
  std::vector<std::pair<KernelGenerator::Declared, std::string>> used;
  for (const std::string &name : e.used)
    used.push_back({plan.declared(name), name});
  auto order = [](const LaunchArgument &a) { return std::pair(a.kind, a.index); };
  llvm::sort(used,
             [&](auto &a, auto &b) { return order(a.first.argument) < order(b.first.argument); });
  std::string body = t.end(), signature;
  for (auto &[declared, name] : used) {
    LaunchArgument argument = declared.argument;
    argument.written |= e.written.count(name);
    bool shares = llvm::any_of(plan.kernel.inplace, [&](auto pair) {
      return (argument.kind == LaunchArgument::Kind::Output && argument.index == pair.first) ||
             (argument.kind == LaunchArgument::Kind::Input && argument.index == pair.second);
    });
    signature += (signature.empty() ? "" : ", ") + std::string(argument.written ? "" : "const ") +
                 getStorageTypeName(declared.element) + " *" + (shares ? "" : "__restrict__ ") +
                 name;
    launch.arguments.push_back(argument);
  }
  int64_t threads = int64_t(block[0]) * block[1] * block[2];
  plan.kernel.text += e.tables + "extern \"C\" __global__ void __launch_bounds__(" +
                      std::to_string(threads) +
                      (blocksTogether ? ", " + std::to_string(blocksTogether) : "") + ") " +
                      function + "(" + signature + ") {\n" + body + "}\n\n";
  plan.kernel.launches.push_back(launch);
}

} // namespace dlc::cuda

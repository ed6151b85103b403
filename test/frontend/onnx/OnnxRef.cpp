//===- OnnxRef.cpp - evaluates ONNX models with the reference evaluator ---===//
// Each directory has model.onnx and test_data_set_0 with input_N.pb and output_N.pb. Prints one
// line for each model: PASS, or FAIL and the reason. Each model runs in its own process, so that a
// crash or a hang is one failure.
#include "frontend/onnx/Import.h"
#include "frontend/onnx/file/ModelFile.h"
#include "ir/reference/Evaluate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "test/Isolated.h"
#include "test/ProcessorTime.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <iostream>

using namespace mlir;
using namespace dlc;

namespace {

struct Options {
  double rtol = 1e-3, atol = 1e-7;
  unsigned seconds = 60;
  bool print = false, importOnly = false;
  /// The elements of the outputs are written to found_N.bin, and only their types are compared.
  bool write = false;
  /// Values of inputs must not be used as constants at import.
  bool unbound = false;
  int nchwcBlock = 0;
  std::vector<std::string> shapes;
};

/// Reads a file with a serialized TensorProto.
std::optional<ref::Tensor> readTensor(const std::string &path, MLIRContext &context,
                                      std::string &reason) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  onnx::TensorProto proto;
  if (!buffer ||
      !proto.ParseFromArray((*buffer)->getBufferStart(), int((*buffer)->getBufferSize()))) {
    reason = path + " is no tensor";
    return std::nullopt;
  }
  return onnxfront::ModelFile().tensor(proto, &context, reason);
}

std::string compare(const ref::Tensor &found, const ref::Tensor &wanted, const Options &options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (found.getType() != wanted.getType()) {
    out << "type " << found.getType() << " instead of " << wanted.getType();
    return text;
  }
  // Two units in the last place of bf16, the tolerance of the onnx package's own runner.
  double rtol =
      found.getElementType().isBF16() ? std::max(options.rtol, std::ldexp(1.0, -6)) : options.rtol;
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < found.size(); ++i) {
    bool same;
    if (found.isFloat()) {
      double a = found.getDouble(i), b = wanted.getDouble(i);
      same = a == b || (std::isnan(a) && std::isnan(b)) ||
             std::abs(a - b) <= options.atol + rtol * std::abs(b);
    } else {
      same = found.getInt(i) == wanted.getInt(i);
    }
    if (!same && wrong++ == 0)
      first = i;
  }
  if (wrong)
    out << wrong << " of " << found.size() << " elements differ; element " << first << " is "
        << found.getDouble(first) << " instead of " << wanted.getDouble(first);
  return text;
}

std::string runOne(const std::string &directory, const Options &options) {
  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (messages.empty())
      messages = diagnostic.str();
    return success();
  });
  bool isFile = llvm::sys::fs::is_regular_file(directory);
  std::string model = isFile ? directory : directory + "/model.onnx";
  auto info = inspectOnnx(context, model);
  if (failed(info))
    return "inspect: " + messages;
  ImportOptions import;
  import.nchwcBlock = options.nchwcBlock;
  std::vector<ref::Tensor> inputs;
  std::string data = directory + "/test_data_set_0/", reason;
  for (size_t i = 0; !isFile && i < info->inputs.size(); ++i) {
    auto tensor = readTensor(data + "input_" + std::to_string(i) + ".pb", context, reason);
    if (!tensor)
      return "input " + std::to_string(i) + ": " + reason;
    inputs.push_back(*tensor);
    import.shapes[info->inputs[i].name] = tensor->getShape().vec();
  }
  for (const std::string &shape : options.shapes) {
    auto [name, dims] = StringRef(shape).split('=');
    SmallVector<StringRef> parts;
    dims.split(parts, 'x', -1, false);
    auto &entry = import.shapes[name.str()];
    for (StringRef part : parts) {
      int64_t dim = 0;
      if (part.getAsInteger(10, dim))
        return "--shape requires NAME=1x2x3";
      entry.push_back(dim);
    }
  }
  auto start = std::chrono::steady_clock::now();
  FailureOr<OwningOpRef<ModuleOp>> module = failure();
  std::string bound;
  for (size_t round = 0; round <= info->inputs.size(); ++round) {
    messages.clear();
    ImportInfo result;
    module = importOnnx(context, model, import, &result);
    if (succeeded(module) || result.neededValues.empty() || isFile || options.unbound)
      break;
    for (const std::string &name : result.neededValues)
      for (size_t i = 0; i < info->inputs.size(); ++i)
        if (info->inputs[i].name == name) {
          import.values[name] = inputs[i];
          bound += " " + name;
        }
  }
  double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (failed(module))
    return "import: " + messages;
  if (options.print)
    (*module)->print(llvm::outs(),
                     OpPrintingFlags().elideLargeElementsAttrs().elideLargeResourceString());
  if (options.importOnly || isFile) {
    size_t number = 0;
    (*module)->walk([&](Operation *) { ++number; });
    std::cout << "  imported " << model << ": " << number << " operations in " << took << " s\n";
    return "";
  }
  auto function = (*module)->lookupSymbol("main");
  SmallVector<ref::Tensor> outputs;
  if (failed(ref::evaluate(cast<FunctionOpInterface>(function), inputs, outputs)))
    return "evaluate: " + messages;
  ref::truncateDynamicResults(cast<FunctionOpInterface>(function), outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto wanted = readTensor(data + "output_" + std::to_string(i) + ".pb", context, reason);
    if (!wanted)
      return "output " + std::to_string(i) + ": " + reason;
    std::string difference;
    if (!options.write || outputs[i].getType() != wanted->getType())
      difference = compare(outputs[i], *wanted, options);
    if (std::error_code error; options.write) {
      llvm::raw_fd_ostream file(data + "found_" + std::to_string(i) + ".bin", error);
      file.write(outputs[i].data(), size_t(outputs[i].bytes()));
    }
    if (!difference.empty())
      return "output " + std::to_string(i) + ": " + difference;
  }
  if (!bound.empty())
    std::cout << "  bound:" << bound << "\n";
  return "";
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> directories;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--list") {
      readList(value(), directories);
    } else if (argument == "--rtol") {
      options.rtol = std::stod(value());
    } else if (argument == "--atol") {
      options.atol = std::stod(value());
    } else if (argument == "--seconds") {
      options.seconds = unsigned(std::stoul(value()));
    } else if (argument == "--print") {
      options.print = true;
    } else if (argument == "--import-only") {
      options.importOnly = true;
    } else if (argument == "--unbound") {
      options.unbound = true;
    } else if (argument == "--write") {
      options.write = true;
    } else if (argument == "--nchwc-block") {
      options.nchwcBlock = std::stoi(value());
    } else if (argument == "--shape") {
      options.shapes.push_back(value());
    } else {
      directories.push_back(argument);
    }
  }
  return runEach(directories, [&](const std::string &directory, const Say &) {
    limitProcessorTime(options.seconds);
    std::string reason = runOne(directory, options);
    llvm::outs().flush();
    return reason;
  });
}

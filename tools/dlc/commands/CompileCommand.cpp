//===- CompileCommand.cpp - dlc compile: compiles a model to a program ----===//
#include "tools/dlc/Options.h"
#include "tools/dlc/Progress.h"

#include "dlc/Error.h"
#include "runtime/program/AtomicFile.h"
#include "runtime/program/Writer.h"
#include "tools/compiler/Programs.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdio>
#include <filesystem>

namespace dlc::cli {
namespace {

/// Returns printing flags that elide large constants, because the weights of a network would hide
/// the code. Small modules are printed completely.
mlir::OpPrintingFlags elidingPrintFlags() {
  mlir::OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64);
  flags.elideLargeResourceString(64);
  return flags;
}

/// Writes the complete module. The path `-` is the standard output.
void writeModuleText(mlir::ModuleOp module, const std::string &path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, mlir::OpPrintingFlags().enableDebugInfo(true));
  text += '\n';
  if (path == "-") {
    llvm::outs() << text;
    return;
  }
  runtime::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

/// Returns the path of the file to write; an empty string if there is none. By default, if the
/// command has no other result (`isNeeded`), the program of `dir/model.onnx` is `model.dlcx` in the
/// current folder, and its training step `model-step.dlcx`. Throws dlc::Error if the file is the
/// model itself.
std::string outputOf(const CompileArguments &arguments, bool isNeeded) {
  std::filesystem::path output = arguments.output;
  if (output.empty() && isNeeded)
    output = std::filesystem::path(arguments.model).stem().string() +
             (arguments.train ? "-step.dlcx" : ".dlcx");
  std::error_code ignored;
  if (!output.empty() && std::filesystem::equivalent(output, arguments.model, ignored))
    throw Error("the output would overwrite the model; required: another file; found: '" +
                output.string() + "'; give another name with -o");
  return output.string();
}

/// Returns complete input shapes. `batch` is the first dimension of inputs for which the file does
/// not specify it.
Shapes completeShapes(const Source &source, const Shapes &given, int64_t batch, bool train) {
  auto isOpenBatch = [&](const ValueInfo &input) {
    return !given.count(input.name) && !input.shape.empty() && input.shape[0] < 0 &&
           llvm::none_of(llvm::drop_begin(input.shape), [](int64_t d) { return d < 0; });
  };
  if (batch == 0 && train)
    for (const ValueInfo &input : source.inputs())
      if (isOpenBatch(input))
        throw Error(source.path() + ": input '" + input.name + "': required: all sizes; found: " +
                    input.text() + "; give the size of a batch, as in --batch 32");
  if (batch == 0)
    return source.complete(given);
  for (const ValueInfo &input : source.inputs())
    if (!given.count(input.name) && !input.shape.empty() && input.shape[0] >= 0 &&
        input.shape[0] != batch)
      throw Error(
          source.path() + ": input '" + input.name + "' is " + input.text() +
          "; required for --batch " + std::to_string(batch) +
          ": that first dimension, or a dynamic one (export the model with a dynamic batch)");
  return source.complete(given, [&](const ValueInfo &input, size_t dimension) {
    if (dimension != 0)
      throw Error(source.path() + ": " + input.shapeRequest());
    return batch;
  });
}

} // namespace

CompiledModel compileFromArguments(const CompileArguments &arguments,
                                   const CompileOptions &options) {
  CompiledModel made;
  made.source = std::make_unique<Source>(arguments.model);
  Source &source = *made.source;
  source.requireModel();
  if (!arguments.init.empty())
    source.setWeights(arguments.init);
  Values values = readInputs(arguments.inputs, source);
  Shapes shapes =
      completeShapes(source, getInputShapes(arguments, values), arguments.batch, arguments.train);
  if (arguments.train) {
    if (!values.empty())
      throw Error("--input has no effect with --train: a training step is compiled without data; "
                  "remove it");
    if (arguments.training.dataParallel && !options.split.empty())
      throw Error("--split and --data-parallel cannot be combined: ranks that split parameters "
                  "process the same batch; remove one of them");
    TrainingOptions training = arguments.training;
    training.nchwcBlock = options.nchwcBlock;
    if (training.dataParallel)
      training.world = options.world;
    made.step = buildTrainingStep(source, shapes, training);
    shapes = made.step.source->complete({});
  }
  std::set<std::string> bound;
  made.program = compileSource(made.step.source ? *made.step.source : source, shapes, values,
                               options, bound, &made.module);
  if (made.program && arguments.train)
    made.program->manifest["training"] = made.step.about;
  return made;
}

int compileCommand(const CompileArguments &arguments) {
  auto start = std::chrono::steady_clock::now();
  CompileOptions options = arguments.options;
  if (!arguments.from.empty())
    options.from = parsePhase(arguments.from);
  if (!arguments.to.empty())
    options.to = parsePhase(arguments.to);
  if (options.from > options.to && options.to != Phase::Import)
    throw Error("--from " + arguments.from + " comes after --to " + phaseName(options.to).str());
  bool printAll = false;
  std::vector<Phase> printed;
  for (const std::string &name : arguments.printAfter) {
    if (name == "all")
      printAll = true;
    else
      printed.push_back(parsePhase(name));
  }
  bool wantsText = options.to != Phase::Native;
  const bool needsOutput = !wantsText && !printAll && printed.empty() && !arguments.time;
  const std::string output = outputOf(arguments, needsOutput);
  if (output == "-" && !wantsText)
    throw Error("-o -: required: --to PHASE, because only text can be written to the standard "
                "output; give a file name for the program");

  ProgressBar progress;
  std::vector<std::pair<Phase, double>> seconds;
  options.afterPhase = [&](Phase phase, mlir::ModuleOp module, double taken) {
    seconds.push_back({phase, taken});
    if (printAll || llvm::is_contained(printed, phase)) {
      progress.clear();
      llvm::outs() << "// ----- after " << phaseName(phase) << " -----\n";
      module.print(llvm::outs(), elidingPrintFlags());
      llvm::outs() << "\n";
      llvm::outs().flush();
    }
    progress.show("compiling", int(phase) + 1, int(Phase::Native) + 1);
  };
  options.progress = [&](llvm::StringRef what, int done, int total) {
    progress.show(what.str(), done, total);
  };

  CompiledModel made = compileFromArguments(arguments, options);
  mlir::OwningOpRef<mlir::ModuleOp> &module = made.module;
  const std::shared_ptr<runtime::Program> &program = made.program;
  progress.clear();

  if (wantsText) {
    if (!output.empty())
      writeModuleText(*module, output);
    else if (!printAll && printed.empty()) {
      module->print(llvm::outs(), elidingPrintFlags());
      llvm::outs() << "\n";
    }
  } else if (!output.empty()) {
    auto writing = std::chrono::steady_clock::now();
    runtime::writeProgram(*program, output);
    if (arguments.output.empty())
      std::printf("wrote %s\n", output.c_str());
    if (arguments.time)
      std::printf(
          "%-10s %9.3f s\n", "write",
          std::chrono::duration<double>(std::chrono::steady_clock::now() - writing).count());
  }
  if (arguments.time) {
    for (auto &[phase, taken] : seconds)
      std::printf("%-10s %9.3f s\n", phaseName(phase).str().c_str(), taken);
    std::printf("%-10s %9.3f s   peak %.0f MiB\n", "all",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                peakMib());
  }
  return 0;
}

} // namespace dlc::cli

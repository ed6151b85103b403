//===- Run.cpp - runs random graphs through the whole compiler ---------------------===//
//
//   dlc-graphs [--list FILE] [--seconds S] DIRECTORY...
//
// Each directory has model.onnx and its inputs input_N.npy. Outputs of another framework are in
// output_N.npy, if there are any. A file `steps` marks models in which small errors may become
// large ones. `checks.json` (chains.py) specifies how each output is compared at the default
// accuracy; at strict accuracy the results must then equal the reference evaluator's bit by bit.
// The reference evaluator's results are compared with output_N.npy, and the program's results with
// the reference evaluator's. How a model is compiled is drawn at random, seeded by its name: with
// default options, or with some placement, precision, kernels or accuracy. Each model runs in its
// own process, so that a crash or a hang is one failure. Prints one line for each model: PASS, or
// FAIL, the variant and the reason.
//
//===--------------------------------------------------------------------------------===//
#include "codegen/Pipeline.h"
#include "frontend/onnx/Import.h"
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "passes/QuantizedWeights.h"
#include "passes/simplify/Constants.h"
#include "runtime/program/arrays/Npy.h"
#include "runtime/session/Session.h"
#include "test/Isolated.h"
#include "test/ProcessorTime.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace dlc;

namespace {

/// Options with which a model is compiled, and the relative error of the inputs that corresponds to
/// their arithmetic.
struct Variant {
  std::string text;
  CompileOptions options;
  double error = 1e-5;
};

Variant drawVariant(const std::string &name, ModuleOp module, bool hasSteps) {
  std::mt19937_64 random(std::hash<std::string>()(name));
  auto one = [&](std::initializer_list<const char *> of) {
    return of.begin()[random() % of.size()];
  };
  Variant v;
  v.options.threads = 1 + random() % 3;
  v.text = "threads " + std::to_string(v.options.threads);
  switch (random() % 7) {
  case 0:
    v.options.kernels = one({"generated", "onednn", "rows", "contract", "builtin"});
    v.text += ", kernels " + v.options.kernels;
    break;
  case 1:
    if (!hasSteps) {
      v.options.precision = one({"bf16", "f16"});
      v.error = 8e-3;
      v.text += ", precision " + v.options.precision;
    }
    break;
  case 2: {
    // Places are drawn for operations that remain after simplification, because places are assigned
    // then. Constants and quantized weights are placed with their users.
    OwningOpRef<ModuleOp> simplified = module.clone();
    CompileOptions first;
    first.to = Phase::Simplify;
    if (failed(compile(*simplified, first)))
      break;
    std::vector<std::string> place;
    simplified->walk([&](Operation *op) {
      // Each node has its own random choice, so that its place is the same if only a part of the
      // graph is compiled.
      if (auto node = dyn_cast<NameLoc>(op->getLoc());
          node && !isa<ConstantOp, YieldOp>(op) &&
          !(isa<DequantizeOp>(op) && isQuantizedWeights(op->getResult(0))) &&
          std::hash<std::string>()(name + node.getName().str()) % 3 == 0)
        place.push_back(node.getName().str() + "=cpu:1");
    });
    std::sort(place.begin(), place.end());
    place.erase(std::unique(place.begin(), place.end()), place.end());
    v.options.place = place;
    v.text += ", place";
    for (const std::string &each : place)
      v.text += " " + each;
    break;
  }
  case 3:
    v.options.accuracy = "strict";
    v.text += ", accuracy strict";
    break;
  default: // default options
    break;
  }
  return v;
}

/// Draws how a chain of exact operations is compiled.
Variant drawChainVariant(const std::string &name) {
  std::mt19937_64 random(std::hash<std::string>()(name));
  Variant v;
  v.options.threads = 1 + random() % 3;
  v.options.accuracy = random() % 2 ? "strict" : "default";
  v.text = "threads " + std::to_string(v.options.threads) + ", accuracy " + v.options.accuracy;
  if (random() % 4 == 0) {
    v.options.kernels = "generated";
    v.text += ", kernels generated";
  }
  return v;
}

FailureOr<ref::Tensor> read(const std::string &path, Type type) {
  runtime::NpyArray array = runtime::readNpy(path);
  ref::Tensor tensor = ref::Tensor::empty(cast<RankedTensorType>(type));
  if (!llvm::equal(array.shape, tensor.getShape()) || array.data.bytes != size_t(tensor.bytes()))
    return failure();
  std::memcpy(tensor.mutableData(), array.data.data, tensor.bytes());
  return tensor;
}

/// Returns the tensor with a relative error of `error`, of random sign, added to each float.
ref::Tensor disturbed(const ref::Tensor &tensor, double error, uint64_t seed) {
  ref::Tensor other = ref::Tensor::empty(tensor.getType());
  std::memcpy(other.mutableData(), tensor.data(), tensor.bytes());
  std::mt19937_64 random(seed);
  if (tensor.isFloat())
    for (int64_t i = 0; i < tensor.size(); ++i)
      other.setDouble(i, tensor.getDouble(i) * (random() % 2 ? 1 + error : 1 - error));
  return other;
}

void disturb(ConstantOp op, double error, uint64_t seed) {
  auto tensor = ref::Tensor::fromAttr(op.getValue());
  if (succeeded(tensor) && tensor->isFloat())
    op.setValueAttr(
        constantAttr(disturbed(*tensor, error, seed), cast<RankedTensorType>(op.getType())));
}

double largestOf(const ref::Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (std::isfinite(tensor.getDouble(i)))
      largest = std::max(largest, std::fabs(tensor.getDouble(i)));
  return largest;
}

double apart(const ref::Tensor &a, const ref::Tensor &b) {
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    if (double d = std::fabs(a.getDouble(i) - b.getDouble(i)); std::isfinite(d))
      largest = std::max(largest, d);
  return largest;
}

/// Returns a description of the largest difference that exceeds `allowed`, or "".
std::string compare(const ref::Tensor &got, const ref::Tensor &want, double allowed) {
  int64_t wrong = 0, worst = -1;
  double most = -1;
  for (int64_t i = 0; i < want.size(); ++i) {
    double g = got.getDouble(i), w = want.getDouble(i);
    bool same = want.isFloat()
                    ? g == w || (std::isnan(g) && std::isnan(w)) || std::fabs(g - w) <= allowed
                    : got.getInt(i) == want.getInt(i);
    if (same)
      continue;
    ++wrong;
    double far = std::isfinite(g - w) ? std::fabs(g - w) : INFINITY;
    if (far > most)
      most = far, worst = i;
  }
  if (!wrong)
    return "";
  return llvm::formatv(
      "{0} of {1} elements differ, most [{2}]: {3:e5} instead of {4:e5}, {5:e2} allowed", wrong,
      want.size(), worst, got.getDouble(worst), want.getDouble(worst), allowed);
}

/// Checks that each position is inside of the axis and that its element is close enough to the
/// expected one. Returns a description of the error, or "". `distances` has the distances of all
/// elements of the axis for each result, in units of the permitted error.
std::string compareIndices(const ref::Tensor &got, const runtime::NpyArray &distances) {
  int64_t size = distances.shape.back();
  auto *all = reinterpret_cast<const float *>(distances.data.data);
  for (int64_t i = 0; i < got.size(); ++i) {
    int64_t index = got.getInt(i);
    if (index < 0 || index >= size)
      return llvm::formatv("[{0}]: index {1} of an axis of {2}", i, index, size);
    if (float distance = all[i * size + index]; !(distance <= 1))
      return llvm::formatv("[{0}]: element {1} is {2:e2} times as far from the extreme as allowed",
                           i, index, distance);
  }
  return "";
}

/// Checks that no finite nonzero number became infinite, NaN or 0. With `bothWays` the reverse is
/// checked, too. Values of magnitude below `least`, or from `most` on, are not checked, because
/// skipped roundings may make them 0 or infinite. Returns a description of the error, or "".
std::string compareClasses(const ref::Tensor &got, const ref::Tensor &want, bool bothWays,
                           double least, double most) {
  for (int64_t i = 0; i < want.size(); ++i) {
    double g = got.getDouble(i), w = want.getDouble(i);
    auto isOrdinary = [](double x) { return std::isfinite(x) && x != 0; };
    auto isSmall = [&](double x) { return x != 0 && std::fabs(x) < least; };
    bool isChecked = !isSmall(g) && !isSmall(w) && (isOrdinary(w) || bothWays) &&
                     !(std::isfinite(w) && std::fabs(w) >= most);
    if (isChecked && (isOrdinary(g) != isOrdinary(w) || std::isnan(g) != std::isnan(w) ||
                      (!isOrdinary(w) && !std::isnan(w) && g != w)))
      return llvm::formatv("[{0}]: {1:e5} instead of {2:e5}", i, g, w);
  }
  return "";
}

/// As compare, with an absolute tolerance and also for integers.
std::string compareNear(const ref::Tensor &got, const ref::Tensor &want, double allowed) {
  for (int64_t i = 0; i < want.size(); ++i)
    if (double g = got.getDouble(i), w = want.getDouble(i); !(std::fabs(g - w) <= allowed))
      return llvm::formatv("[{0}]: {1:e5} instead of {2:e5}, {3:e2} allowed", i, g, w, allowed);
  return "";
}

class Graph {
public:
  /// The variant is passed to `say` before it is run.
  Graph(const std::string &directory, Say say)
      : directory(directory), say(std::move(say)), handler(&context, [&](Diagnostic &d) {
          if (d.getSeverity() == DiagnosticSeverity::Error)
            messages += (messages.empty() ? "" : "; ") + d.str();
          return success();
        }) {}

  std::string run() {
    auto imported = importOnnx(context, directory + "/model.onnx", {}, nullptr);
    if (failed(imported))
      return "import: " + messages;
    module = std::move(*imported);
    auto function = cast<func::FuncOp>(module->lookupSymbol("main"));
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto tensor = read(directory + "/input_" + std::to_string(i) + ".npy", type);
      if (failed(tensor))
        return "input " + std::to_string(i) + " has another type than the graph says";
      inputs.push_back(*tensor);
    }
    if (failed(ref::evaluate(function, inputs, want)))
      return "reference: " + messages;
    if (std::string why = compareWithOthers(); !why.empty())
      return "reference against the other framework: " + why;
    const bool hasSteps = llvm::sys::fs::exists(directory + "/steps");
    std::string name = directory.substr(directory.find_last_of('/') + 1);
    if (auto text = llvm::MemoryBuffer::getFile(directory + "/checks.json")) {
      llvm::Expected<llvm::json::Value> parsed = llvm::json::parse((*text)->getBuffer());
      if (!parsed || !parsed->getAsArray() || parsed->getAsArray()->size() != want.size())
        return llvm::consumeError(parsed.takeError()),
               "checks.json is no list of the outputs' checks";
      checks = *parsed->getAsArray();
    }
    Variant variant = checks ? drawChainVariant(name) : drawVariant(name, *module, hasSteps);
    say(variant.text + ": ");
    return check(variant);
  }

private:
  /// Returns the change of each output if the inputs, or the constants, have the relative error.
  std::vector<double> spread(double error, bool ofConstants) {
    std::vector<double> most(want.size());
    // Errors of one sample may cancel, so the maximum over several samples is used.
    for (size_t sample = 0; sample < 3; ++sample) {
      OwningOpRef<ModuleOp> copy = module->clone();
      std::vector<ref::Tensor> near = inputs;
      SmallVector<ref::Tensor> other;
      uint64_t seed = sample * 1000;
      if (ofConstants)
        copy->walk([&](ConstantOp op) { disturb(op, error, ++seed); });
      else
        for (ref::Tensor &tensor : near)
          tensor = disturbed(tensor, error, ++seed);
      if (failed(ref::evaluate(cast<func::FuncOp>(copy->lookupSymbol("main")), near, other)))
        continue;
      for (size_t n = 0; n < want.size(); ++n)
        if (want[n].isFloat())
          most[n] = std::max(most[n], apart(other[n], want[n]));
    }
    return most;
  }

  double allowedOf(size_t i, double error) {
    auto [at, isNew] = spreads.try_emplace(error);
    std::vector<double> &known = at->second;
    if (isNew) {
      known = spread(error, false);
      // Outputs that depend on integer inputs only still depend on constants, such as the scales of
      // quantized values.
      if (llvm::any_of(llvm::zip_equal(known, want), [](auto each) {
            return std::get<0>(each) == 0 && std::get<1>(each).isFloat();
          }))
        for (auto [one, other] : llvm::zip_equal(known, spread(error, true)))
          one = one == 0 ? other : one;
    }
    // If values near 1 cancel, their rounding error remains, which is a small part of `error`.
    return 10 * (error * largestOf(want[i]) + known[i]) + error / 10;
  }

  std::string compareWithOthers() {
    SmallVector<ref::Tensor> seen = want;
    ref::truncateDynamicResults(cast<FunctionOpInterface>(module->lookupSymbol("main")), seen);
    for (size_t i = 0; i < seen.size(); ++i) {
      std::string path = directory + "/output_" + std::to_string(i) + ".npy";
      if (!llvm::sys::fs::exists(path))
        continue;
      auto other = read(path, seen[i].getType());
      if (failed(other))
        return "output " + std::to_string(i) + " has another type";
      if (std::string why = compare(seen[i], *other, allowedOf(i, 1e-5)); !why.empty())
        return "output " + std::to_string(i) + ": " + why;
    }
    return "";
  }

  /// Compares an output of a chain as checks.json specifies.
  std::string compareChain(size_t i, const ref::Tensor &got, bool isStrict) {
    const llvm::json::Object &how = *(*checks)[i].getAsObject();
    StringRef kind = how.getString("is").value_or("");
    if (isStrict)
      return compare(got, want[i], 0);
    if (kind == "near")
      return compareNear(got, want[i], how.getNumber("tolerance").value_or(0));
    if (kind == "class")
      return compareClasses(got, want[i], how.getBoolean("both_ways").value_or(false),
                            how.getNumber("least").value_or(1.2e-38),
                            how.getNumber("most").value_or(INFINITY));
    if (kind == "index")
      return compareIndices(
          got, runtime::readNpy(directory + "/" + how.getString("distances").value_or("").str()));
    return kind == "any" ? "" : "checks.json has no kind '" + kind.str() + "'";
  }

  std::string check(const Variant &variant) {
    messages.clear();
    OwningOpRef<ModuleOp> copy = module->clone();
    auto program = compile(*copy, variant.options);
    if (failed(program) || !*program)
      return "does not compile: " + messages;
    std::vector<ref::Tensor> got;
    std::vector<const void *> from;
    std::vector<void *> to;
    for (const ref::Tensor &tensor : inputs)
      from.push_back(tensor.data());
    for (const ref::Tensor &tensor : want) {
      got.push_back(ref::Tensor::empty(tensor.getType()));
      // Fills the result with a pattern, so that elements that a kernel does not write are wrong.
      std::memset(got.back().mutableData(), 0x5b, got.back().bytes());
      to.push_back(got.back().mutableData());
    }
    try {
      runtime::Session session(*program);
      session.run(from, to);
      // The second run starts with the memory contents that the first one left.
      session.run(from, to);
    } catch (const std::exception &error) {
      return std::string("does not run: ") + error.what();
    }
    for (size_t i = 0; i < want.size(); ++i)
      if (std::string why = checks ? compareChain(i, got[i], variant.options.accuracy == "strict")
                                   : compare(got[i], want[i], allowedOf(i, variant.error));
          !why.empty())
        return "output " + std::to_string(i) + ": " + why;
    return "";
  }

  std::string directory, messages;
  Say say;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  std::vector<ref::Tensor> inputs;
  SmallVector<ref::Tensor> want;
  std::optional<llvm::json::Array> checks; ///< contents of checks.json, for chains
  std::map<double, std::vector<double>> spreads;
};

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> directories;
  unsigned seconds = 60;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--list") {
      readList(value(), directories);
    } else if (argument == "--seconds") {
      seconds = unsigned(std::stoul(value()));
    } else {
      directories.push_back(argument);
    }
  }
  return runEach(directories, [&](const std::string &directory, const Say &say) -> std::string {
    limitProcessorTime(seconds);
    try {
      return Graph(directory, say).run();
    } catch (const std::exception &error) {
      return error.what();
    }
  });
}

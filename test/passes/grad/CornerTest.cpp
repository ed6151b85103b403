//===- CornerTest.cpp - gradients at ties, kinks, bounds and zeros --------===//
//
// Finite differences are meaningless at these points, so each case specifies the gradient of a sum
// of results. The gradient is checked for the reference evaluator and for compiled programs with
// dlc.gradient: rewrites before the grad pass must not change it.
//
//===----------------------------------------------------------------------===//
#include "codegen/options/Context.h"
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"
#include "test/conformance/Runner.h"
#include "test/passes/grad/Harness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <limits>
#include <ostream>

using namespace mlir;

namespace dlc::gradtest {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Corner {
  std::string name;
  /// Operands %a0, %a1, ..., which are vectors of the element type FF.
  std::vector<std::vector<double>> operands;
  /// Text that computes %y, whose type is `result`. %zero and %one are scalar constants.
  std::string body, result;
  /// Expected gradient with respect to each operand.
  std::vector<std::vector<double>> gradients;
  /// Whether kernels for f64 exist.
  bool inF64 = true;
};

void PrintTo(const Corner &c, std::ostream *stream) { *stream << c.name; }

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string vectorType(size_t size) { return "tensor<" + std::to_string(size) + "xFF>"; }

/// Returns the text of one operation on vectors of the same type.
std::string operation(const std::string &text, size_t size, int operands) {
  std::string types;
  for (int i = 0; i < operands; ++i)
    types += (i ? ", " : "") + vectorType(size);
  return text + " : (" + types + ") -> " + vectorType(size) + "\n";
}

std::string moduleText(const Corner &c, const std::string &element) {
  std::string arguments, names, types, results;
  for (auto [i, values] : llvm::enumerate(c.operands)) {
    std::string comma = i ? ", " : "", number = std::to_string(i), type = vectorType(values.size());
    arguments += comma + "%a" + number + ": " + type + " {dlc.name = \"x" + number + "\"}";
    results += comma + type + " {dlc.name = \"y" + number + "\"}";
    names += comma + "%a" + number;
    types += comma + type;
  }
  std::string count = std::to_string(c.operands.size()), returned;
  for (size_t i = 0; i < c.operands.size(); ++i)
    returned += (i ? ", %d#" : "%d#") + std::to_string(i);
  std::string text = "func.func @main(" + arguments + ") -> (" + results + ") {\n" +
                     "%zero = dlc.constant dense<0.0> : tensor<FF>\n" +
                     "%one = dlc.constant dense<1.0> : tensor<FF>\n" + c.body +
                     "%dy = dlc.constant dense<1.0> : " + c.result + "\n%d:" + count +
                     " = dlc.gradient(%y) seeds(%dy) in (" + names + ") : (" + c.result + ", " +
                     c.result + ", " + types + ") -> (" + types + ")\nreturn " + returned + " : " +
                     types + "\n}";
  return replaced(text, "FF", element);
}

std::vector<ref::Tensor> inputsOf(const Corner &c, Type element) {
  std::vector<ref::Tensor> inputs;
  for (const std::vector<double> &values : c.operands) {
    inputs.push_back(ref::Tensor::empty(RankedTensorType::get({int64_t(values.size())}, element)));
    for (auto [i, value] : llvm::enumerate(values))
      inputs.back().setDouble(int64_t(i), value);
  }
  return inputs;
}

void expectGradients(const Corner &c, ArrayRef<ref::Tensor> got, double tolerance) {
  ASSERT_EQ(got.size(), c.gradients.size());
  for (auto [i, want] : llvm::enumerate(c.gradients)) {
    ASSERT_EQ(got[i].size(), int64_t(want.size()));
    for (auto [e, value] : llvm::enumerate(want)) {
      double found = got[i].getDouble(int64_t(e));
      // The tolerance is at least 1e-15, because exp(-40) is 0 in f16.
      double allowed = tolerance * std::abs(value) + 1e-15;
      bool isSame = found == value || std::abs(found - value) <= allowed;
      EXPECT_TRUE(isSame) << "operand " << i << ", element " << e << ": required: " << value
                          << "; found: " << found;
    }
  }
}

struct Parsed {
  explicit Parsed(const Corner &c, const std::string &element)
      : context(MLIRContext::Threading::DISABLED) {
    prepareContext(context);
    module = parseSourceString<ModuleOp>(moduleText(c, element), &context);
    if (module)
      inputs = inputsOf(c, cast<RankedTensorType>(main().getArgumentTypes()[0]).getElementType());
  }
  func::FuncOp main() { return module->lookupSymbol<func::FuncOp>("main"); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<ref::Tensor> inputs;
};

void checkReference(const Corner &c) {
  Parsed parsed(c, "f64");
  ASSERT_TRUE(parsed.module) << moduleText(c, "f64");
  PassManager passes(&parsed.context);
  passes.addPass(createGradPass());
  ASSERT_TRUE(succeeded(passes.run(*parsed.module)));
  SmallVector<ref::Tensor> gradients;
  ASSERT_TRUE(succeeded(ref::evaluate(parsed.main(), parsed.inputs, gradients)));
  expectGradients(c, gradients, 1e-12);
}

void checkPipeline(const Corner &c, const std::string &element, double tolerance) {
  Parsed parsed(c, element);
  ASSERT_TRUE(parsed.module) << moduleText(c, element);
  std::vector<ref::Tensor> gradients;
  ASSERT_EQ(runCompiled(*parsed.module, parsed.inputs, gradients), "");
  expectGradients(c, gradients, tolerance);
}

void addExtremes(std::vector<Corner> &corners) {
  auto extreme = [&](const std::string &name, const std::string &op, std::vector<double> a,
                     std::vector<double> da, std::vector<double> db) {
    std::vector<double> b(a.size(), 1);
    corners.push_back(
        {name, {a, b}, operation("%y = " + op, a.size(), 2), vectorType(a.size()), {da, db}});
  };
  extreme("max", "dlc.max %a0, %a1", {1, 2, 0}, {0.5, 1, 0}, {0.5, 0, 1});
  extreme("min", "dlc.min %a0, %a1", {1, 2, 0}, {0.5, 0, 1}, {0.5, 1, 0});
  extreme("max strict", "dlc.max %a0, %a1 {strict}", {1, 2, 0}, {0, 1, 0}, {0, 0, 1});
  extreme("min strict", "dlc.min %a0, %a1 {strict}", {1, 2, 0}, {0, 0, 1}, {0, 1, 0});
  // A NaN operand receives the gradient, unless the maximum is strict.
  extreme("max of NaN", "dlc.max %a0, %a1", {nan, 2}, {1, 1}, {1, 0});
  extreme("max of NaN strict", "dlc.max %a0, %a1 {strict}", {nan, 2}, {0, 1}, {0, 0});

  auto ofOne = [&](const std::string &name, std::vector<double> x, std::vector<double> dx,
                   const std::string &body) {
    corners.push_back({name, {x}, body, vectorType(x.size()), {dx}});
  };
  const std::string scalar = " : (tensor<3xFF>, tensor<FF>) -> tensor<3xFF>\n";
  ofOne("max with 0", {0, 1, -1}, {0.5, 1, 0}, "%y = dlc.max %a0, %zero" + scalar);
  ofOne("max of 0", {0, 1, -1}, {0.5, 1, 0},
        "%y = dlc.max %zero, %a0 : (tensor<FF>, tensor<3xFF>) -> tensor<3xFF>\n");
  ofOne("max with 0 strict", {0, 1, -1}, {0, 1, 0}, "%y = dlc.max %a0, %zero {strict}" + scalar);
  ofOne("max with itself", {0, 1, -1}, {1, 1, 1}, operation("%y = dlc.max %a0, %a0", 3, 2));
  ofOne("relu", {0, 1, -1}, {0, 1, 0}, operation("%y = dlc.relu %a0", 3, 1));
  ofOne("abs", {0, 1, -1}, {0, 1, -1}, operation("%y = dlc.abs %a0", 3, 1));
  ofOne("clamp", {0, 1, 0.5}, {0, 0, 1},
        "%low = dlc.max %a0, %zero {strict}" + scalar + "%y = dlc.min %low, %one {strict}" +
            scalar);
  // log(1 + e^x), alone and as the operand of a tanh (mish) that a pass rewrites
  std::string softplus = "%m = dlc.max %a0, %zero" + scalar + operation("%b = dlc.abs %a0", 3, 1) +
                         operation("%n = dlc.neg %b", 3, 1) + operation("%e = dlc.exp %n", 3, 1) +
                         operation("%l = dlc.log1p %e", 3, 1);
  ofOne("softplus", {0, 40, -40}, {0.5, 1, 0}, softplus + operation("%y = dlc.add %m, %l", 3, 2));
  ofOne("mish", {0, 40, 20}, {0.6, 1, 1},
        softplus + operation("%s = dlc.add %m, %l", 3, 2) + operation("%t = dlc.tanh %s", 3, 1) +
            operation("%y = dlc.mul %a0, %t", 3, 2));
}

void addFunctions(std::vector<Corner> &corners) {
  auto function = [&](const std::string &name, std::vector<std::vector<double>> operands,
                      std::vector<std::vector<double>> gradients, const std::string &body,
                      const std::string &result = {}) {
    corners.push_back({name, operands, body,
                       result.empty() ? vectorType(operands[0].size()) : result, gradients});
  };
  function("pow", {{0, 0, 0, 0}, {0, 1, 2, -1}}, {{0, 1, 0, -inf}, {0, 0, 0, -inf}},
           operation("%y = dlc.pow %a0, %a1", 4, 2));
  function("pow/0", {{0, 2}}, {{0, 0}},
           "%y = dlc.pow %a0, %zero : (tensor<2xFF>, tensor<FF>) -> tensor<2xFF>\n");
  function("atan2", {{0, 1}, {0, 0}}, {{0, 0}, {0, -1}},
           operation("%y = dlc.atan2 %a0, %a1", 2, 2));
  function("sqrt", {{0, 4}}, {{inf, 0.25}}, operation("%y = dlc.sqrt %a0", 2, 1));
  const std::string sum = "%s = dlc.reduce sum %p axes [0] : (tensor<2xFF>) -> tensor<FF>\n";
  const std::string root = "%y = dlc.pow %s, %r : (tensor<FF>, tensor<FF>) -> tensor<FF>\n";
  auto powers = [&](const std::string &exponent, const std::string &inverse) {
    return "%q = dlc.constant dense<" + exponent + "> : tensor<FF>\n%r = dlc.constant dense<" +
           inverse + "> : tensor<FF>\n" + operation("%b = dlc.abs %a0", 2, 1) +
           "%p = dlc.pow %b, %q : (tensor<2xFF>, tensor<FF>) -> tensor<2xFF>\n" + sum + root;
  };
  function("norm 2", {{0, 0}}, {{0, 0}},
           operation("%p = dlc.mul %a0, %a0", 2, 2) + sum +
               "%y = dlc.sqrt %s : (tensor<FF>) -> tensor<FF>\n",
           "tensor<FF>");
  function("norm 4", {{0, 0}}, {{0, 0}}, powers("4.0", "0.25"), "tensor<FF>");
  // These are simplified to products before the gradient is computed.
  function("norm 3", {{0, 0}}, {{0, 0}}, powers("3.0", "0.33333334"), "tensor<FF>");
  function("norm 0.5", {{0, 1}}, {{0, 1}}, powers("0.5", "2.0"), "tensor<FF>");
  function("hypotenuse", {{0, 3}, {0, 4}}, {{0, 0.6}, {0, 0.8}},
           operation("%p = dlc.mul %a0, %a0", 2, 2) + operation("%q = dlc.mul %a1, %a1", 2, 2) +
               operation("%s = dlc.add %p, %q", 2, 2) + operation("%y = dlc.sqrt %s", 2, 1));
}

void addReductions(std::vector<Corner> &corners) {
  auto reduction = [&](const std::string &name, std::vector<std::vector<double>> operands,
                       std::vector<std::vector<double>> gradients, const std::string &body,
                       const std::string &result) {
    corners.push_back({name, operands, body, result, gradients});
  };
  auto whole = [&](const std::string &kind) {
    return "%y = dlc.reduce " + kind + " %a0 axes [0] : (tensor<3xFF>) -> tensor<FF>\n";
  };
  reduction("reduce/max", {{2, 2, 1}}, {{0.5, 0.5, 0}}, whole("max"), "tensor<FF>");
  reduction("reduce/min", {{2, 1, 1}}, {{0, 0.5, 0.5}}, whole("min"), "tensor<FF>");
  reduction("reduce/prod", {{0, 2, 4}}, {{8, 0, 0}}, whole("prod"), "tensor<FF>");
  reduction("reduce/prod of two zeros", {{0, 2, 0}}, {{0, 0, 0}}, whole("prod"), "tensor<FF>");
  reduction("reduce/max of parts", {{2, 2, 2}, {2}}, {{0.25, 0.25, 0.25}, {0.25}},
            "%c = dlc.concat 0 (%a0, %a1) : (tensor<3xFF>, tensor<1xFF>) -> tensor<4xFF>\n"
            "%y = dlc.reduce max %c axes [0] : (tensor<4xFF>) -> tensor<FF>\n",
            "tensor<FF>");
  for (bool last : {false, true})
    reduction(last ? "gather/last" : "gather/first", {{2, 2, 1}},
              {last ? std::vector<double>{0, 1, 0} : std::vector<double>{1, 0, 0}},
              std::string("%i = dlc.arg_reduce max %a0 axis 0 keepdims ") + (last ? "last " : "") +
                  ": (tensor<3xFF>) -> tensor<1xi64>\n"
                  "%y = dlc.gather_elements 0 %a0, %i : (tensor<3xFF>, tensor<1xi64>) -> "
                  "tensor<1xFF>\n",
              "tensor<1xFF>");
  reduction("topk", {{2, 2, 1}}, {{1, 0, 0}},
            "%y, %i = dlc.topk %a0 {k = 1 : i64, axis = 0 : i64} : (tensor<3xFF>) -> "
            "(tensor<1xFF>, tensor<1xi64>)\n",
            "tensor<1xFF>");
  auto running = [&](const std::string &flags) {
    return "%y = dlc.cumulative prod %a0 axis 0" + flags + " : (tensor<4xFF>) -> tensor<4xFF>\n";
  };
  reduction("cumulative/prod", {{1, 0, 2, 0}}, {{1, 3, 0, 0}}, running(""), vectorType(4));
  reduction("cumulative/prod exclusive", {{1, 0, 2, 0}}, {{1, 3, 0, 0}}, running(" exclusive"),
            vectorType(4));
  reduction("cumulative/prod reverse", {{0, 2, 0, 1}}, {{0, 0, 3, 1}}, running(" reverse"),
            vectorType(4));
  reduction("max_pool", {{1, 1, 0, 1}, {2, 4}}, {{2, 0, 0, 4}, {1, 1}},
            "%r = dlc.reshape %a0 : (tensor<4xFF>) -> tensor<1x1x1x4xFF>\n"
            "%p = dlc.max_pool %r {window = array<i64: 1, 2>, strides = array<i64: 1, 2>, "
            "dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : "
            "(tensor<1x1x1x4xFF>) -> tensor<1x1x1x2xFF>\n"
            "%y = dlc.mul %p, %a1 : (tensor<1x1x1x2xFF>, tensor<2xFF>) -> tensor<1x1x1x2xFF>\n",
            "tensor<1x1x1x2xFF>");
  corners.back().inF64 = false;
}

void addScatters(std::vector<Corner> &corners) {
  auto scatter = [&](const std::string &name, const std::string &kind, const std::string &indices,
                     std::vector<std::vector<double>> operands,
                     std::vector<std::vector<double>> gradients) {
    std::string updates = std::to_string(operands[1].size());
    std::string body = "%i = dlc.constant dense<" + indices + "> : tensor<" + updates +
                       "xi64>\n%y = dlc.scatter_elements " + kind +
                       " 0 %a0, %i, %a1 : (tensor<2xFF>, tensor<" + updates + "xi64>, tensor<" +
                       updates + "xFF>) -> tensor<2xFF>\n";
    corners.push_back({name, operands, body, "tensor<2xFF>", gradients});
  };
  const double third = 1.0 / 3;
  scatter("scatter/max", "max", "[0, 0, 1]", {{1, 2}, {1, 1, 3}}, {{third, 0}, {third, third, 1}});
  scatter("scatter/min", "min", "[0, 0, 1]", {{1, 2}, {1, 1, 3}}, {{third, 1}, {third, third, 0}});
  scatter("scatter/max of all", "max", "[0, 1]", {{1, 2}, {1, 3}}, {{0.5, 0}, {0.5, 1}});
  scatter("scatter/mul", "mul", "[0, 0, 1]", {{1, 2}, {0, 4, 0}}, {{0, 0}, {4, 0, 2}});
  scatter("scatter/mul of two zeros", "mul", "[0, 0, 0]", {{1, 2}, {0, 4, 0}}, {{0, 1}, {0, 0, 0}});
}

std::vector<Corner> allCorners() {
  std::vector<Corner> corners;
  addExtremes(corners);
  addFunctions(corners);
  addReductions(corners);
  addScatters(corners);
  return corners;
}

class CornerGradient : public testing::TestWithParam<Corner> {};

TEST_P(CornerGradient, IsThatOfTheReference) { checkReference(GetParam()); }
TEST_P(CornerGradient, IsCompiledInF64) {
  if (GetParam().inF64)
    checkPipeline(GetParam(), "f64", 1e-9);
}
TEST_P(CornerGradient, IsCompiledInF32) { checkPipeline(GetParam(), "f32", 1e-5); }
TEST_P(CornerGradient, IsCompiledInF16) { checkPipeline(GetParam(), "f16", 4e-3); }
TEST_P(CornerGradient, IsCompiledInBf16) { checkPipeline(GetParam(), "bf16", 3e-2); }

INSTANTIATE_TEST_SUITE_P(All, CornerGradient, testing::ValuesIn(allCorners()),
                         [](const testing::TestParamInfo<Corner> &info) {
                           std::string name;
                           for (char ch : info.param.name)
                             name += isalnum(static_cast<unsigned char>(ch)) ? ch : '_';
                           return name;
                         });

} // namespace
} // namespace dlc::gradtest

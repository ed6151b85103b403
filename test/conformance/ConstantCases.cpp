//===- ConstantCases.cpp - cases of constants in chains of operations, with extreme operands ===//
//
// Chains whose results the rewrites of constants (passes/ConstantRewrites.h) could change. Each
// chain is run on the limits of its element type, alone and in the epilogue of matmuls and
// convolutions.
//
//===--------------------------------------------------------------------------------===//
#include "test/conformance/Case.h"

#include <string_view>

namespace dlc::conformance {
namespace {

const Fill kExtreme{Fill::Extreme};
constexpr int64_t kExtremes = 51; // number of values of Fill::Extreme, of which NaN is the last

/// A chain of operations on x, with ONNX names. In the text, y is the previous result and a number
/// is a constant.
struct Chain {
  const char *name;
  std::vector<std::string_view> operations;
  double ulps = 4;
  const char *types = "f32 f16 bf16 f64";
  /// Types for which the default accuracy level may change the result, because it keeps
  /// intermediate values in f32 or flushes subnormal exponentials to 0.
  const char *strictTypes = "";
};

const Chain chains[] = {
    {"factors", {"mul y, 2.0", "mul y, 3.0"}},
    {"factors/small", {"mul y, 0.5", "mul y, 0.3"}},
    {"factors/overflow", {"mul y, 1.0e38", "mul y, 10.0"}, 4, "f32 bf16"},
    {"factors/underflow", {"mul y, 1.0e-30", "mul y, 1.0e-30"}, 4, "f32 bf16"},
    {"factors/back", {"mul y, 1.0e20", "mul y, 1.0e-20"}, 4, "f32 bf16"},
    {"factors/forth", {"mul y, 1.0e-20", "mul y, 1.0e20"}, 4, "f32 bf16"},
    {"factors/f64", {"mul y, 1.0e300", "mul y, 1.0e10", "mul y, 1.0e-300"}, 4, "f64"},
    {"factors/f64_underflow", {"mul y, 1.0e-200", "mul y, 1.0e-200"}, 4, "f64"},
    {"factors/f16", {"mul y, 300.0", "mul y, 300.0"}, 4, "f16"},
    {"factors/f16_underflow", {"mul y, 0.001", "mul y, 0.002"}, 4, "f16"},
    {"factors/zero", {"mul y, 0.0", "mul y, 1.0e30"}, 4, "f32 f64"},
    {"factors/to_zero", {"mul y, 1.0e30", "mul y, 0.0"}, 4, "f32 f64"},
    {"factors/negative", {"mul y, -1.0", "mul y, 3.0"}},
    {"factors/three", {"mul y, 4.0", "mul y, 1.0e30", "mul y, 1.0e8"}, 4, "f32"},
    {"terms/rounding", {"add y, 12582912.0", "add y, -12582912.0"}, 0, "f32"},
    {"terms/sub", {"add y, 12582912.0", "sub y, 12582912.0"}, 0, "f32"},
    {"terms/rounding_f16", {"add y, 1536.0", "add y, -1536.0"}, 0, "f16", "f16"},
    {"terms/rounding_f64", {"add y, 6755399441055744.0", "sub y, 6755399441055744.0"}, 0, "f64"},
    {"terms/large", {"add y, 1.0e30", "add y, -1.0e30"}, 0, "f32 f64"},
    {"terms/overflow", {"add y, 3.0e38", "add y, 3.0e38", "add y, -3.0e38"}, 0, "f32"},
    {"terms/then_factor", {"add y, 3.0", "mul y, 1.0e38"}, 4, "f32"},
    {"terms/distributed", {"add y, 1.0e30", "mul y, 1.0e20"}, 4, "f32 f64"},
    {"division/eight", {"div y, 8.0"}, 0},
    {"division/three", {"div y, 3.0"}},
    {"division/smallest_power", {"div y, 1.1754943508222875e-38"}, 0, "f32"},
    {"division/largest_power", {"div y, 1.7014118346046923e38"}, 0, "f32"},
    {"division/denormal", {"div y, 1.0e-40"}, 4, "f32"},
    {"division/huge", {"div y, 3.0e38"}, 4, "f32"},
    {"division/zero", {"div y, 0.0"}},
    {"division/by_x", {"div 1.0, y"}},
    {"division/of_zero", {"div 0.0, y"}},
    {"division/of_huge_by_root", {"sqrt y", "div 1.0e30, y"}, 4, "f32 f64"},
    {"division/by_root", {"sqrt y", "div 1.0, y"}},
    {"division/of_zero_by_root", {"sqrt y", "div 0.0, y"}},
    {"division/of_x_by_root", {"sqrt y", "div x, y"}},
    {"power/half", {"pow y, 0.5"}},
    {"power/minus_half", {"pow y, -0.5"}},
    {"power/half_of_square", {"mul y, y", "pow y, 0.5"}, 4, "f32 f16 bf16 f64", "f16"},
    {"power/minus_half_of_abs", {"abs y", "pow y, -0.5"}},
    {"power/half_of_relu", {"relu y", "pow y, 0.5"}},
    {"power/half_of_sum", {"abs y", "add y, 0.001", "pow y, 0.5"}},
    {"power/one", {"pow y, 1.0"}, 0},
    {"power/two", {"pow y, 2.0"}},
    {"power/three", {"pow y, 3.0"}},
    {"power/minus_one", {"pow y, -1.0"}},
    {"power/minus_two", {"pow y, -2.0"}},
    {"power/zero", {"pow y, 0.0"}, 0},
    {"square_of_root", {"sqrt y", "mul y, y"}},
    {"log_of_exp", {"exp y", "log y"}, 4, "f32 f16 bf16 f64", "f32 f16 bf16"},
    {"exp_of_log", {"log y", "exp y"}, 512, "f32 f16 bf16 f64", "f16"},
    {"difference", {"sub y, x"}, 0},
    {"times_zero", {"mul y, 0.0"}, 0},
    {"plus_zero", {"add y, 0.0"}, 0},
    {"plus_minus_zero", {"add y, -0.0"}, 0},
    {"ratio", {"div y, x"}},
    {"twice_negated", {"neg y", "neg y"}, 0},
    {"max/zero", {"max y, 0.0"}, 0},
    {"max/minus_zero", {"max y, -0.0"}, 0},
    {"max/bound", {"max y, -2.0"}, 0},
    {"min/bound", {"min y, 2.0"}, 0},
    {"max/relu_then_bound", {"relu y", "max y, 0.5"}, 0},
    {"max/infinity", {"max y, 0xFF800000"}, 0, "f32"},
    {"min/infinity", {"min y, 0x7F800000"}, 0, "f32"},
    {"max/limit", {"max y, 0xFF7FFFFF"}, 0, "f32"},
    {"min/limit", {"min y, 0x7F7FFFFF"}, 0, "f32"},
    {"clip", {"max y, -1.0", "min y, 2.0", "max y, 0.5"}, 0},
    {"leaky/zero", {"mul y, 0.0", "max x, y"}, 0},
    {"leaky/tenth", {"mul y, 0.1", "max x, y"}},
    {"hardswish/div",
     {"add y, 3.0", "max y, 0.0", "min y, 6.0", "mul x, y", "div y, 6.0"},
     8,
     "f64"},
    {"swish", {"sigmoid y", "mul x, y"}, 8, "f32 f16 bf16 f64", "f32 bf16"},
    {"swish/scaled", {"mul y, 1.702", "sigmoid y", "mul x, y"}, 1024, "f32 f64"},
    {"softplus", {"exp y", "add y, 1.0", "log y"}, 8, "f32 f64"},
    {"softplus/tanh", {"exp y", "add y, 1.0", "log y", "tanh y"}, 64, "f32"},
};

/// Builder of a chain's text for a type. chain() returns the name of the last value.
class Text {
public:
  Text(const std::string &element, const std::string &type) : element(element), type(type) {}

  std::string name() { return "%v" + std::to_string(next++); }

  /// Returns the operand's name: x, y, or a new "tensor<f32>" constant if the text is a number.
  std::string operand(std::string_view text, const std::string &x, const std::string &y,
                      std::string &types) {
    bool isValue = text == "x" || text == "y";
    types += (types.empty() ? "" : ", ") + (isValue ? type : "tensor<" + element + ">");
    if (isValue)
      return text == "x" ? x : y;
    std::string constant = name();
    lines +=
        constant + " = dlc.constant dense<" + std::string(text) + "> : tensor<" + element + ">\n";
    return constant;
  }

  std::string chain(const Chain &chain, const std::string &x) {
    std::string y = x;
    for (std::string_view operation : chain.operations) {
      size_t space = operation.find(' '), comma = operation.find(", ");
      std::string types,
          operands = operand(operation.substr(space + 1, comma - space - 1), x, y, types);
      if (comma != std::string_view::npos)
        operands += ", " + operand(operation.substr(comma + 2), x, y, types);
      std::string result = name();
      lines += result + " = dlc." + std::string(operation.substr(0, space)) + " " + operands +
               " : (" + types + ") -> " + type + "\n";
      y = result;
    }
    return y;
  }

  std::string lines;

private:
  std::string element, type;
  int next = 0;
};

Case caseOf(const std::string &op, const std::string &label, const Text &text,
            const std::string &result, const std::string &type, std::vector<Operand> operands) {
  Case c{.op = op, .label = "constants/" + label, .operands = std::move(operands)};
  c.tolerance.isExtreme = true;
  c.resultTypes = {type};
  c.body = text.lines + "return " + result + " : " + type;
  return c;
}

bool has(const char *types, const std::string &element) {
  return (" " + std::string(types) + " ").find(" " + element + " ") != std::string::npos;
}

void addChains(std::vector<Case> &cases) {
  for (const Chain &chain : chains)
    for (const std::string element : {"f32", "f16", "bf16", "f64"}) {
      if (!has(chain.types, element))
        continue;
      Shape shape = {kExtremes};
      Text text(element, typeText(shape, element));
      std::string y = text.chain(chain, "%a0");
      cases.push_back(caseOf("mul", std::string(chain.name) + "/" + element, text, y,
                             typeText(shape, element), {{shape, element, kExtreme}}));
      cases.back().tolerance.ulps = chain.ulps;
      cases.back().isStrict = has(chain.strictTypes, element);
    }
}

/// Adds the chains in the epilogue of a matmul and of a convolution with weights of 1, whose
/// results are the extreme values. NaN is left out because oneDNN's ReLU and clip do not propagate
/// NaN.
void addEpilogues(std::vector<Case> &cases) {
  constexpr int64_t columns = 16, numbers = kExtremes - 1;
  for (const Chain &chain : chains) {
    if (!has(chain.types, "f32"))
      continue;
    Shape rows = {numbers, 1}, product = {numbers, columns}, image = {1, 1, numbers, 1},
          channels = {1, columns, numbers, 1};
    Text text("f32", typeText(product, "f32"));
    text.lines = "%m = dlc.matmul %a0, %a1 : (" + typeText(rows, "f32") + ", " +
                 typeText({1, columns}, "f32") + ") -> " + typeText(product, "f32") + "\n";
    std::string y = text.chain(chain, "%m");
    Fill one{Fill::Uniform, 1, 1};
    cases.push_back(caseOf("matmul", chain.name, text, y, typeText(product, "f32"),
                           {{rows, "f32", kExtreme}, {{1, columns}, "f32", one}}));
    Text after("f32", typeText(channels, "f32"));
    after.lines = "%w = dlc.constant dense<1.0> : " + typeText({columns, 1, 1, 1}, "f32") +
                  "\n%m = dlc.conv %a0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, "
                  "1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (" +
                  typeText(image, "f32") + ", " + typeText({columns, 1, 1, 1}, "f32") + ") -> " +
                  typeText(channels, "f32") + "\n";
    std::string z = after.chain(chain, "%m");
    cases.push_back(caseOf("conv", chain.name, after, z, typeText(channels, "f32"),
                           {{image, "f32", kExtreme}}));
    for (Case *each : {&cases[cases.size() - 2], &cases.back()}) {
      each->tolerance.ulps = chain.ulps;
      each->isStrict = has(chain.strictTypes, "f32");
    }
    // If oneDNN uses its reference convolution, its ReLU multiplies minus infinity by 0.
    if (llvm::any_of(chain.operations, [](std::string_view operation) {
          return operation == "max y, 0.0" || operation == "relu y";
        }))
      cases.pop_back();
  }
}

/// Adds matmuls whose operands are scaled by constants.
void addScaledProducts(std::vector<Case> &cases) {
  struct Scales {
    const char *name, *ofA, *ofB;
    double a, b; ///< magnitudes of the operands
  };
  const Scales all[] = {{"attention", "0.35355338", "0.35355338", 1e18, 1e18},
                        {"power", "0.125", "1.0", 1e18, 1e18},
                        {"small", "1.0e-20", "1.0", 1e20, 1e20},
                        {"smaller", "1.0e-30", "1.0e-5", 1e20, 1e30},
                        {"large", "1.0e20", "1.0", 1e-20, 1e-25},
                        {"opposite", "1.0e20", "1.0e-20", 1e10, 1e10}};
  for (const Scales &s : all) {
    Shape a = {2, 9, 4}, b = {2, 4, 7}, y = {2, 9, 7};
    std::string A = typeText(a, "f32"), B = typeText(b, "f32"), Y = typeText(y, "f32");
    Text text("f32", Y);
    text.lines = std::string("%s = dlc.constant dense<") + s.ofA +
                 "> : tensor<f32>\n%t = dlc.constant dense<" + s.ofB +
                 "> : tensor<f32>\n%p = dlc.mul %a0, %s : (" + A + ", tensor<f32>) -> " + A +
                 "\n%q = dlc.mul %a1, %t : (" + B + ", tensor<f32>) -> " + B +
                 "\n%y = dlc.matmul %p, %q : (" + A + ", " + B + ") -> " + Y + "\n";
    cases.push_back(caseOf(
        "matmul", std::string("scaled/") + s.name, text, "%y", Y,
        {{a, "f32", {Fill::Uniform, s.a / 2, s.a}}, {b, "f32", {Fill::Uniform, s.b / 2, s.b}}}));
    cases.back().tolerance.ulps = 16;
  }
}

/// Adds batch norms with extreme parameters, alone and after a convolution.
void addBatchNorms(std::vector<Case> &cases) {
  struct Parameters {
    const char *name, *scale, *bias, *mean, *variance, *eps;
    double size; ///< magnitude of the operand
  };
  const Parameters all[] = {
      {"ordinary", "0.7", "0.2", "0.4", "1.5", "1.0e-5", 3},
      {"dead", "1.0e-20", "0.0", "0.0", "1.0", "1.0e-5", 1e-15},
      {"tiny_variance", "1.0", "0.0", "0.0", "1.0e-30", "0.0", 1e-15},
      {"huge_variance", "1.0e10", "0.0", "0.0", "1.0e38", "0.0", 1e19},
      {"huge_scale", "1.0e30", "0.0", "0.0", "1.0", "0.0", 1e-30},
      {"tiny_scale", "1.0e-38", "0.0", "0.0", "1.0", "0.0", 1e30},
      {"zero_scale", "0.0", "3.0", "1.0", "1.0", "0.0", 1e30},
      {"far_mean", "1.0", "0.0", "1.0e8", "1.0", "0.0", 1e9},
  };
  for (const Parameters &p : all)
    for (bool hasConv : {false, true}) {
      Shape shape = {1, 4, 9, 5};
      std::string type = typeText(shape, "f32"), vector = typeText({4}, "f32"),
                  weights = typeText({4, 4, 1, 1}, "f32");
      Text text("f32", type);
      auto constant = [&](const char *name, const char *number) {
        text.lines +=
            std::string(name) + " = dlc.constant dense<" + number + "> : " + vector + "\n";
      };
      constant("%scale", p.scale);
      constant("%bias", p.bias);
      constant("%mean", p.mean);
      constant("%variance", p.variance);
      if (hasConv)
        text.lines +=
            "%w = dlc.constant dense<0.25> : " + weights +
            "\n%x = dlc.conv %a0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
            "low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (" +
            type + ", " + weights + ") -> " + type + "\n";
      text.lines += std::string("%y = dlc.batch_norm ") + (hasConv ? "%x" : "%a0") +
                    ", %scale, %bias, %mean, %variance {eps = " + p.eps + " : f64} : (" + type +
                    ", " + vector + ", " + vector + ", " + vector + ", " + vector + ") -> " + type +
                    "\n";
      cases.push_back(caseOf(hasConv ? "conv" : "batch_norm", std::string("batch_norm/") + p.name,
                             text, "%y", type,
                             {{shape, "f32", {Fill::Uniform, p.size, 2 * p.size}}}));
      cases.back().tolerance.ulps = 64;
    }
}

} // namespace

void addConstantCases(std::vector<Case> &cases) {
  addChains(cases);
  addEpilogues(cases);
  addScaledProducts(cases);
  addBatchNorms(cases);
}

} // namespace dlc::conformance

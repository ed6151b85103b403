//===- EpilogueCases.cpp - cases of operations that follow matmuls and convolutions ===//
//
// Epilogues and views that few kernels support: columns scaled after the bias, a transposed result,
// a result viewed as windows; activations after matmuls and convolutions; and causal convolutions
// over sequences with additions.
//
//===------------------------------------------------------------------------------===//
#include "test/conformance/Case.h"

#include <map>
#include <string_view>

namespace dlc::conformance {
namespace {

const Fill kSmall{Fill::Uniform, -1, 1};

/// Builder of a function body. Each value has a name and a type.
class Body {
public:
  explicit Body(const std::string &element = "f32") : element(element) {}

  std::string operation(const std::string &text, const std::vector<std::string> &operands,
                        const Shape &shape) {
    std::string name = "%v" + std::to_string(next++), types;
    for (const std::string &operand : operands)
      types += (types.empty() ? "" : ", ") + typeOf.at(operand);
    typeOf[name] = typeText(shape, element);
    lines += name + " = dlc." + text + " : (" + types + ") -> " + typeOf[name] + "\n";
    return name;
  }
  std::string argument(const Shape &shape) {
    std::string name = "%a" + std::to_string(operands.size());
    operands.push_back({shape, element, kSmall});
    typeOf[name] = typeText(shape, element);
    return name;
  }
  std::string weights(const Shape &shape, bool isConstant) {
    if (!isConstant)
      return argument(shape);
    std::string name = "%v" + std::to_string(next++);
    typeOf[name] = typeText(shape, "f32");
    lines += name + " = dlc.constant " + constantText(shape) + "\n";
    return element == "f32" ? name : operation("cast " + name + " to " + element, {name}, shape);
  }
  std::string number(const std::string &value) {
    std::string name = "%v" + std::to_string(next++);
    typeOf[name] = typeText({}, element);
    lines += name + " = dlc.constant dense<" + value + "> : " + typeOf[name] + "\n";
    return name;
  }
  Case yield(const std::string &op, const std::string &label, const std::string &result) {
    return {op,
            label,
            operands,
            "",
            1,
            {8, 64},
            {typeOf.at(result)},
            lines + "return " + result + " : " + typeOf.at(result)};
  }

private:
  std::string element;
  std::string lines;
  std::vector<Operand> operands;
  std::map<std::string, std::string> typeOf;
  int next = 0;
};

std::string listText(const std::vector<int64_t> &list) {
  std::string text;
  for (int64_t d : list)
    text += (text.empty() ? "" : ", ") + std::to_string(d);
  return text;
}

/// A view of a matmul's result: the shape of the rows before the last dimension, the permutation of
/// a transpose, and the shape of a reshape after it.
struct View {
  const char *name;
  Shape rows, order, after;
};
const View views[] = {
    {"plain", {66}, {}, {}},
    {"turned", {66}, {1, 0}, {}},
    {"turned_batch", {3, 35}, {0, 2, 1}, {}},
    {"image", {2, 6, 7}, {0, 3, 1, 2}, {}},
    {"windows", {2, 3, 2, 4, 4}, {0, 1, 3, 2, 4, 5}, {2, 12, 8, 0}},
};

/// Epilogue operations in the order of their letters: b is a bias, s scales columns, g is gelu, r
/// is relu.
const char *const steps[] = {"", "b", "bs", "bg", "bsr", "sb", "rs"};

void addProducts(std::vector<Case> &cases) {
  constexpr int64_t k = 40, n = 48;
  for (const View &view : views)
    for (const char *after : steps)
      for (bool isConstant : {false, true}) {
        Body body;
        Shape x = view.rows, y = view.rows;
        x.push_back(k);
        y.push_back(n);
        std::string input = body.argument(x), w = body.weights({k, n}, isConstant);
        std::string value = body.operation("matmul " + input + ", " + w, {input, w}, y);
        for (const char *step = after; *step; ++step) {
          if (*step == 'g' || *step == 'r') {
            value = body.operation((*step == 'g' ? "gelu " : "relu ") + value, {value}, y);
            continue;
          }
          std::string vector = body.weights({n}, isConstant);
          value = body.operation((*step == 'b' ? "add " : "mul ") + value + ", " + vector,
                                 {value, vector}, y);
        }
        if (!view.order.empty()) {
          Shape transposed;
          for (int64_t d : view.order)
            transposed.push_back(y[d]);
          value = body.operation("transpose " + value + " [" + listText(view.order) + "]", {value},
                                 transposed);
        }
        if (!view.after.empty()) {
          Shape shape = view.after;
          shape.back() = n;
          value = body.operation("reshape " + value, {value}, shape);
        }
        cases.push_back(body.yield("matmul",
                                   std::string("epilogue/") + view.name + "/" +
                                       (*after ? after : "none") + (isConstant ? "/constant" : ""),
                                   value));
      }
}

struct Sequence {
  const char *name;
  int64_t batch, channels, results, length, window, dilation, stride, added;
};
const Sequence sequences[] = {
    {"causal", 1, 32, 32, 64, 2, 8, 1, 0},      {"causal_far", 1, 64, 64, 96, 2, 64, 1, 1},
    {"causal_all", 2, 32, 32, 40, 2, 40, 1, 2}, {"three", 2, 32, 48, 50, 3, 4, 1, 3},
    {"strided", 1, 48, 32, 61, 3, 1, 2, 1},     {"odd_channels", 1, 20, 24, 33, 2, 4, 1, 4},
};

/// Adds causal convolutions of sequences: zeros are padded at the beginning only, so no result
/// depends on later elements. Another convolution precedes, so that both use the layout that
/// convolutions prefer.
void addSequences(std::vector<Case> &cases) {
  for (const Sequence &s : sequences)
    for (const char *act : {"", "relu", "tanh"}) {
      Body body;
      auto convolution = [&](const std::string &x, int64_t from, int64_t to, int64_t length,
                             int64_t window, int64_t dilation, int64_t stride) {
        std::string w = body.weights({to, from, window}, true);
        auto list = [](int64_t n) { return "array<i64: " + std::to_string(n) + ">"; };
        return body.operation("conv " + x + ", " + w + " {strides = " + list(stride) +
                                  ", dilations = " + list(dilation) +
                                  ", low = " + list((window - 1) * dilation) +
                                  ", high = " + list(0) + ", groups = 1 : i64}",
                              {x, w}, {s.batch, to, (length - 1) / stride + 1});
      };
      Shape y = {s.batch, s.results, (s.length - 1) / s.stride + 1};
      std::string x = body.argument({s.batch, s.channels, s.length});
      x = convolution(x, s.channels, s.channels, s.length, 2, 1, 1);
      std::string value =
          convolution(x, s.channels, s.results, s.length, s.window, s.dilation, s.stride);
      for (int64_t i = 0; i < s.added; ++i) {
        std::string other = body.argument(y);
        value = body.operation("add " + value + ", " + other, {value, other}, y);
      }
      if (*act)
        value = body.operation(act + (" " + value), {value}, y);
      cases.push_back(body.yield(
          "conv", std::string("weights/sequence/") + s.name + (*act ? "/" : "") + act, value));
      // tanh bounds the result by 1, but the errors are relative to the sums before it, which are
      // as large as 60.
      if (act == std::string_view("tanh"))
        cases.back().tolerance.ofLargest = 256;
    }
}

/// Adds epilogues of a convolution with channels-last images, in orders that GPU libraries compile
/// kernels for. b adds to each channel, r to each element.
void addStepsOfImages(std::vector<Case> &cases) {
  const std::vector<std::vector<const char *>> chains = {
      {"relu"},           {"r"},
      {"r", "relu"},      {"b", "r", "relu"},
      {"r", "b", "relu"}, {"b", "relu", "r"},
      {"tanh", "r"},      {"b", "sigmoid", "b"},
      {"r", "r", "relu"}, {"exp", "relu"},
      {"max", "min"},     {"b", "max", "min", "r"}};
  for (const char *element : {"f32", "f16", "bf16"})
    for (const auto &chain : chains)
      for (bool isConstant : {false, true}) {
        Body body(element);
        Shape x = {2, 16, 9, 8}, y = {2, 24, 9, 8}, last = {2, 9, 8, 24};
        auto image = [&](const Shape &shape) {
          std::string value = body.argument({shape[0], shape[2], shape[3], shape[1]});
          return body.operation("transpose " + value + " [0, 3, 1, 2]", {value}, shape);
        };
        std::string from = image(x), w = body.weights({24, 16, 3, 3}, isConstant);
        std::string value = body.operation(
            "conv " + from + ", " + w +
                " {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, "
                "1>, high = array<i64: 1, 1>, groups = 1 : i64}",
            {from, w}, y);
        std::string label;
        for (std::string step : chain) {
          label += "/" + step;
          bool adds = step == "b" || step == "r", bounds = step == "max" || step == "min";
          if (!adds && !bounds) {
            value = body.operation(step + " " + value, {value}, y);
            continue;
          }
          std::string other = step == "r"   ? image(y)
                              : step == "b" ? body.argument({1, 24, 1, 1})
                                            : body.number(step == "max" ? "0.0" : "6.0");
          value =
              body.operation((adds ? "add" : step) + " " + value + ", " + other, {value, other}, y);
        }
        value = body.operation("transpose " + value + " [0, 2, 3, 1]", {value}, last);
        cases.push_back(body.yield("conv",
                                   std::string("channels_last/") + element + label +
                                       (isConstant ? "/constant" : ""),
                                   value));
        cases.back().tolerance.hidesSums = llvm::any_of(
            chain, [](std::string_view step) { return step == "tanh" || step == "exp"; });
      }
}

/// Activation functions of one value, as networks compose them. In the text of the operations, x is
/// the value before the activation, y is the previous result, and a number is a constant.
struct Activation {
  const char *name;
  std::vector<const char *> operations;
  bool hidesSums = false; ///< see Tolerance::hidesSums
};
const Activation activations[] = {
    {"relu", {"relu y"}},
    {"leaky_relu", {"mul y, 0.1", "max x, y"}},
    {"clip", {"max y, -0.5", "min y, 0.75"}, true},
    {"linear", {"mul y, 1.5", "add y, -0.25"}},
    {"square", {"mul y, y"}},
    {"abs", {"abs y"}},
    {"sqrt", {"abs y", "add y, 0.5", "sqrt y"}},
    {"exp", {"exp y"}},
    {"sigmoid", {"sigmoid y"}},
    {"tanh", {"tanh y"}, true},
    {"gelu", {"gelu y"}},
    {"gelu_tanh", {"gelu y {approximate}"}},
    {"swish", {"sigmoid y", "mul x, y"}},
    {"quick_gelu", {"mul y, 1.702", "sigmoid y", "mul x, y"}},
    {"softsign", {"abs y", "add 1.0, y", "div x, y"}, true},
    {"hardswish", {"add y, 3.0", "max y, 0.0", "min y, 6.0", "mul x, y", "mul y, 0.1666667"}},
};

std::string activated(Body &body, const Activation &activation, const std::string &before,
                      const Shape &shape) {
  std::string value = before;
  for (std::string_view operation : activation.operations) {
    size_t space = operation.find(' ');
    std::string text(operation.substr(0, space)), separator = " ", attributes;
    std::vector<std::string> operands;
    std::string_view rest = operation.substr(space + 1);
    if (size_t brace = rest.find(" {"); brace != std::string_view::npos) {
      attributes = rest.substr(brace);
      rest = rest.substr(0, brace);
    }
    while (!rest.empty()) {
      size_t comma = rest.find(", ");
      std::string_view operand = rest.substr(0, comma);
      operands.push_back(operand == "x"   ? before
                         : operand == "y" ? value
                                          : body.number(std::string(operand)));
      text += separator + operands.back();
      separator = ", ";
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 2);
    }
    value = body.operation(text + attributes, operands, shape);
  }
  return value;
}

/// Adds activations after convolutions and matmuls that each provider has kernels for, with and
/// without an addition in between.
void addActivations(std::vector<Case> &cases) {
  for (const Activation &activation : activations)
    for (bool isAdded : {false, true}) {
      std::string label = std::string("activation/") + activation.name + (isAdded ? "/added" : "");
      auto finish = [&](Body &body, const char *op, std::string value, const Shape &y) {
        if (isAdded) {
          std::string other = body.argument(y);
          value = body.operation("add " + value + ", " + other, {value, other}, y);
        }
        cases.push_back(body.yield(op, "weights/" + label, activated(body, activation, value, y)));
        cases.back().tolerance.hidesSums = activation.hidesSums;
      };
      Body images;
      Shape shape = {1, 32, 13, 11};
      std::string x = images.argument(shape);
      // The second convolution's operand has the layout that convolutions prefer.
      for (int i = 0; i < 2; ++i) {
        std::string w = images.weights({32, 32, 3, 3}, true);
        x = images.operation("conv " + x + ", " + w +
                                 " {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low "
                                 "= array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}",
                             {x, w}, shape);
        // Activations of large values would hide everything but rounding errors, so the values are
        // scaled down.
        std::string factor = images.number("0.05");
        x = images.operation("mul " + x + ", " + factor, {x, factor}, shape);
      }
      finish(images, "conv", x, shape);
      Body rows;
      std::string a = rows.argument({35, 40}), b = rows.weights({40, 52}, true);
      finish(rows, "matmul", rows.operation("matmul " + a + ", " + b, {a, b}, {35, 52}), {35, 52});
    }
}

} // namespace

void addEpilogueCases(std::vector<Case> &cases) {
  addProducts(cases);
  addActivations(cases);
  addSequences(cases);
  addStepsOfImages(cases);
}

} // namespace dlc::conformance

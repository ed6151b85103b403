//===- WeightCases.cpp - products whose constant weights are kept in fewer bits -----===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

/// Some constant of [rows, columns] in the text of the IR.
std::string constantText(int64_t rows, int64_t columns, const std::string &type) {
  bool isFloat = isFloatName(type);
  std::string text = "dense<[";
  for (int64_t i = 0; i < rows; ++i) {
    text += i ? "], [" : "[";
    for (int64_t j = 0; j < columns; ++j) {
      int64_t value = (i * 131 + j * 29) % 255 - 127;
      text += (j ? ", " : "") + std::to_string(value) + (isFloat ? ".0" : "");
    }
  }
  return text + "]]> : " + typeText({rows, columns}, type);
}

} // namespace

void addWeightCases(std::vector<Case> &cases) {
  for (const char *kept : {"bf16", "f16", "i8"})
    for (bool transposed : {false, true})
      for (int64_t m : {1, 3, 33}) {
        constexpr int64_t k = 37, n = 50;
        Shape x = {m, k}, w = transposed ? Shape{n, k} : Shape{k, n}, y = {m, n};
        std::string wide = typeText(w, "f32"), result = typeText(y, "f32"),
                    scale = typeText({n}, "f32");
        cases.push_back(
            {"matmul",
             std::string("weights/") + kept + (transposed ? "/transposed/" : "/") +
                 std::to_string(m),
             {{x, "f32", {Fill::Uniform, -1, 1}}, {{n}, "f32", {Fill::Uniform, 0, 0.1}}},
             "",
             1,
             {8, 16},
             {result},
             "%q = dlc.constant " + constantText(w[0], w[1], kept) +
                 "\n%w = dlc.cast %q to f32 : (" + typeText(w, kept) + ") -> " + wide +
                 "\n%s = dlc.matmul %a0, %w" + (transposed ? " transpose_b" : "") + " : (" +
                 typeText(x, "f32") + ", " + wide + ") -> " + result +
                 "\n%y = dlc.mul %s, %a1 : (" + result + ", " + scale + ") -> " + result +
                 "\nreturn %y : " + result});
      }
}

} // namespace dlc::conformance

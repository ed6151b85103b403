//===- RecurrentCases.cpp - cases of LSTM, GRU and plain recurrent layers -------===//
#include "test/conformance/Case.h"

#include <cmath>
#include <random>

namespace dlc::conformance {
namespace {

/// Returns "dense<[[..], ..]>" with random values from -bound to bound.
std::string denseText(const Shape &shape, double bound, std::mt19937 &random) {
  auto level = [&](auto &self, size_t d) -> std::string {
    if (d == shape.size())
      return std::to_string(bound * (double(random()) * 0x1p-31 - 1));
    std::string text = "[";
    for (int64_t i = 0; i < shape[d]; ++i)
      text += (i ? ", " : "") + self(self, d + 1);
    return text + "]";
  };
  return "dense<" + level(level, 0) + ">";
}

/// Returns the case with constant weights and biases (operands 1 to 3), as in inference models.
Case withConstantWeights(Case c, double bound) {
  std::mt19937 random(7);
  std::string names, types;
  std::vector<Operand> inputs;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Operand &o = c.operands[i];
    std::string name = "%a" + std::to_string(inputs.size());
    if (i >= 1 && i <= 3) {
      name = "%k" + std::to_string(i);
      c.body += name + " = dlc.constant " + denseText(o.shape, bound, random) + " : " +
                typeText(o) + "\n";
    } else {
      inputs.push_back(o);
    }
    names += (i ? ", " : "") + name;
    types += (i ? ", " : "") + typeText(o);
  }
  const Shape &x = c.operands[0].shape, &state = c.operands[4].shape;
  c.resultTypes = {typeText({x[0], state[0], x[1], state[2]}, c.operands[0].type)};
  while (c.resultTypes.size() < c.results)
    c.resultTypes.push_back(typeText(c.operands[4]));
  std::string results, resultTypes;
  for (size_t i = 0; i < c.results; ++i) {
    results += (i ? ", %r#" : "%r#") + std::to_string(i);
    resultTypes += (i ? ", " : "") + c.resultTypes[i];
  }
  c.body += "%r:" + std::to_string(c.results) + " = dlc." + c.op + " " + names + " {" +
            c.attributes + "} : (" + types + ") -> (" + resultTypes + ")\nreturn " + results +
            " : " + resultTypes;
  c.operands = inputs;
  c.attributes.clear();
  c.label += "/constant";
  return c;
}

} // namespace

void addRecurrentCases(std::vector<Case> &cases) {
  struct {
    const char *name;
    int64_t steps, batch, in, hidden;
  } sizes[] = {{"one", 1, 1, 1, 1},
               {"odd", 5, 3, 7, 9},
               {"steps", 17, 1, 4, 8},
               {"big", 8, 16, 64, 64},
               {"empty", 3, 0, 4, 5}};
  for (const char *type : {"f32", "f16", "bf16", "f64"}) {
    std::string t = type;
    Fill fill{Fill::Uniform, -0.5, 0.5};
    for (auto &s : sizes) {
      for (const char *direction : {"forward", "reverse", "both"}) {
        int64_t d = std::string(direction) == "both" ? 2 : 1;
        std::string label = t + "/" + s.name + "/" + direction;
        std::string attribute = std::string("direction = #dlc<direction ") + direction + ">";
        // The error of 16-bit states grows with the number of time steps.
        Tolerance tolerance{32, 32};
        // Weights are as small as at the start of training. With larger weights the recurrence
        // would be chaotic, and differences in the last bit would grow with each time step.
        double bound = 1 / std::sqrt(double(s.hidden));
        Fill weights{Fill::Uniform, -bound, bound};
        auto layer = [&](int64_t gates, bool cell) {
          std::vector<Operand> o = {{{s.steps, s.batch, s.in}, t, fill},
                                    {{d, gates * s.hidden, s.in}, t, weights},
                                    {{d, gates * s.hidden, s.hidden}, t, weights},
                                    {{d, 2 * gates * s.hidden}, t, fill},
                                    {{d, s.batch, s.hidden}, t, fill}};
          if (cell)
            o.push_back({{d, s.batch, s.hidden}, t, fill});
          return o;
        };
        auto add = [&](Case c) {
          cases.push_back(c);
          if (std::string(s.name) == "odd" || std::string(s.name) == "empty")
            cases.push_back(withConstantWeights(c, bound));
        };
        add({"lstm", label, layer(4, true), attribute, 3, tolerance});
        add({"gru", label, layer(3, false), attribute, 2, tolerance});
        add({"gru", label + "/linear", layer(3, false), attribute + ", linear_before_reset", 2,
             tolerance});
        add({"rnn", label, layer(1, false), attribute, 2, tolerance});
        add({"rnn", label + "/relu", layer(1, false), attribute + ", relu", 2, tolerance});
      }
    }
  }
}

} // namespace dlc::conformance

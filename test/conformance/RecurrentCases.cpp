//===- RecurrentCases.cpp - LSTM, GRU and plain recurrent layers ----------------===//
#include "test/conformance/Case.h"

#include <cmath>

namespace dlc::conformance {

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
        // States in 16 bits drift from step to step.
        Tolerance tolerance{32, 32};
        // As layers start: wider weights would make a chaos in which the last bit grows from step to step.
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
        cases.push_back({"lstm", label, layer(4, true), attribute, 3, tolerance});
        cases.push_back({"gru", label, layer(3, false), attribute, 2, tolerance});
        cases.push_back({"gru", label + "/linear", layer(3, false),
                         attribute + ", linear_before_reset", 2, tolerance});
        cases.push_back({"rnn", label, layer(1, false), attribute, 2, tolerance});
        cases.push_back(
            {"rnn", label + "/relu", layer(1, false), attribute + ", relu", 2, tolerance});
      }
    }
  }
}

} // namespace dlc::conformance

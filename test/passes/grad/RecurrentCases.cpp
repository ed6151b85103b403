//===- RecurrentCases.cpp - gradients of recurrent layers -----------------===//
#include "test/passes/grad/Harness.h"

namespace dlc::gradtest {

std::vector<Case> recurrentCases() {
  std::vector<Case> cases;
  const char *const directions[] = {"forward", "reverse", "both"};
  struct Sizes {
    const char *name;
    int64_t steps, batch, features, hidden;
  };
  const Sizes sizes[] = {{"odd", 3, 2, 3, 2}, {"one", 1, 1, 1, 1}, {"long", 6, 1, 2, 3}};
  for (const Sizes &s : sizes)
    for (int direction = 0; direction < 3; ++direction) {
      int64_t d = direction == 2 ? 2 : 1;
      auto layer = [&](const std::string &op, const std::string &label, int64_t gates,
                       std::string more = "", bool lstm = false) {
        Case c{.name = op + "/" + label + directions[direction] + "/" + s.name,
               .operands = {{{s.steps, s.batch, s.features}},
                            {{d, gates * s.hidden, s.features}, uniform(-1, 1)},
                            {{d, gates * s.hidden, s.hidden}, uniform(-1, 1)},
                            {{d, 2 * gates * s.hidden}, uniform(-1, 1)},
                            {{d, s.batch, s.hidden}, uniform(-1, 1)}},
               .attributes =
                   std::string("direction = #dlc<direction ") + directions[direction] + ">" + more,
               .results = lstm ? 3u : 2u,
               .second = direction == 1 && std::string(s.name) == "odd" && more.empty(),
               .narrow = direction == 2 && std::string(s.name) == "odd"};
        if (lstm)
          c.operands.push_back({{d, s.batch, s.hidden}, uniform(-1, 1)});
        cases.push_back(c);
      };
      layer("lstm", "", 4, "", true);
      layer("gru", "early/", 3);
      layer("gru", "late/", 3, ", linear_before_reset");
      layer("rnn", "tanh/", 1);
      layer("rnn", "relu/", 1, ", relu");
    }
  // Only the last state is used.
  cases.push_back({.name = "lstm/last",
                   .operands = {{{3, 2, 3}}, {{1, 8, 3}}, {{1, 8, 2}}},
                   .resultTypes = {"tensor<1x2x2xFF>"},
                   .body = R"(
    %b = dlc.constant dense<0.1> : tensor<1x16xFF>
    %z = dlc.constant dense<0.0> : tensor<1x2x2xFF>
    %y:3 = "dlc.lstm"(%a0, %a1, %a2, %b, %z, %z) {direction = #dlc<direction forward>} : (tensor<3x2x3xFF>, tensor<1x8x3xFF>, tensor<1x8x2xFF>, tensor<1x16xFF>, tensor<1x2x2xFF>, tensor<1x2x2xFF>) -> (tensor<3x1x2x2xFF>, tensor<1x2x2xFF>, tensor<1x2x2xFF>)
    return %y#1 : tensor<1x2x2xFF>)"});
  return cases;
}

} // namespace dlc::gradtest

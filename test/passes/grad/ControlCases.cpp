//===- ControlCases.cpp - gradients of branches and loops -----------------===//
#include "test/passes/grad/Harness.h"

namespace dlc::gradtest {

std::vector<Case> controlCases() {
  std::vector<Case> cases;
  const std::string t = "tensor<2x3xFF>";
  auto text = [&](const std::string &name, std::vector<Operand> operands,
                  std::vector<std::string> results, std::string body) {
    for (size_t at = 0; (at = body.find("TT", at)) != std::string::npos;)
      body.replace(at, 2, t);
    cases.push_back({.name = name,
                     .operands = std::move(operands),
                     .resultTypes = std::move(results),
                     .body = std::move(body),
                     .second = true});
  };
  Operand x{{2, 3}, uniform(-1, 1)};
  for (int taken = 0; taken < 2; ++taken)
    text(taken ? "if/then" : "if/else", {{{}, uniform(taken, taken), "i32"}, x, x}, {t, t}, R"(
      %c = dlc.cast %a0 to i1 : (tensor<i32>) -> tensor<i1>
      %s = dlc.sin %a1 : (TT) -> TT
      %r:2 = dlc.if %c : (tensor<i1>) -> (TT, TT) {
        %p = dlc.mul %s, %a2 : (TT, TT) -> TT
        %q = dlc.exp %p : (TT) -> TT
        dlc.yield %q, %a1 : TT, TT
      } else {
        %p = dlc.sub %s, %a2 : (TT, TT) -> TT
        %q = dlc.mul %p, %p : (TT, TT) -> TT
        dlc.yield %q, %p : TT, TT
      }
      return %r#0, %r#1 : TT, TT)");
  // A captured value, two carried values that are swapped, a stacked result, and the iteration
  // index.
  text("loop/scan", {x, x, x}, {t, t, "tensor<4x2x3xFF>"}, R"(
      %n = dlc.constant dense<4> : tensor<i64>
      %v = dlc.sin %a2 : (TT) -> TT
      %r:3 = dlc.loop trip(%n : tensor<i64>) inits(%a0, %a1 : TT, TT) -> (TT, TT, tensor<4x2x3xFF>) {
      ^bb0(%i: tensor<i64>, %p: TT, %q: TT):
        %k = dlc.cast %i to FF : (tensor<i64>) -> tensor<FF>
        %m = dlc.mul %p, %v : (TT, TT) -> TT
        %s = dlc.tanh %m : (TT) -> TT
        %u = dlc.mul %s, %k : (TT, tensor<FF>) -> TT
        %w = dlc.add %u, %q : (TT, TT) -> TT
        %z = dlc.mul %w, %p : (TT, TT) -> TT
        dlc.yield %w, %p, %z : TT, TT, TT
      }
      return %r#0, %r#1, %r#2 : TT, TT, tensor<4x2x3xFF>)");
  text("loop/stacked_only", {x, x}, {"tensor<3x2x3xFF>"}, R"(
      %n = dlc.constant dense<3> : tensor<i64>
      %r:2 = dlc.loop trip(%n : tensor<i64>) inits(%a0 : TT) -> (TT, tensor<3x2x3xFF>) {
      ^bb0(%i: tensor<i64>, %p: TT):
        %s = dlc.mul %p, %a1 : (TT, TT) -> TT
        dlc.yield %s, %s : TT, TT
      }
      return %r#1 : tensor<3x2x3xFF>)");
  text("loop/none", {x, x}, {t}, R"(
      %n = dlc.constant dense<0> : tensor<i64>
      %r = dlc.loop trip(%n : tensor<i64>) inits(%a0 : TT) -> (TT) {
      ^bb0(%i: tensor<i64>, %p: TT):
        %s = dlc.mul %p, %a1 : (TT, TT) -> TT
        dlc.yield %s : TT
      }
      return %r : TT)");
  // A branch in a loop in a loop. The integer and the unused value have no gradient.
  text("loop/nested", {x, x, {{}, uniform(0, 0), "i64"}}, {t}, R"(
      %n = dlc.constant dense<3> : tensor<i64>
      %two = dlc.constant dense<2> : tensor<i64>
      %one = dlc.constant dense<1> : tensor<i64>
      %r:3 = dlc.loop trip(%n : tensor<i64>) inits(%a0, %a1, %a2 : TT, TT, tensor<i64>) -> (TT, TT, tensor<i64>) {
      ^bb0(%i: tensor<i64>, %p: TT, %unused: TT, %count: tensor<i64>):
        %first = dlc.compare eq %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %b = dlc.if %first : (tensor<i1>) -> (TT) {
          %in = dlc.loop trip(%two : tensor<i64>) inits(%p : TT) -> (TT) {
          ^bb1(%j: tensor<i64>, %q: TT):
            %s = dlc.mul %q, %a1 : (TT, TT) -> TT
            %u = dlc.add %s, %p : (TT, TT) -> TT
            dlc.yield %u : TT
          }
          dlc.yield %in : TT
        } else {
          %s = dlc.sigmoid %p : (TT) -> TT
          dlc.yield %s : TT
        }
        %e = dlc.exp %unused : (TT) -> TT
        %next = dlc.add %count, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
        dlc.yield %b, %e, %next : TT, TT, tensor<i64>
      }
      return %r#0 : TT)");
  return cases;
}

} // namespace dlc::gradtest

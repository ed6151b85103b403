//===- ControlCases.cpp - cases of if and loop operations -----------------------===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// In the body, TT is replaced by the tensor's type, BB by a 0-d bool and II by a 0-d i64.
Case text(const std::string &op, const std::string &label, const std::string &type,
          const Shape &shape, std::vector<Operand> operands, std::vector<std::string> results,
          std::string body) {
  Case c{op,
         label,
         std::move(operands),
         "",
         unsigned(results.size()),
         {4, 4},
         std::move(results),
         std::move(body)};
  for (std::string *s : {&c.body}) {
    replaceAll(*s, "TT", typeText(shape, type));
    replaceAll(*s, "BB", "tensor<i1>");
    replaceAll(*s, "II", "tensor<i64>");
  }
  for (std::string &r : c.resultTypes)
    replaceAll(r, "TT", typeText(shape, type));
  return c;
}

} // namespace

void addControlCases(std::vector<Case> &cases) {
  const std::pair<const char *, Shape> shapes[] = {
      {"0d", {}}, {"1d", {7}}, {"odd", {3, 5}}, {"empty", {0, 3}}, {"big", {67, 1031}}};
  for (const char *type : {"f32", "f16", "bf16", "f64", "i8", "ui8", "i32", "i64"}) {
    for (auto &[name, shape] : shapes) {
      std::string t = type, label = t + "/" + name;
      Fill fill = isFloatName(t) ? Fill{Fill::Uniform, -1, 1} : Fill{Fill::Uniform, 0, 3};
      Operand x{shape, t, fill};
      for (int taken = 0; taken < 2; ++taken)
        cases.push_back(text("if", label + (taken ? "/then" : "/else"), t, shape,
                             {{{}, "i32", {Fill::Uniform, double(taken), double(taken)}}, x, x},
                             {"TT", "TT"}, R"(
          %c = dlc.cast %a0 to i1 : (tensor<i32>) -> BB
          %r:2 = dlc.if %c : (BB) -> (TT, TT) {
            %s = dlc.add %a1, %a2 : (TT, TT) -> TT
            dlc.yield %s, %a1 : TT, TT
          } else {
            %s = dlc.sub %a1, %a2 : (TT, TT) -> TT
            %m = dlc.mul %s, %a2 : (TT, TT) -> TT
            dlc.yield %m, %s : TT, TT
          }
          return %r#0, %r#1 : TT, TT)"));
      for (int trips : {0, 1, 3})
        cases.push_back(text("loop", label + "/trip" + std::to_string(trips), t, shape,
                             {{{}, "i64", {Fill::Uniform, double(trips), double(trips)}}, x, x},
                             {"TT", "TT"}, R"(
          %r:2 = dlc.loop trip(%a0 : II) inits(%a1, %a2 : TT, TT) -> (TT, TT) {
          ^bb0(%i: II, %p: TT, %q: TT):
            %s = dlc.add %p, %q : (TT, TT) -> TT
            dlc.yield %q, %s : TT, TT
          }
          return %r#0, %r#1 : TT, TT)"));
    }
  }
  cases.push_back(text("loop", "f32/while", "f32", {4},
                       {{{}, "f32", {Fill::Uniform, 1, 1}}, {{4}, "f32", {Fill::Uniform, 1, 2}}},
                       {"TT", "tensor<f32>"}, R"(
    %limit = dlc.constant dense<5.0> : tensor<f32>
    %one = dlc.constant dense<1.0> : tensor<f32>
    %go = dlc.compare lt %a0, %limit : (tensor<f32>, tensor<f32>) -> BB
    %r:2 = dlc.loop while(%go : BB) inits(%a1, %a0 : TT, tensor<f32>) -> (TT, tensor<f32>) {
    ^bb0(%i: II, %p: TT, %n: tensor<f32>):
      %next = dlc.add %n, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %more = dlc.compare lt %next, %limit : (tensor<f32>, tensor<f32>) -> BB
      %s = dlc.mul %p, %p : (TT, TT) -> TT
      dlc.yield %more, %s, %next : BB, TT, tensor<f32>
    }
    return %r#0, %r#1 : TT, tensor<f32>)"));
  cases.push_back(text("loop", "f32/scan", "f32", {3, 5}, {{{3, 5}, "f32"}, {{3, 5}, "f32"}},
                       {"TT", "tensor<6x3x5xf32>"}, R"(
    %trip = dlc.constant dense<6> : II
    %r:2 = dlc.loop trip(%trip : II) inits(%a0 : TT) -> (TT, tensor<6x3x5xf32>) {
    ^bb0(%i: II, %p: TT):
      %s = dlc.add %p, %a1 : (TT, TT) -> TT
      %v = dlc.mul %s, %a1 : (TT, TT) -> TT
      dlc.yield %s, %v : TT, TT
    }
    return %r#0, %r#1 : TT, tensor<6x3x5xf32>)"));
  cases.push_back(text("loop", "f32/nested", "f32", {2, 3},
                       {{{}, "i64", {Fill::Uniform, 3, 3}}, {{2, 3}, "f32"}}, {"TT"}, R"(
    %zero = dlc.constant dense<0> : II
    %r = dlc.loop trip(%a0 : II) inits(%a1 : TT) -> (TT) {
    ^bb0(%i: II, %p: TT):
      %first = dlc.compare eq %i, %zero : (II, II) -> BB
      %n = dlc.if %first : (BB) -> (TT) {
        dlc.yield %p : TT
      } else {
        %in = dlc.loop trip(%i : II) inits(%p : TT) -> (TT) {
        ^bb1(%j: II, %q: TT):
          %s = dlc.add %q, %a1 : (TT, TT) -> TT
          dlc.yield %s : TT
        }
        dlc.yield %in : TT
      }
      dlc.yield %n : TT
    }
    return %r : TT)"));
}

} // namespace dlc::conformance

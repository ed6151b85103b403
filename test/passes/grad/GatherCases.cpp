//===- GatherCases.cpp - gradients of gathers and scatters ----------------===//
#include "test/passes/grad/Harness.h"

namespace dlc::gradtest {
namespace {

/// Indices without repetition, because the result of writing a position twice is undefined.
Fill once(int64_t low = 0) { return {Fill::Permutation, double(low), 0}; }
Fill any(int64_t size) { return uniform(-double(size), double(size - 1)); }

} // namespace

std::vector<Case> gatherCases() {
  std::vector<Case> cases;
  auto gather = [&](const char *name, Shape x, Shape indices, int axis) {
    cases.push_back({.name = std::string("gather/") + name,
                     .operands = {{x}, {indices, any(x[axis]), "i64"}},
                     .attributes = "axis = " + std::to_string(axis) + " : i64",
                     .second = axis == 1});
  };
  gather("embedding", {7, 4}, {2, 5}, 0);
  gather("inner", {3, 5}, {6}, 1);
  gather("middle", {2, 4, 3}, {2, 2}, 1);
  gather("scalar", {4, 3}, {}, 0);
  gather("empty", {4, 3}, {0}, 0);
  cases.push_back({.name = "gather/i32",
                   .operands = {{{7, 4}}, {{3}, any(7), "i32"}},
                   .attributes = "axis = 0 : i64"});
  cases.push_back({.name = "gather_elements/inner",
                   .operands = {{{3, 5}}, {{3, 7}, any(5), "i64"}},
                   .attributes = "axis = 1 : i64",
                   .second = true});
  cases.push_back({.name = "gather_elements/outer",
                   .operands = {{{4, 5}}, {{2, 3}, any(4), "i64"}},
                   .attributes = "axis = 0 : i64"});
  cases.push_back({.name = "gather_nd/full",
                   .operands = {{{3, 4}}, {{5, 2}, any(3), "i64"}},
                   .attributes = "batch_dims = 0 : i64"});
  cases.push_back({.name = "gather_nd/slices",
                   .operands = {{{3, 4, 2}}, {{2, 3, 1}, any(3), "i64"}},
                   .attributes = "batch_dims = 0 : i64"});
  cases.push_back({.name = "gather_nd/batch",
                   .operands = {{{2, 4, 3}}, {{2, 5, 1}, any(4), "i64"}},
                   .attributes = "batch_dims = 1 : i64"});
  cases.push_back({.name = "gather_nd/batch32",
                   .operands = {{{2, 2, 4}}, {{2, 2, 3, 1}, any(4), "i32"}},
                   .attributes = "batch_dims = 2 : i64"});
  const char *const reductions[] = {"none", "add", "mul", "max", "min"};
  for (int r = 0; r < 5; ++r) {
    std::string reduction = std::string("#dlc<scatter_reduction ") + reductions[r] + ">";
    // Only sums and products may have several updates of one position.
    bool free = r == 1 || r == 2;
    Fill updates = r >= 3 ? uniform(-0.2, 0.2) : uniform(0.5, 2);
    cases.push_back(
        {.name = std::string("scatter_elements/") + reductions[r],
         .operands = {{{6}, distinct(6)}, {{4}, free ? any(6) : once(), "i64"}, {{4}, updates}},
         .attributes = "axis = 0 : i64, reduction = " + reduction});
    cases.push_back({.name = std::string("scatter_nd/") + reductions[r],
                     .operands = {{{5, 3}, distinct(15)},
                                  {{3, 1}, free ? any(5) : once(), "i64"},
                                  {{3, 3}, updates}},
                     .attributes = "reduction = " + reduction});
  }
  cases.push_back({.name = "scatter_elements/2d",
                   .operands = {{{4, 5}}, {{2, 5}, any(4), "i64"}, {{2, 5}}},
                   .attributes = "axis = 0 : i64, reduction = #dlc<scatter_reduction add>",
                   .second = true});
  return cases;
}

} // namespace dlc::gradtest

//===- GradientTest.cpp - gradient of each differentiable operation -------===//
//
// Compares gradients with central differences in f64 (within 1e-6 of the largest element), and
// compiled f32 gradients with the reference evaluator (within 512 epsilons of f32).
//
//===----------------------------------------------------------------------===//
#include "test/passes/grad/Harness.h"

#include "gtest/gtest.h"

namespace dlc::gradtest {
namespace {

std::vector<Case> allCases() {
  std::vector<Case> all;
  for (auto table : {elementwiseCases, shapeCases, gatherCases, layerCases, windowCases,
                     recurrentCases, controlCases})
    for (Case &c : table())
      all.push_back(std::move(c));
  return all;
}

std::vector<Case> casesWith(bool Case::*flag) {
  std::vector<Case> some;
  for (Case &c : allCases())
    if (c.*flag)
      some.push_back(std::move(c));
  return some;
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  std::string name;
  for (char ch : info.param.name)
    name += isalnum(static_cast<unsigned char>(ch)) ? ch : '_';
  return name;
}

class Gradient : public testing::TestWithParam<Case> {};
class SecondGradient : public testing::TestWithParam<Case> {};
class NarrowGradient : public testing::TestWithParam<Case> {};

TEST_P(Gradient, AgreesWithDifferences) { EXPECT_EQ(checkDifferences(GetParam(), false), ""); }
TEST_P(Gradient, AgreesWhenCompiled) { EXPECT_EQ(checkCompiled(GetParam(), "f32", 512), ""); }
TEST_P(SecondGradient, AgreesWithDifferences) { EXPECT_EQ(checkDifferences(GetParam(), true), ""); }
// Intermediate results are rounded to 16 bits at different points, depending on the fusion.
TEST_P(NarrowGradient, AgreesInF16) { EXPECT_EQ(checkCompiled(GetParam(), "f16", 16), ""); }
TEST_P(NarrowGradient, AgreesInBf16) { EXPECT_EQ(checkCompiled(GetParam(), "bf16", 8), ""); }

INSTANTIATE_TEST_SUITE_P(All, Gradient, testing::ValuesIn(allCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(All, SecondGradient, testing::ValuesIn(casesWith(&Case::second)), nameOf);
INSTANTIATE_TEST_SUITE_P(All, NarrowGradient, testing::ValuesIn(casesWith(&Case::narrow)), nameOf);

} // namespace
} // namespace dlc::gradtest

//===- Support.h - running traced programs on the reference evaluator -----===//
#ifndef DLC_TEST_FRONTEND_TRACE_SUPPORT_H
#define DLC_TEST_FRONTEND_TRACE_SUPPORT_H

#include "dlc/nn.hpp"

#include <gtest/gtest.h>

namespace dlc::test {

/// Evaluates a traced program; the graph is used up.
std::vector<trace::Array> evaluate(trace::Graph graph, const std::vector<trace::Array> &inputs);

/// On the ranks of a world, which all have these inputs; by rank.
std::vector<std::vector<trace::Array>> evaluateOnRanks(int ranks, trace::Graph graph,
                                                       const std::vector<trace::Array> &inputs);

/// Compiles it and runs it on the CPU instead.
std::vector<trace::Array> execute(trace::Graph graph, const std::vector<trace::Array> &inputs);

/// The inputs x0, x1, … of a function of these arrays.
std::vector<trace::Spec> specsOf(const std::vector<trace::Array> &inputs);

/// Traces a function on inputs of these arrays' types and evaluates it on them.
template <typename F>
std::vector<trace::Array> run(F &&function, const std::vector<trace::Array> &inputs) {
  return evaluate(trace::trace(function, specsOf(inputs)), inputs);
}

std::vector<double> valuesOf(const trace::Array &array);

void expectNear(const trace::Array &found, const trace::Array &wanted, double tolerance = 1e-5);

/// The message of the dlc::Error that the function throws; empty (and a failure) when it throws
/// none.
template <typename F> std::string errorOf(F &&function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "no dlc::Error was thrown";
  return "";
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

} // namespace dlc::test

#endif // DLC_TEST_FRONTEND_TRACE_SUPPORT_H

//===- Support.h - runs traced programs on the reference evaluator --------===//
#ifndef DLC_TEST_FRONTEND_TRACE_SUPPORT_H
#define DLC_TEST_FRONTEND_TRACE_SUPPORT_H

#include "dlc/nn.hpp"

#include <gtest/gtest.h>

namespace dlc::test {

/// Evaluates a traced program. The graph is consumed.
std::vector<trace::Array> evaluate(trace::Graph graph, const std::vector<trace::Array> &inputs);

/// Evaluates the program on all ranks of a world, which have the same inputs. Returns the results
/// of each rank.
std::vector<std::vector<trace::Array>> evaluateOnRanks(int ranks, trace::Graph graph,
                                                       const std::vector<trace::Array> &inputs);

/// Compiles the program and runs it on the CPU.
std::vector<trace::Array> execute(trace::Graph graph, const std::vector<trace::Array> &inputs);

/// Returns specifications of the inputs x0, x1, ... with the types of the arrays.
std::vector<trace::Spec> specsOf(const std::vector<trace::Array> &inputs);

/// Traces a function with inputs of the arrays' types and evaluates it on the arrays.
template <typename F>
std::vector<trace::Array> run(F &&function, const std::vector<trace::Array> &inputs) {
  return evaluate(trace::trace(function, specsOf(inputs)), inputs);
}

std::vector<double> valuesOf(const trace::Array &array);

void expectNear(const trace::Array &found, const trace::Array &wanted, double tolerance = 1e-5);

/// Returns the message of the dlc::Error that the function throws. If it throws none, returns ""
/// and records a failure.
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

//===- Harness.h - builds a function and its gradient and compares them ---===//
#ifndef DLC_TEST_PASSES_GRAD_HARNESS_H
#define DLC_TEST_PASSES_GRAD_HARNESS_H

#include "ir/tensor/Tensor.h"
#include "test/conformance/Case.h"

#include "mlir/IR/BuiltinOps.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace dlc::gradtest {

using conformance::Fill;
using conformance::Shape;

/// An operand. The element type FF is f64 for finite differences and f32 for compiled code.
struct Operand {
  Shape shape;
  Fill fill = {Fill::Uniform, -2, 2};
  std::string type = "FF";
};

/// One case of a table: either one operation with its attributes, or a function body.
struct Case {
  std::string name;
  std::vector<Operand> operands;
  /// Text of the attributes of a single operation, without braces.
  std::string attributes = {};
  /// Number of results of the operation.
  unsigned results = 1;
  /// Result types, if they cannot be inferred from the operands.
  std::vector<std::string> resultTypes = {};
  /// Function body, used instead of the operation `name`. FF is the element type, %a0, %a1, ... are
  /// the operands, and the text ends with a return of `resultTypes`.
  std::string body = {};
  /// Also checks the gradient of the gradient.
  bool second = false;
  /// Also compiles the case for 16-bit floats.
  bool narrow = false;
};

/// Returns the operation's name, which is the part before the first slash.
inline std::string operationOf(const Case &c) { return c.name.substr(0, c.name.find('/')); }

/// Prints the case's name in the output of tests.
void PrintTo(const Case &c, std::ostream *stream);

/// Distinct values with distances of 1, none of which is 0.
inline Fill distinct(int64_t count) {
  const int64_t half = count / 2;
  return {Fill::Permutation, 0.25 - double(half), 0};
}
inline Fill uniform(double low, double high) { return {Fill::Uniform, low, high}; }
std::string array(const Shape &values);

/// Compares the gradient with central differences. Returns a description of the error, or "".
std::string checkDifferences(const Case &c, bool second);
/// Compiles the module and runs its function `main`. Returns a description of the error, or "".
std::string runCompiled(mlir::ModuleOp module, llvm::ArrayRef<ref::Tensor> inputs,
                        std::vector<ref::Tensor> &results);
/// Compares the compiled gradient with the reference evaluator, with FF as `element`.
std::string checkCompiled(const Case &c, const std::string &element, double tolerance);

std::vector<Case> elementwiseCases();
std::vector<Case> shapeCases();
std::vector<Case> gatherCases();
std::vector<Case> layerCases();
std::vector<Case> windowCases();
std::vector<Case> recurrentCases();
std::vector<Case> controlCases();

} // namespace dlc::gradtest

#endif // DLC_TEST_PASSES_GRAD_HARNESS_H

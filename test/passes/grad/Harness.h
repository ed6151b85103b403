//===- Harness.h - a function, its gradient, and what they must agree in --===//
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

/// An operand of type FF is f64 against finite differences and f32 when compiled.
struct Operand {
  Shape shape;
  Fill fill = {Fill::Uniform, -2, 2};
  std::string type = "FF";
};

/// One line of a table. Either one operation with its attributes, or a function's body.
struct Case {
  std::string name;
  std::vector<Operand> operands;
  /// Of one operation: the text of its attributes, without braces.
  std::string attributes = {};
  /// How many results the operation has.
  unsigned results = 1;
  /// Where the operation's type does not follow from its operands.
  std::vector<std::string> resultTypes = {};
  /// In place of the operation `name`: text in which FF stands for the element type, %a0, %a1 ..
  /// are the operands, and that ends in a return of `resultTypes`.
  std::string body = {};
  /// Also check the gradient of the gradient.
  bool second = false;
  /// Also compile it for 16-bit floats.
  bool narrow = false;
};

/// The operation's name is what stands before the first slash.
inline std::string operationOf(const Case &c) { return c.name.substr(0, c.name.find('/')); }

/// What tests call the case.
void PrintTo(const Case &c, std::ostream *stream);

/// Distinct numbers one apart, none of them 0.
inline Fill distinct(int64_t count) {
  const int64_t half = count / 2;
  return {Fill::Permutation, 0.25 - double(half), 0};
}
inline Fill uniform(double low, double high) { return {Fill::Uniform, low, high}; }
std::string array(const Shape &values);

/// What is wrong, empty when nothing is.
std::string checkDifferences(const Case &c, bool second);
/// Compiles the module and runs its function `main`; returns what is wrong.
std::string runCompiled(mlir::ModuleOp module, llvm::ArrayRef<ref::Tensor> inputs,
                        std::vector<ref::Tensor> &results);
/// FF is `element` here.
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

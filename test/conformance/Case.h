//===- Case.h - one operation on given operands, to be compared with the reference ---===//
#ifndef DLC_TEST_CONFORMANCE_CASE_H
#define DLC_TEST_CONFORMANCE_CASE_H

#include "ir/tensor/Tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::conformance {

using Shape = std::vector<int64_t>;

/// How an operand's elements are made.
struct Fill {
  /// HiddenRows: every second row is false, or minus infinity. Ascending: in even steps, the last
  /// element is the upper bound. Extreme: the limits of the element type and numbers near them.
  enum Kind { Uniform, Special, Index, Permutation, HiddenRows, Ascending, Extreme } kind = Uniform;
  double low = -2, high = 2;
};

struct Operand {
  Shape shape;
  std::string type = "f32";
  Fill fill = {};
};

/// How far a result may lie from the reference, as multiples of the element type's epsilon.
struct Tolerance {
  /// Relative to the element.
  double ulps = 4;
  /// Relative to the largest element of the reference: for sums, whose terms may cancel.
  double ofLargest = 0;
  /// Results are extreme numbers, of which the largest says nothing: errors are relative to each
  /// element at every level of accuracy.
  bool isExtreme = false;
  /// The largest result says less of the sums before it than their errors need, where these are
  /// made of parts: such may lie twice as far off.
  bool hidesSums = false;
};

struct Case {
  std::string op;
  /// What distinguishes it from the operation's other cases: "f16/broadcast".
  std::string label;
  std::vector<Operand> operands;
  /// The operation's attributes as the text of a dictionary, without braces.
  std::string attributes;
  unsigned results = 1;
  Tolerance tolerance = {};
  /// Where the result's type does not follow from the operands: its text.
  std::vector<std::string> resultTypes;
  /// For operations with regions: the text of a function's body in place of all that, ending in a
  /// return of `resultTypes`; its arguments are %a0, %a1 ... as `operands` says.
  std::string body;
  /// Whether only `--accuracy strict` promises the reference's result.
  bool isStrict = false;

  std::string name() const { return op + "/" + label; }
};

/// "tensor<2x3xf32>".
std::string typeText(const Shape &shape, const std::string &element);
/// Some constant of f32 from -1 to 1 in the text of the IR.
std::string constantText(const Shape &shape);
/// A constant of `range` different integers from `low` on, in the text of the IR.
std::string constantIntegers(const Shape &shape, const std::string &type, int64_t low,
                             int64_t range);
inline std::string typeText(const Operand &o) { return typeText(o.shape, o.type); }

bool isFloatName(const std::string &type);
bool isUnsignedName(const std::string &type);

/// Fills the tensor as the operand asks; the same seed gives the same elements.
void fillTensor(ref::Tensor &tensor, const Fill &fill, uint64_t seed);

/// Which cases a program runs.
struct Choice {
  /// Texts divided by commas: cases whose names hold one of them. Any name holds an empty one.
  std::string filter;
  /// Of those every so manyth, from this one on.
  size_t sample = 1, from = 0;

  /// Whether the argument is --filter, --sample or --from, each with a value.
  bool takes(const std::string &argument, const char *value);
  std::vector<Case> of(const std::vector<Case> &all) const;
};

/// The tables.
void addElementwiseCases(std::vector<Case> &cases);
void addShapeCases(std::vector<Case> &cases);
void addGatherCases(std::vector<Case> &cases);
void addReduceCases(std::vector<Case> &cases);
void addContractCases(std::vector<Case> &cases);
void addWeightCases(std::vector<Case> &cases);
void addQuantizeCases(std::vector<Case> &cases);
void addQuantizedCases(std::vector<Case> &cases);
void addEpilogueCases(std::vector<Case> &cases);
void addConstantCases(std::vector<Case> &cases);
void addWindowCases(std::vector<Case> &cases);
void addTrainingCases(std::vector<Case> &cases);
void addNormCases(std::vector<Case> &cases);
void addRecurrentCases(std::vector<Case> &cases);
void addControlCases(std::vector<Case> &cases);

} // namespace dlc::conformance

#endif // DLC_TEST_CONFORMANCE_CASE_H

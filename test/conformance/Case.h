//===- Case.h - one operation on given operands, compared with the reference ---------===//
#ifndef DLC_TEST_CONFORMANCE_CASE_H
#define DLC_TEST_CONFORMANCE_CASE_H

#include "ir/tensor/Tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::conformance {

using Shape = std::vector<int64_t>;

/// How the elements of an operand are filled.
struct Fill {
  /// HiddenRows: every second row is false (bool) or minus infinity (float). Ascending: equal
  /// steps, where the last element is the upper bound. Extreme: limits of the element type and
  /// values near them.
  enum Kind { Uniform, Special, Index, Permutation, HiddenRows, Ascending, Extreme } kind = Uniform;
  double low = -2, high = 2;
};

struct Operand {
  Shape shape;
  std::string type = "f32";
  Fill fill = {};
};

/// Permitted difference of a result from the reference, in multiples of the element type's epsilon.
struct Tolerance {
  /// Relative to the element itself.
  double ulps = 4;
  /// Relative to the largest element of the reference, for sums whose terms may cancel.
  double ofLargest = 0;
  /// Results are extreme values, so the largest element is meaningless: errors are relative to each
  /// element at every accuracy level.
  bool isExtreme = false;
  /// Doubles `ofLargest` at accuracy levels below strict, for results that are smaller than the
  /// sums they are computed from (for example the tanh of a matmul). There, f32 sums may be
  /// computed from bf16 parts, whose errors are relative to the sums.
  bool hidesSums = false;
};

struct Case {
  std::string op;
  /// Distinguishes this case from other cases of the operation, for example "f16/broadcast".
  std::string label;
  std::vector<Operand> operands;
  /// The operation's attributes as the text of a dictionary without braces.
  std::string attributes;
  unsigned results = 1;
  Tolerance tolerance = {};
  /// Textual result types, if they cannot be inferred from the operands.
  std::vector<std::string> resultTypes;
  /// Text of a function body, used instead of `op` and `attributes` for operations with regions and
  /// for several operations. It ends with a return of `resultTypes`. Its arguments %a0, %a1, ...
  /// have the types of `operands`.
  std::string body;
  /// Whether the reference's result is guaranteed with `--accuracy strict` only.
  bool isStrict = false;

  std::string name() const { return op + "/" + label; }
};

/// Returns a tensor type as textual IR, for example "tensor<2x3xf32>".
std::string typeText(const Shape &shape, const std::string &element);
/// Returns an f32 constant with values from -1 to 1 as textual IR.
std::string constantText(const Shape &shape);
/// Returns a constant with `range` different integers, starting at `low`, as textual IR.
std::string constantIntegers(const Shape &shape, const std::string &type, int64_t low,
                             int64_t range);
inline std::string typeText(const Operand &o) { return typeText(o.shape, o.type); }

bool isFloatName(const std::string &type);
bool isUnsignedName(const std::string &type);

/// Fills the tensor as `fill` specifies. The same seed gives the same elements.
void fillTensor(ref::Tensor &tensor, const Fill &fill, uint64_t seed);

/// Selection of the cases that a program runs.
struct Choice {
  /// Comma-separated substrings. Selects the cases whose name contains at least one of them. The
  /// empty string selects all cases. `-TEXT` excludes the cases whose name contains TEXT.
  std::string filter;
  /// Selects every `sample`-th of these cases, starting at index `from`.
  size_t sample = 1, from = 0;

  /// Parses --filter, --sample and --from. Returns false if the argument is a different one or has
  /// no value.
  bool takes(const std::string &argument, const char *value);
  std::vector<Case> of(const std::vector<Case> &all) const;
};

/// Functions that append the cases of one table each.
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

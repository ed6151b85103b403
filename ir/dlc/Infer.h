//===- Infer.h - what the shape inference of all families shares ----------===//
#ifndef DLC_IR_DLC_INFER_H
#define DLC_IR_DLC_INFER_H

#include "ir/dlc/Dialect.h"
#include "mlir/IR/Diagnostics.h"

namespace dlc {

/// The operation at hand, as inference knows it: where to report and under which name.
struct Site {
  std::optional<mlir::Location> location;
  llvm::StringRef op;

  template <typename... Parts> llvm::LogicalResult fail(Parts &&...parts) const {
    return mlir::emitOptionalError(location, "'", op, "' op ", std::forward<Parts>(parts)...);
  }
};

/// An operand and its name in the operation's description. A null value is an optional operand left
/// out.
struct Operand {
  llvm::StringRef name;
  mlir::Value value;

  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
};

/// Variadic operands, called NAME[0], NAME[1] and so on.
class Operands {
public:
  Operands(llvm::StringRef name, mlir::ValueRange values);
  Operands(const Operands &) = delete;
  operator llvm::ArrayRef<Operand>() const { return all; }

private:
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<Operand> all;
};

using Shape = llvm::SmallVector<int64_t, 6>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

mlir::RankedTensorType tensorType(mlir::Value value);

/// `64`, or `?` when dynamic.
std::string dimText(int64_t dim);
/// `[2, ?, 3]`.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Equal, or one of them dynamic.
inline bool dimsAgree(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}
/// The static one of two that agree.
inline int64_t mergeDims(int64_t a, int64_t b) { return mlir::ShapedType::isDynamic(a) ? b : a; }

/// Whether `from` stretches to `to` by NumPy's rule; a dynamic dimension may.
bool broadcastsTo(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// The number of elements; none when a dimension is dynamic or the product leaves 63 bits.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The device that the operands share, without a layout (null when unplaced). 0-d operands may be
/// anywhere, and decide only when there is no other.
mlir::FailureOr<OnAttr> commonDevice(const Site &site, llvm::StringRef constraint,
                                     llvm::ArrayRef<Operand> operands);

/// Whether it is an integer of 4 or 8 bits, as quantized contractions multiply.
bool isNarrowInteger(mlir::Type element);
/// The smallest and the largest value of an integer type of at most 32 bits.
std::pair<int64_t, int64_t> integerRange(mlir::IntegerType type);
/// Checks the element types of a contraction's operands: all the same, or integers of 4 or 8 bits
/// and an i32 bias, if any. Zero points belong to such integers only. Returns the result's type.
mlir::FailureOr<mlir::Type> contractionElement(const Site &site, llvm::StringRef typesConstraint,
                                               llvm::StringRef zeroConstraint, Operand left,
                                               Operand right, Operand bias, Operand leftZero,
                                               Operand rightZero);

llvm::LogicalResult sameElementType(const Site &site, llvm::StringRef constraint,
                                    llvm::ArrayRef<Operand> operands);

llvm::LogicalResult broadcastShapes(const Site &site, llvm::StringRef constraint,
                                    llvm::ArrayRef<Operand> operands, Shape &shape);

/// Checks that an axis is a dimension of the operand.
llvm::LogicalResult checkAxis(const Site &site, llvm::StringRef constraint, int64_t axis,
                              Operand x);

/// Checks that an operand has the given dimensions; dynamic ones agree with all.
llvm::LogicalResult checkShape(const Site &site, llvm::StringRef constraint, Operand x,
                               llvm::ArrayRef<int64_t> wanted, llvm::StringRef meaning);

/// Appends a result type, unless its size is beyond all memory.
llvm::LogicalResult addResult(const Site &site, Types &types, llvm::ArrayRef<int64_t> shape,
                              mlir::Type element, OnAttr place);

/// One spatial dimension of a sliding window.
struct WindowedDim {
  int64_t input, window, stride, dilation, low, high;
};

/// The size of the result along it; fails when it would be negative.
mlir::FailureOr<int64_t> windowedDim(const Site &site, llvm::StringRef constraint,
                                     unsigned dimension, WindowedDim w);
/// The size that conv_transpose gives: the adjoint of the above.
mlir::FailureOr<int64_t> transposedDim(const Site &site, llvm::StringRef constraint,
                                       unsigned dimension, WindowedDim w, int64_t extra);

/// Checks that an attribute has `count` entries, none below `least`.
llvm::LogicalResult checkEntries(const Site &site, llvm::StringRef constraint, llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> entries, size_t count,
                                 int64_t least = INT64_MIN);

/// The result's place for elementwise operations: the common device, and the layout that all
/// full-size operands share.
OnAttr elementwisePlace(OnAttr device, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<Operand> operands);

llvm::LogicalResult inferUnary(const Site &site, mlir::Value x, Types &types);
/// Broadcasts; the result has the element type given, or the first operand's.
llvm::LogicalResult inferBroadcast(const Site &site, llvm::ArrayRef<Operand> operands, Types &types,
                                   mlir::Type element = {});
llvm::LogicalResult inferBinary(const Site &site, mlir::Value a, mlir::Value b, Types &types);

} // namespace dlc

#endif // DLC_IR_DLC_INFER_H

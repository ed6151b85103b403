//===- Infer.h - shape inference utilities for all operation families -----===//
#ifndef DLC_IR_DLC_INFER_H
#define DLC_IR_DLC_INFER_H

#include "ir/dlc/Dialect.h"
#include "mlir/IR/Diagnostics.h"

namespace dlc {

/// Location and name of the operation whose types are inferred, for error messages.
struct InferenceSite {
  std::optional<mlir::Location> location;
  llvm::StringRef op;

  template <typename... Parts> llvm::LogicalResult fail(Parts &&...parts) const {
    return mlir::emitOptionalError(location, "'", op, "' op ", std::forward<Parts>(parts)...);
  }
};

/// Operand and its name in the operation's definition. The value is null if an optional operand is
/// absent.
struct NamedOperand {
  llvm::StringRef name;
  mlir::Value value;

  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
};

/// Variadic operands. Error messages call them NAME[0], NAME[1] and so on.
class NamedOperands {
public:
  NamedOperands(llvm::StringRef name, mlir::ValueRange values);
  NamedOperands(const NamedOperands &) = delete;
  operator llvm::ArrayRef<NamedOperand>() const { return all; }

private:
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<NamedOperand> all;
};

using Shape = llvm::SmallVector<int64_t, 6>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

mlir::RankedTensorType tensorType(mlir::Value value);

/// Returns the dimension as text: `64`, or `?` if it is dynamic.
std::string dimText(int64_t dim);
/// Returns the shape as text: `[2, ?, 3]`.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Returns whether two dimensions are equal or one of them is dynamic.
inline bool areDimsCompatible(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}
/// Returns the static size of two compatible dimensions (see areDimsCompatible), or dynamic if both
/// are dynamic.
inline int64_t mergeDims(int64_t a, int64_t b) { return mlir::ShapedType::isDynamic(a) ? b : a; }

/// Returns whether shape `from` broadcasts to `to` by NumPy's rules. Dynamic dimensions match every
/// size.
bool broadcastsTo(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// Returns the number of elements, or nullopt if a dimension is dynamic or the product overflows
/// int64.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Returns the common device of the operands, without a layout, or null if they have no placement.
/// Rank-0 operands may be on any device; their device is used only if there is no operand of higher
/// rank. Fails if the devices differ.
mlir::FailureOr<OnAttr> commonDevice(const InferenceSite &site, llvm::StringRef constraint,
                                     llvm::ArrayRef<NamedOperand> operands);

/// Returns whether this is a 4-bit or 8-bit integer type, which operands of quantized contractions
/// may have.
bool isNarrowInteger(mlir::Type element);
/// Returns the 8-bit integer type with the same signedness as a 4-bit integer type. Returns other
/// types unchanged.
mlir::Type withEightBits(mlir::Type element);
/// Returns the minimum and the maximum value of an integer type of at most 32 bits.
std::pair<int64_t, int64_t> integerRange(mlir::IntegerType type);
/// Checks the element types of a contraction's operands, and returns the element type of the
/// result. Either all types are equal, or the operands are 4-bit or 8-bit integers and an optional
/// bias is i32. Zero points are allowed only for such integers.
mlir::FailureOr<mlir::Type> contractionElement(const InferenceSite &site,
                                               llvm::StringRef typesConstraint,
                                               llvm::StringRef zeroConstraint, NamedOperand left,
                                               NamedOperand right, NamedOperand bias,
                                               NamedOperand leftZero, NamedOperand rightZero);

llvm::LogicalResult sameElementType(const InferenceSite &site, llvm::StringRef constraint,
                                    llvm::ArrayRef<NamedOperand> operands);

llvm::LogicalResult broadcastShapes(const InferenceSite &site, llvm::StringRef constraint,
                                    llvm::ArrayRef<NamedOperand> operands, Shape &shape);

/// Checks that `axis` is a valid dimension index of the operand.
llvm::LogicalResult checkAxis(const InferenceSite &site, llvm::StringRef constraint, int64_t axis,
                              NamedOperand x);

/// Checks that an operand has the given shape. A dynamic dimension matches every size.
llvm::LogicalResult checkShape(const InferenceSite &site, llvm::StringRef constraint,
                               NamedOperand x, llvm::ArrayRef<int64_t> wanted,
                               llvm::StringRef meaning);

/// Appends a result type with the given shape. Fails if it has more than 2^46 elements.
llvm::LogicalResult addResult(const InferenceSite &site, Types &types,
                              llvm::ArrayRef<int64_t> shape, mlir::Type element, OnAttr place);

/// Sizes and attributes of one spatial dimension of a convolution or pool.
struct WindowedDim {
  int64_t input, window, stride, dilation, low, high;
};

/// Returns the size of a convolution's or pool's result along this dimension. Fails if the size
/// would be negative.
mlir::FailureOr<int64_t> windowedDim(const InferenceSite &site, llvm::StringRef constraint,
                                     unsigned dimension, WindowedDim w);
/// Returns the size of a transposed convolution's result along this dimension, the inverse of
/// `windowedDim`.
mlir::FailureOr<int64_t> transposedDim(const InferenceSite &site, llvm::StringRef constraint,
                                       unsigned dimension, WindowedDim w, int64_t extra);

/// Checks that an attribute has `count` entries, each at least `least`.
llvm::LogicalResult checkEntries(const InferenceSite &site, llvm::StringRef constraint,
                                 llvm::StringRef name, llvm::ArrayRef<int64_t> entries,
                                 size_t count, int64_t least = INT64_MIN);

/// Returns the placement of an elementwise result: the common device, and the layout of the
/// operands that have the result's shape, if these layouts are equal.
OnAttr elementwisePlace(OnAttr device, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<NamedOperand> operands);

llvm::LogicalResult inferUnary(const InferenceSite &site, mlir::Value x, Types &types);
/// Infers the type of an elementwise result with NumPy broadcasting. Its element type is `element`,
/// or that of the first operand if `element` is null.
llvm::LogicalResult inferBroadcast(const InferenceSite &site, llvm::ArrayRef<NamedOperand> operands,
                                   Types &types, mlir::Type element = {});
llvm::LogicalResult inferBinary(const InferenceSite &site, mlir::Value a, mlir::Value b,
                                Types &types);

} // namespace dlc

#endif // DLC_IR_DLC_INFER_H

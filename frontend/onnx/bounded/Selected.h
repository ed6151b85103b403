//===- Selected.h - tensors with a bounded dynamic dimension --------------===//
//
// The results of NonZero and similar operators have one slice for each true element of a condition.
// The number is known only at run time. Such a tensor is stored with the capacity for all elements
// and with the condition. Shapes remain static, and operators that process each slice separately
// process all of them. Reductions over slices and scatters ignore slices that are not selected.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_ONNX_BOUNDED_SELECTED_H
#define DLC_FRONTEND_ONNX_BOUNDED_SELECTED_H

#include "frontend/onnx/Families.h"

namespace dlc::onnxfront {

/// Selected slices along the dimension `axis` of a tensor, which is a bounded dynamic dimension.
struct Selection {
  /// A range of adjacent slices. Those with a true condition are selected. Without a condition, all
  /// are.
  struct Piece {
    Value condition;
    int64_t length = 0;
  };
  std::vector<Piece> pieces;
  int64_t axis = 0;
  /// Whether all slices are equal. Then only the number of selected slices matters, and the number
  /// may be unknown.
  bool uniform = false;
  /// Set if the tensor contains the indices of selected slices, as the result of NonZero does: the
  /// shape of the tensor that the indices refer to.
  std::optional<Dims> places;
  /// Set if some slices of the tensor that `places` describes are unselected: its selected slices.
  /// The indices then still count unselected slices. Null means that all are selected.
  std::shared_ptr<const Selection> within;

  /// Returns the maximum number of selected slices.
  int64_t capacity() const;
  /// Returns whether the conditions of the pieces determine the number of selected slices.
  bool hasKnownCount() const;
};

/// Returns the result of NonZero for an operand that is not a constant, as an item with a bounded
/// dynamic dimension.
GraphValue buildDynamicNonZero(Build &b, Value x);
/// Compress: selects the slices of x along an axis whose element of `condition` (type i1) is true.
/// Returns an item with a bounded dynamic dimension.
GraphValue buildDynamicCompress(Build &b, Value x, Value condition, int64_t axis);

/// Returns the result of NonMaxSuppression. `among` is the selection of boxes and scores; null
/// means that all boxes are selected.
GraphValue buildNonMaxSuppression(Node &n, Build &b, const Selection *among);

/// Returns one of two items, depending on a condition known only at run time. The result contains
/// the slices of both items along the only dimension in which the items differ; the slices of the
/// chosen item are selected. Returns an absent item if the shapes are incompatible.
GraphValue buildConditionalValue(Build &b, Value condition, const GraphValue &one,
                                 const GraphValue &other);

/// Imports a node with an input that has a bounded dynamic dimension or that is the size of such a
/// dimension.
void importSelected(Node &n, Build &b, const Operator &op);
/// Returns the number of true elements of a condition as a Size item if the sum of x over all axes
/// is that number. Returns nullopt otherwise.
std::optional<GraphValue> matchCountOfTrue(Build &b, Value x, const ReductionOptions &r);
/// Returns true if an item has a bounded dynamic dimension or is the size of one.
bool isSelected(const GraphValue &item);

/// Converts program outputs with a bounded dynamic dimension. The selected slices are moved to the
/// front, and an additional output contains their number.
class SelectedOutputs {
public:
  struct BoundedOutput {
    /// Value of the output. Null if the item cannot be an output.
    Value value;
    int64_t axis = 0;
    size_t counter = 0;
  };
  BoundedOutput take(Build &b, const GraphValue &item);
  size_t size() const { return taken.size(); }
  Value count(size_t counter) const { return taken[counter].count; }

private:
  struct Taken {
    Selection slices;
    Value count;
  };
  std::vector<Taken> taken;
};

/// Converts an item to an ordinary tensor. A Size item is computed at run time. For an item with a
/// bounded dynamic dimension, reports an error that its condition must be constant. Returns any
/// other item unchanged.
GraphValue toOrdinaryTensor(Build &b, const GraphValue &item, const llvm::Twine &what);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_BOUNDED_SELECTED_H

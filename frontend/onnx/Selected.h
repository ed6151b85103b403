//===- Selected.h - tensors with a bounded dynamic dimension --------------===//
//
// The results of NonZero and similar operators have one slice for each true element of a condition.
// The number is known only at run time. Such a tensor is stored with the capacity for all elements
// and with the condition. Shapes remain static, and operators that process each slice separately
// process all of them. Reductions over slices and scatters ignore slices that are not selected.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_ONNX_SELECTED_H
#define DLC_FRONTEND_ONNX_SELECTED_H

#include "frontend/onnx/Families.h"

namespace dlc::onnxfront {

/// The selected slices along one dimension of a tensor.
struct Selection {
  /// Adjacent slices, of which those with a true condition are selected; without a condition all.
  struct Piece {
    Value condition;
    int64_t length = 0;
  };
  std::vector<Piece> pieces;
  int64_t axis = 0;
  /// All slices are equal, so that only their number matters, which may be unknown.
  bool uniform = false;
  /// The elements are indices as in NonZero's result: those of the slices, in a tensor of this
  std::optional<Dims> places;
  /// shape. `within` are the selected slices of that tensor; null: all.
  std::shared_ptr<const Selection> within;

  /// Maximum number of slices (capacity).
  int64_t capacity() const;
  /// Whether the pieces determine the number of selected slices.
  bool hasKnownCount() const;
};

/// Returns the result of NonZero for an operand whose values are not constant.
Item nonZeroSelected(Build &b, Value x);
/// Selects slices of x along an axis by a condition of type i1 with one element per slice.
Item compressSelected(Build &b, Value x, Value condition, int64_t axis);

/// Returns the result of NonMaxSuppression. `among` are the selected slices of boxes and scores;
/// null: all.
Item suppressedItem(Node &n, Build &b, const Selection *among);

/// Returns one of two items, depending on a condition: the slices of both, along the one dimension
/// in which they differ, of which those of one are selected. Returns an absent item if their shapes
/// are incompatible.
Item chosenItem(Build &b, Value condition, const Item &one, const Item &other);

/// Imports a node with an input that has a bounded dynamic dimension, or is the size of one.
void importSelected(Node &n, Build &b, const Operator &op);
/// Returns the number of true elements, if the sum of x is that number: a size. Otherwise nullopt.
std::optional<Item> countOfTrue(Build &b, Value x, const Reduction &r);
/// Returns true if an item has a bounded dynamic dimension or is a size.
bool isSelected(const Item &item);

/// Outputs of a program with a bounded dynamic dimension: the selected slices are first, and an
/// additional output has their number.
class SelectedOutputs {
public:
  struct BoundedOutput {
    /// Null if the item cannot be an output.
    Value value;
    int64_t axis = 0;
    size_t counter = 0;
  };
  BoundedOutput take(Build &b, const Item &item);
  size_t size() const { return taken.size(); }
  Value count(size_t counter) const { return taken[counter].count; }

private:
  struct Taken {
    Selection slices;
    Value count;
  };
  std::vector<Taken> taken;
};

/// Returns a size as a tensor computed at run time. Reports an error for a tensor with a bounded
/// dynamic dimension, whose condition must be constant. Returns any other item unchanged.
Item plainItem(Build &b, const Item &item, const llvm::Twine &what);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SELECTED_H

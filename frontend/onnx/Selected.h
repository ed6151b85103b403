//===- Selected.h - tensors of which a condition chooses the slices -------===//
//
// What NonZero and its like give has as many slices as a condition holds in places, which only the
// run can tell. Such a tensor is kept with room for all places, beside the condition: shapes stay
// static, and operators that treat slices one by one work on all of them. What sums over slices, or
// writes them to places, leaves out those that are not there.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_ONNX_SELECTED_H
#define DLC_FRONTEND_ONNX_SELECTED_H

#include "frontend/onnx/Families.h"

namespace dlc::onnxfront {

/// Which slices along one dimension of a tensor are there.
struct Selection {
  /// Slices in a row: those where the condition's elements hold; without a condition all.
  struct Piece {
    Value condition;
    int64_t length = 0;
  };
  std::vector<Piece> pieces;
  int64_t axis = 0;
  /// All slices are equal, so that only their number matters; the pieces may not even tell that.
  bool uniform = false;
  /// The elements are NonZero's: the places of the slices, in a tensor of this shape...
  std::optional<Dims> places;
  /// ...in which these slices are there; null: all.
  std::shared_ptr<const Selection> within;

  /// Slices that there may be.
  int64_t room() const;
  /// Whether the pieces tell how many there are.
  bool isCounted() const;
};

/// What NonZero gives where its operand's values are unknown.
Item nonZeroSelected(Build &b, Value x);
/// The slices of x along an axis, of i1 conditions of as many.
Item compressSelected(Build &b, Value x, Value condition, int64_t axis);

/// What NonMaxSuppression gives, of boxes and scores that may be those of selected slices; null: of
/// all.
Item suppressedItem(Node &n, Build &b, const Selection *among);

/// The one or the other, as a condition of the run says: the slices of both, along the one
/// dimension in which they differ, of which those of one are there. Absent where they fit in no
/// way.
Item chosenItem(Build &b, Value condition, const Item &one, const Item &other);

/// Imports a node of which an input is selected, or the size of such.
void importSelected(Node &n, Build &b, const Operator &op);
/// The number of true elements, where the sum of x is that: a size like others. Else nothing.
std::optional<Item> countOfTrue(Build &b, Value x, const Reduction &r);
/// Whether an item is one of these.
bool isSelected(const Item &item);

/// What a program gives back of selected tensors: the slices that are there come first, and a
/// number beside them says how many.
class SelectedOutputs {
public:
  struct Counted {
    /// Null where it cannot be given back.
    Value value;
    int64_t axis = 0;
    size_t counter = 0;
  };
  Counted take(Build &b, const Item &item);
  size_t size() const { return taken.size(); }
  Value count(size_t counter) const { return taken[counter].count; }

private:
  struct Taken {
    Selection slices;
    Value count;
  };
  std::vector<Taken> taken;
};

/// A size as a tensor that the run computes; an error for a selected tensor, whose condition must
/// be known; any other item as it is.
Item plainItem(Build &b, const Item &item, const llvm::Twine &what);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SELECTED_H

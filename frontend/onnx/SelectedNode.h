//===- SelectedNode.h - a node with inputs of bounded dynamic size --------===//
// Only for the files that implement Selected.h.
#ifndef DLC_FRONTEND_ONNX_SELECTEDNODE_H
#define DLC_FRONTEND_ONNX_SELECTEDNODE_H

#include "frontend/onnx/Selected.h"

namespace dlc::onnxfront {

//===--- Conditions and slices ------------------------------------------------===//

/// Returns true if two selections have the same slices, along any axes.
bool sameSlices(const Selection &a, const Selection &c);
/// Returns the same slices for another tensor.
Selection slicesOf(const Selection &s);
/// Returns the selection in which each slice is replaced by one slice for each element of `inner`.
Selection eachSlice(Build &b, const Selection &s, ArrayRef<int64_t> inner);
/// Returns the operand of which a condition is a reshape.
Value unshaped(Value v);
Value isTrue(Build &b, Value x);
/// Returns the mask of selected slices: i1 [capacity].
Value maskOf(Build &b, const Selection &s);
/// Returns the mask, reshaped to broadcast with x, whose dimension `axis` has the slices.
Value broadcastMask(Build &b, const Selection &s, Value x, int64_t axis);
/// Returns x with a number in all slices that are not selected.
Value filled(Build &b, const Selection &s, Value x, double number);
/// Returns x for use in a computation. The gradient of an unselected slice is 0 times the
/// derivative. In training, unselected slices get a value with a finite derivative (as for log).
Value withFiniteSlices(Build &b, const Selection &s, Value x);
Item selectedItem(Value v, Selection s);
/// Returns the number of selected slices, as i64.
Value countOf(Build &b, const Selection &s);
/// Returns the index of each slice among the selected ones: i64 [capacity].
Value compactIndices(Build &b, const Selection &s);
/// Returns NonZero of a condition: i64 [rank, capacity], with the indices of all elements.
Item nonZeroItem(Build &b, Value condition, ArrayRef<int64_t> shape,
                 std::shared_ptr<const Selection> within);

//===--- Sizes ----------------------------------------------------------------===//

/// Number of further slice counts for which the value of a size is stored.
inline constexpr int64_t otherSizes = 2;
/// Returns `values`, in which `times` is the factor of the slice count in each element.
Item sizeItem(Build &b, ArrayRef<int64_t> values, ArrayRef<int64_t> times, ArrayRef<int64_t> shape,
              const Selection &s);
/// Returns the slice count, in the element type of an integer sum.
Item countItem(Build &b, ArrayRef<int64_t> shape, Type element, const Selection &s);
/// Returns the factor of the slice count in each element of a size; nullopt if one is no multiple.
std::optional<std::vector<double>> timesOf(Build &b, const Item &size);
/// Returns the condition whose true elements a sum of x counts; null if there is none.
Value countedCondition(Build &b, Value x);

/// A node with inputs of bounded dynamic size. Rules set its outputs; a rule that does not apply
/// returns false.
class SelectedNode {
public:
  SelectedNode(Node &n, Build &b, const Operator &op) : n(n), b(b), op(op) {}

  using Rule = bool (SelectedNode::*)();
  static Rule find(StringRef name, const Operator &op);
  void import();

private:
  const Selection *selection(int64_t i) const {
    return i < n.numInputs() && n.inputs[i].kind == Item::Selected ? n.inputs[i].selection.get()
                                                                   : nullptr;
  }
  /// Returns the common slices of two inputs, preferably those with a known count; null if
  /// neither input has a bounded dynamic dimension, or the slices differ.
  const Selection *sharedSelection(int64_t i, int64_t j) const;
  bool isSize(int64_t i) const { return i < n.numInputs() && n.inputs[i].kind == Item::Size; }
  /// Runs the operator's normal handler on the tensors with full capacity.
  std::vector<Item> run(std::vector<Item> inputs);
  std::vector<Item> runAll() {
    std::vector<Item> inputs = n.inputs;
    for (Item &item : inputs)
      if (isSelected(item))
        item = item.value;
    return run(std::move(inputs));
  }
  /// Sets all outputs to the same slices along another axis. Unless `keepsPlaces`, the results are
  /// no longer indices of slices.
  bool setOutputs(std::vector<Item> results, const Selection &s, int64_t axis,
                  bool keepsPlaces = false);
  bool isLinear() const;
  bool setReadOutput(Value v, const Selection &s, int64_t axis);
  bool sizes();

  bool identity();
  bool elementwise();
  bool transpose();
  bool reshape();
  bool expand();
  bool shape();
  bool constantOfShape();
  bool gather();
  bool gatherNd();
  bool gatherElements();
  bool scatterElements();
  bool scatterNd();
  bool slice();
  bool sliceToCount();
  bool sliceByNumber();
  bool concat();
  bool other();
  bool batched();
  bool trailing();
  bool reduce();
  bool running();
  bool matmul();
  bool gemm();
  bool nonZero();
  bool topK();
  bool search();
  bool tile();
  bool nonMaxSuppression();
  bool roiAlign();
  bool gatherByNumber(int64_t axis);
  bool gatherNdByNumber();
  bool range();
  bool resize();
  bool pad();
  bool padToSize();
  bool scatter(int64_t axis, bool byPlace);

  Node &n;
  Build &b;
  const Operator &op;
};

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SELECTEDNODE_H

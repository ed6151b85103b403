//===- SelectedNode.h - a node with inputs of bounded dynamic size --------===//
// Internal header for the files that implement Selected.h.
#ifndef DLC_FRONTEND_ONNX_BOUNDED_SELECTEDNODE_H
#define DLC_FRONTEND_ONNX_BOUNDED_SELECTEDNODE_H

#include "frontend/onnx/bounded/Selected.h"

namespace dlc::onnxfront {

//===--- Conditions and slices ------------------------------------------------===//

/// Returns true if two selections select the same slices. Their axes may differ.
bool haveSameSlices(const Selection &a, const Selection &c);
/// Returns a selection of the same slices for another tensor. The caller must set its axis.
Selection copySelectedSlices(const Selection &s);
/// Returns the selection after the dimensions `inner` are merged into the slice dimension: each
/// slice is replaced by one slice for each element of `inner`.
Selection splitSelectedSlices(Build &b, const Selection &s, ArrayRef<int64_t> inner);
/// Returns v without the reshapes that are applied to it.
Value skipReshapes(Value v);
Value convertToBool(Build &b, Value x);
/// Returns the mask of selected slices as i1 [capacity].
Value buildSelectionMask(Build &b, const Selection &s);
/// Returns the mask of selected slices reshaped so that it broadcasts to x: its dimension `axis`
/// has the size of the capacity, and all others have size 1.
Value broadcastMask(Build &b, const Selection &s, Value x, int64_t axis);
/// Returns x with `number` as the value of all unselected slices.
Value fillUnselectedSlices(Build &b, const Selection &s, Value x, double number);
/// Returns x, in training with the value 1 in unselected slices. The gradient of an unselected
/// slice is 0 times the derivative, which must be finite: log, for example, has no finite
/// derivative at 0.
Value makeUnselectedSlicesFinite(Build &b, const Selection &s, Value x);
GraphValue makeSelectedValue(Value v, Selection s);
/// Returns the number of selected slices as an i64 scalar, computed at run time.
Value countSelectedSlices(Build &b, const Selection &s);
/// Returns i64 [capacity]: the index of each selected slice among the selected slices only.
Value compactIndices(Build &b, const Selection &s);
/// Returns the result of NonZero for a condition: the indices i64 [rank, capacity] of all elements,
/// of which those with a true condition are selected.
GraphValue nonZeroItem(Build &b, Value condition, ArrayRef<int64_t> shape,
                       std::shared_ptr<const Selection> within);

//===--- Sizes ----------------------------------------------------------------===//

/// A Size item is a tensor whose elements may depend on the number of selected slices. It stores
/// its value for the maximum number (the capacity) and for `otherSizes` larger numbers, at equal
/// distances. An element is linear in the number of slices if its difference from the first value
/// is twice as large at the second larger number as at the first.
inline constexpr int64_t otherSizes = 2;
/// Returns a Size item with the given values at full capacity. `times` contains, for each element,
/// the factor by which it depends on the slice count.
GraphValue makeSizeValue(Build &b, ArrayRef<int64_t> values, ArrayRef<int64_t> times,
                         ArrayRef<int64_t> shape, const Selection &s);
/// Returns the slice count as a Size item with the element type of an integer sum.
GraphValue makeCountValue(Build &b, ArrayRef<int64_t> shape, Type element, const Selection &s);
/// Returns, for each element of a Size item, the factor by which it depends on the slice count.
/// Returns nullopt if an element does not depend linearly on the count.
std::optional<std::vector<double>> computeCountMultiples(Build &b, const GraphValue &size);
/// If x is a condition that is cast to integers, so that the sum of x counts its true elements,
/// returns the condition. Returns null otherwise.
Value getCountedCondition(Build &b, Value x);

/// A node with inputs that have a bounded dynamic dimension or are the size of one. Each member
/// function of type Rule imports some operators: it sets the outputs, or returns false if it does
/// not apply.
class SelectedNode {
public:
  SelectedNode(Node &n, Build &b, const Operator &op) : n(n), b(b), op(op) {}

  using Rule = bool (SelectedNode::*)();
  static Rule find(StringRef name, const Operator &op);
  void import();

private:
  const Selection *selection(int64_t i) const {
    return i < n.numInputs() && n.inputs[i].kind == GraphValue::Selected
               ? n.inputs[i].selection.get()
               : nullptr;
  }
  /// Returns the selection that inputs i and j share, preferably one with a known count. Returns
  /// null if neither input has a bounded dynamic dimension or if their selected slices differ.
  const Selection *sharedSelection(int64_t i, int64_t j) const;
  bool isSize(int64_t i) const { return i < n.numInputs() && n.inputs[i].kind == GraphValue::Size; }
  /// Runs the operator's normal handler on tensors at full capacity and returns the outputs.
  std::vector<GraphValue> run(std::vector<GraphValue> inputs);
  std::vector<GraphValue> runAll() {
    std::vector<GraphValue> inputs = n.inputs;
    for (GraphValue &item : inputs)
      if (isSelected(item))
        item = item.value;
    return run(std::move(inputs));
  }
  /// Sets the outputs to `results`, in which the slices of s along `axis` are selected. Unless
  /// `keepsPlaces` is set, the results no longer count as indices of slices.
  bool setOutputs(std::vector<GraphValue> results, const Selection &s, int64_t axis,
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

#endif // DLC_FRONTEND_ONNX_BOUNDED_SELECTEDNODE_H

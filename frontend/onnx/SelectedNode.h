//===- SelectedNode.h - one node, some of whose inputs are selected -------===//
// For the files of Selected.h alone.
#ifndef DLC_FRONTEND_ONNX_SELECTEDNODE_H
#define DLC_FRONTEND_ONNX_SELECTEDNODE_H

#include "frontend/onnx/Selected.h"

namespace dlc::onnxfront {

//===--- Conditions and slices ------------------------------------------------===//

/// Whether two have the same slices, along whatever axes.
bool sameSlices(const Selection &a, const Selection &c);
/// The same slices, of another tensor.
Selection slicesOf(const Selection &s);
/// What was a slice is as many as these dimensions have elements.
Selection eachSlice(Build &b, const Selection &s, ArrayRef<int64_t> inner);
/// What a condition is a reshape of.
Value unshaped(Value v);
Value isTrue(Build &b, Value x);
/// i1 [room].
Value maskOf(Build &b, const Selection &s);
/// The mask beside x, whose dimension `axis` has the slices.
Value maskBeside(Build &b, const Selection &s, Value x, int64_t axis);
/// x with a number where slices are not there.
Value filled(Build &b, const Selection &s, Value x, double number);
/// x to be computed with. A gradient of what is not there is 0 times what a function's is there:
/// in training that is a number where a function may have none (a logarithm of 0).
Value readable(Build &b, const Selection &s, Value x);
Item selectedItem(Value v, Selection s);
/// i64: how many slices are there.
Value countOf(Build &b, const Selection &s);
/// i64 [room]: the number of each slice among those that are there.
Value numbersOf(Build &b, const Selection &s);
/// NonZero of a condition: i64 [rank, room], with the places of all.
Item placesItem(Build &b, Value condition, ArrayRef<int64_t> shape,
                std::shared_ptr<const Selection> within);

//===--- Sizes ----------------------------------------------------------------===//

/// The other numbers of slices for which a size is kept.
inline constexpr int64_t otherSizes = 2;
/// `values`, in which each multiple of the number of slices that `times` says is counted.
Item sizeItem(Build &b, ArrayRef<int64_t> values, ArrayRef<int64_t> times, ArrayRef<int64_t> shape,
              const Selection &s);
/// A number of slices, in the element type of an integer sum.
Item countItem(Build &b, ArrayRef<int64_t> shape, Type element, const Selection &s);
/// How often the number of slices is in each element of a size; nothing where it is no multiple.
std::optional<std::vector<double>> timesOf(Build &b, const Item &size);
/// The condition whose true elements a sum of x counts; null: it counts none.
Value countedCondition(Build &b, Value x);

/// A node some of whose inputs are selected. Rules set its outputs; a rule that cannot returns
/// false.
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
  /// The slices that two inputs have, those that are counted where only one tells; null where
  /// neither is selected, or they differ.
  const Selection *sharedSelection(int64_t i, int64_t j) const;
  bool isSize(int64_t i) const { return i < n.numInputs() && n.inputs[i].kind == Item::Size; }
  /// The operator's own handler, on tensors with room for all.
  std::vector<Item> run(std::vector<Item> inputs);
  std::vector<Item> runAll() {
    std::vector<Item> inputs = n.inputs;
    for (Item &item : inputs)
      if (isSelected(item))
        item = item.value;
    return run(std::move(inputs));
  }
  /// Sets all outputs: the same slices, along another axis. What is no rearrangement of places is
  /// no places any more.
  bool give(std::vector<Item> results, const Selection &s, int64_t axis, bool keepsPlaces = false);
  bool isLinear() const;
  bool giveRead(Value v, const Selection &s, int64_t axis);
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
  bool asManySlices();
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

//===- Sequence.cpp - sequences and optionals -----------------------------===//
// Sequences and optionals exist only at import: a sequence is a list of values, and an optional is
// its value or empty.
#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

bool checkSequence(Node &n, Build &b, int64_t i) {
  return b.require(n.has(i) && n.inputs[i].kind == GraphValue::Sequence,
                   "input " + Twine(i) + " must be a sequence");
}

/// Reads an index into a sequence of `size` elements. If `end` is set, the index after the last
/// element is also allowed.
int64_t readPosition(Node &n, Build &b, int64_t input, int64_t size, bool end) {
  int64_t at = b.needInt(n.in(input), "the position"), from = at;
  if (at < 0)
    at += size;
  b.require(at >= 0 && at < size + (end ? 1 : 0),
            "position " + Twine(from) + " is outside a sequence of " + Twine(size));
  return at;
}

void construct(Node &n, Build &b) { n.set(0, GraphValue::sequence(n.inputs)); }

void empty(Node &n, Build &b) { n.set(0, GraphValue::sequence({})); }

void at(Node &n, Build &b) {
  if (!checkSequence(n, b, 0))
    return;
  int64_t i = readPosition(n, b, 1, int64_t(n.inputs[0].elements.size()), false);
  if (b.ok())
    n.set(0, n.inputs[0].elements[size_t(i)]);
}

void sequenceInsert(Node &n, Build &b) {
  if (!checkSequence(n, b, 0))
    return;
  auto elements = n.inputs[0].elements;
  int64_t i =
      n.has(2) ? readPosition(n, b, 2, int64_t(elements.size()), true) : int64_t(elements.size());
  if (!b.ok())
    return;
  elements.insert(elements.begin() + i, n.inputs[1]);
  n.set(0, GraphValue::sequence(std::move(elements)));
}

void sequenceErase(Node &n, Build &b) {
  if (!checkSequence(n, b, 0))
    return;
  auto elements = n.inputs[0].elements;
  int64_t i = n.has(1) ? readPosition(n, b, 1, int64_t(elements.size()), false)
                       : int64_t(elements.size()) - 1;
  if (!b.ok() ||
      !b.require(!elements.empty(), "the sequence is empty, so that no element can be erased"))
    return;
  elements.erase(elements.begin() + i);
  n.set(0, GraphValue::sequence(std::move(elements)));
}

void sequenceLength(Node &n, Build &b) {
  if (checkSequence(n, b, 0))
    n.set(0, b.scalarInt(b.i64, int64_t(n.inputs[0].elements.size())));
}

void splitToSequence(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(x));
  if (!b.ok() || !b.require(x != nullptr, "input 0 must be a tensor"))
    return;
  int64_t extent = b.dim(x, axis);
  Dims sizes;
  bool single = !n.has(1), keepdims = n.integer("keepdims", 1) != 0;
  if (single) {
    sizes.assign(size_t(std::min<int64_t>(extent, 65536)), 1);
  } else if (b.rank(n.in(1)) == 0) {
    int64_t chunk = b.needInt(n.in(1), "the sizes of the parts");
    if (!b.ok() || !b.require(chunk > 0, "the size of the parts must be positive"))
      return;
    for (int64_t done = 0; done < extent && sizes.size() < 65536; done += chunk)
      sizes.push_back(std::min(chunk, extent - done));
  } else {
    sizes = b.needInts(n.in(1), "the sizes of the parts");
  }
  int64_t done = 0;
  std::vector<GraphValue> parts;
  for (int64_t size : sizes) {
    if (!b.require(size >= 0 && size <= extent - done, "the parts are longer than the axis"))
      return;
    Value part = b.sliceAxis(x, axis, done, size);
    done += size;
    if (single && !keepdims) {
      Dims shape = b.dims(part);
      shape.erase(shape.begin() + axis);
      part = b.reshape(part, shape);
    }
    parts.push_back(part);
  }
  if (b.require(done == extent, "the sizes of the parts do not add up to the size of the axis"))
    n.set(0, GraphValue::sequence(std::move(parts)));
}

void concatFromSequence(Node &n, Build &b) {
  if (!checkSequence(n, b, 0))
    return;
  std::vector<Value> parts;
  for (const GraphValue &item : n.inputs[0].elements)
    parts.push_back(item.value);
  if (!b.require(!parts.empty() && llvm::all_of(parts, [](Value v) { return bool(v); }),
                 "required a sequence of at least one tensor"))
    return;
  bool fresh = n.integer("new_axis", 0) != 0;
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(parts[0]) + (fresh ? 1 : 0));
  if (b.ok())
    n.set(0, fresh ? b.stack(parts, axis) : b.concat(parts, axis));
}

void sequenceMap(Node &n, Build &b) {
  const onnx::GraphProto *body = n.graph("body");
  if (!body || !checkSequence(n, b, 0))
    return;
  size_t size = n.inputs[0].elements.size();
  std::vector<std::vector<GraphValue>> outputs(body->output_size());
  for (size_t i = 0; i < size && b.ok(); ++i) {
    std::vector<GraphValue> arguments, results;
    for (const GraphValue &input : n.inputs) {
      bool sequence = input.kind == GraphValue::Sequence;
      if (!b.require(!sequence || input.elements.size() == size,
                     "the sequences must have one length"))
        return;
      arguments.push_back(sequence ? input.elements[i] : input);
    }
    if (!n.importer.graph(*body, arguments, &n.scope, n.frame, b, results))
      return;
    n.restore();
    for (size_t k = 0; k < results.size(); ++k)
      outputs[k].push_back(results[k]);
  }
  for (size_t k = 0; k < outputs.size(); ++k)
    n.set(int64_t(k), GraphValue::sequence(outputs[k]));
}

void optional(Node &n, Build &b) { n.set(0, n.has(0) ? n.inputs[0] : GraphValue::none()); }

void optionalGetElement(Node &n, Build &b) {
  if (b.require(n.inputs[0].kind != GraphValue::None, "the optional is empty, and has no element"))
    n.set(0, n.inputs[0]);
}

void optionalHasElement(Node &n, Build &b) {
  n.set(0, b.scalarInt(b.i1, n.has(0) && n.inputs[0].kind != GraphValue::None ? 1 : 0));
}

const Operator table[] = {
    {"SequenceConstruct", construct},
    {"SequenceEmpty", empty},
    {"SequenceAt", at},
    {"SequenceInsert", sequenceInsert},
    {"SequenceErase", sequenceErase},
    {"SequenceLength", sequenceLength},
    {"SplitToSequence", splitToSequence},
    {"ConcatFromSequence", concatFromSequence},
    {"SequenceMap", sequenceMap},
    {"Optional", optional},
    {"OptionalGetElement", optionalGetElement},
    {"OptionalHasElement", optionalHasElement},
};

} // namespace

ArrayRef<Operator> sequenceOperators() { return table; }

} // namespace dlc::onnxfront

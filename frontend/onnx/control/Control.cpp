//===- Control.cpp - branches and loops -----------------------------------===//
// Control flow that is constant at import is resolved in this file: a branch on a constant is
// inlined, and a short loop with a constant trip count is unrolled.
#include "frontend/onnx/Importer.h"
#include "frontend/onnx/bounded/Selected.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Number of operations up to which a loop is always unrolled. A larger loop is unrolled only if it
/// cannot be imported as dlc.loop.
constexpr int64_t smallLoop = 512;
/// Maximum number of iterations of a loop that cannot be imported as dlc.loop and must be unrolled.
constexpr int64_t maxUnrolled = 65536;

int64_t countNodes(const onnx::GraphProto &graph) {
  int64_t result = graph.node_size();
  for (const auto &node : graph.node())
    for (const auto &attribute : node.attribute())
      if (attribute.has_g())
        result += countNodes(attribute.g());
  return result;
}

bool allTensors(ArrayRef<GraphValue> items) {
  return llvm::all_of(items,
                      [](const GraphValue &item) { return item.kind == GraphValue::Tensor; });
}

/// Runs f with the builder in the given block. If `quiet` is set, errors are recorded without a
/// message.
template <typename F> bool buildInBlock(Build &b, Block *block, bool quiet, F f) {
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToEnd(block);
  bool before = b.silent;
  b.silent |= quiet;
  bool good = f() && b.ok();
  b.silent = before;
  return good;
}

void buildYield(Build &b, ArrayRef<Value> values) {
  YieldOp::create(b.b, b.getLoc(), ValueRange(values));
}

/// Imports both branches of an If inline and selects between their results at run time. Returns
/// false if the results cannot be combined.
bool chooseResults(Node &n, Build &b, const onnx::GraphProto &thenGraph,
                   const onnx::GraphProto &elseGraph) {
  std::vector<GraphValue> items[2];
  const bool before = std::exchange(b.silent, true);
  bool good = n.importer.graph(thenGraph, {}, &n.scope, n.frame, b, items[0]) &&
              n.importer.graph(elseGraph, {}, &n.scope, n.frame, b, items[1]) &&
              items[0].size() == items[1].size();
  n.restore();
  std::vector<GraphValue> results;
  for (size_t i = 0; good && i < items[0].size(); ++i) {
    results.push_back(buildConditionalValue(b, n.in(0), items[0][i], items[1][i]));
    good = b.ok() && results.back().kind != GraphValue::Absent;
  }
  b.silent = before;
  if (!good) {
    b.clearError();
    return false;
  }
  for (auto [i, item] : llvm::enumerate(results))
    n.set(int64_t(i), item);
  return true;
}

void importIf(Node &n, Build &b) {
  const onnx::GraphProto *thenGraph = n.graph("then_branch"), *elseGraph = n.graph("else_branch");
  if (!b.ok() || !b.require(b.count(n.in(0)) == 1, "the condition must have one element"))
    return;
  for (const onnx::GraphProto *each : {thenGraph, elseGraph})
    if (!b.require(each->output_size() == n.numOutputs(),
                   "branch '" + Twine(each->name()) +
                       "' contradicts the node; required: " + Twine(n.numOutputs()) +
                       " outputs; found: " + Twine(each->output_size()) + "; correct the branch"))
      return;
  std::vector<GraphValue> results;
  auto inlined = [&](bool condition) {
    if (!n.importer.graph(condition ? *thenGraph : *elseGraph, {}, &n.scope, n.frame, b, results))
      return;
    for (auto [i, item] : llvm::enumerate(results))
      n.set(int64_t(i), item);
  };
  if (auto condition = b.known(n.in(0)))
    return inlined(condition->getInt(0) != 0);

  Region regions[2];
  SmallVector<Type> types[2];
  bool good = true;
  for (int side = 0; side < 2 && good; ++side) {
    Block *block = new Block;
    regions[side].push_back(block);
    good = buildInBlock(b, block, true, [&] {
      std::vector<GraphValue> items;
      if (!n.importer.graph(side == 0 ? *thenGraph : *elseGraph, {}, &n.scope, n.frame, b, items) ||
          !allTensors(items))
        return false;
      SmallVector<Value> values;
      for (const GraphValue &item : items) {
        values.push_back(item.value);
        types[side].push_back(item.value.getType());
      }
      buildYield(b, values);
      return true;
    });
  }
  n.restore();
  if (good && types[0] == types[1]) {
    OperationState state(b.getLoc(), IfOp::getOperationName());
    state.addOperands(n.in(0));
    state.addTypes(types[0]);
    state.addRegion()->takeBody(regions[0]);
    state.addRegion()->takeBody(regions[1]);
    Operation *op = b.b.create(state);
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      n.set(int64_t(i), value);
    return;
  }
  // The results of the branches are not tensors of equal types. Either the condition is evaluated
  // at import, or the results become bounded dynamic results that are selected at run time.
  b.clearError();
  b.discard(regions[0]);
  b.discard(regions[1]);
  if (!b.attempt(n.in(0)) && !b.training && chooseResults(n, b, *thenGraph, *elseGraph))
    return;
  if (auto condition = b.need(
          n.in(0),
          "the condition, since the branches' results differ in shape or one cannot be imported,"))
    inlined(condition->getInt(0) != 0);
}

/// Common form of Loop and Scan, in which body(iteration, carried) returns (condition, carried,
/// scanned).
struct LoopOperands {
  const onnx::GraphProto *body;
  std::vector<GraphValue> inits;
  /// Trip count and initial condition. Null if the loop does not have them.
  Value trip, condition;
  int64_t scans = 0;
  /// Returns the values of the body's inputs for an iteration number and the carried values.
  std::function<std::vector<GraphValue>(Value iteration, ArrayRef<GraphValue> carried)> arguments;
  /// Whether the first output of the body is the loop condition.
  bool yieldsCondition = false;
};

struct LoopResult {
  std::vector<GraphValue> carried;
  std::vector<Value> scanned;
};

/// Imports the loop as one dlc.loop. If types change between iterations or if a value must be known
/// at import, removes all new operations and returns false.
bool buildLoop(Node &n, Build &b, const LoopOperands &form, LoopResult &result) {
  if (!allTensors(form.inits))
    return false;
  std::optional<int64_t> trip;
  if (auto known = b.known(form.trip); known && known->size() == 1)
    trip = known->getInt(0);
  Region region;
  Block *block = new Block;
  region.push_back(block);
  Location loc = b.getLoc();
  Value iteration = block->addArgument(RankedTensorType::get({}, b.i64), loc);
  std::vector<GraphValue> carried;
  SmallVector<Type> types;
  for (const GraphValue &item : form.inits) {
    carried.push_back(block->addArgument(item.value.getType(), loc));
    types.push_back(item.value.getType());
  }
  bool conditional = false;
  bool good = buildInBlock(b, block, true, [&] {
    std::vector<GraphValue> items;
    if (!n.importer.graph(*form.body, form.arguments(iteration, carried), &n.scope, n.frame, b,
                          items) ||
        !allTensors(items))
      return false;
    size_t first = form.yieldsCondition ? 1 : 0;
    if (items.size() != first + carried.size() + size_t(form.scans))
      return false;
    SmallVector<Value> yielded;
    if (form.yieldsCondition) {
      auto holds = [&](Value v) {
        auto known = b.known(v);
        return known && known->size() == 1 && known->getInt(0) != 0;
      };
      conditional = form.condition && !(holds(form.condition) && holds(items[0].value));
      if (conditional)
        yielded.push_back(b.reshape(items[0].value, {}));
    }
    if (form.scans && (conditional || !trip))
      return false;
    for (size_t i = first; i < items.size(); ++i) {
      Type type = items[i].value.getType();
      if (i - first < carried.size()) {
        if (type != types[i - first])
          return false;
      } else {
        Dims shape = b.dims(items[i].value);
        shape.insert(shape.begin(), std::max<int64_t>(*trip, 0));
        types.push_back(RankedTensorType::get(shape, b.elem(items[i].value)));
      }
      yielded.push_back(items[i].value);
    }
    buildYield(b, yielded);
    return b.ok();
  });
  n.restore();
  b.clearError();
  if (!good || (!conditional && !form.trip)) {
    b.discard(region);
    return false;
  }
  Value times = form.trip ? b.reshape(b.cast(form.trip, b.i64), {}) : Value();
  Value condition = conditional ? b.reshape(form.condition, {}) : Value();
  auto inits = llvm::map_to_vector(form.inits, [](const GraphValue &item) { return item.value; });
  auto loop = LoopOp::create(b.b, loc, types, times, condition, inits);
  loop.getBody().takeBody(region);
  for (auto [i, value] : llvm::enumerate(loop->getResults()))
    if (i < form.inits.size())
      result.carried.push_back(Value(value));
    else
      result.scanned.push_back(value);
  return true;
}

bool unrollLoop(Node &n, Build &b, const LoopOperands &form, LoopResult &result) {
  int64_t trip =
      form.trip ? b.needInt(form.trip, "the loop's trip count, since the loop must be unrolled,")
                : INT64_MAX;
  Value condition = form.condition;
  std::vector<GraphValue> carried = form.inits;
  std::vector<std::vector<Value>> scanned(form.scans);
  for (int64_t i = 0; i < trip && b.ok(); ++i) {
    if (condition) {
      auto known = b.need(condition, "the loop's condition, since the loop must be unrolled,");
      if (!known || known->size() != 1 || known->getInt(0) == 0)
        break;
    }
    if (!b.require(i < maxUnrolled, "the loop must be unrolled, and has more than " +
                                        Twine(maxUnrolled) + " iterations"))
      break;
    std::vector<GraphValue> items;
    if (!n.importer.graph(*form.body, form.arguments(b.scalarInt(b.i64, i), carried), &n.scope,
                          n.frame, b, items))
      break;
    n.restore();
    size_t first = form.yieldsCondition ? 1 : 0;
    if (!b.require(items.size() == first + carried.size() + size_t(form.scans),
                   "the body must have " + Twine(first + carried.size() + size_t(form.scans)) +
                       " outputs, and has " + Twine(items.size())))
      break;
    if (form.yieldsCondition && form.condition)
      condition = items[0].value;
    std::copy(items.begin() + long(first), items.begin() + long(first + carried.size()),
              carried.begin());
    for (int64_t s = 0; s < form.scans; ++s)
      scanned[s].push_back(items[first + carried.size() + size_t(s)].value);
  }
  n.restore();
  if (!b.ok())
    return false;
  for (auto &values : scanned) {
    if (!b.require(!values.empty(),
                   "a scanned result of a loop without iterations has no known shape"))
      return false;
    result.scanned.push_back(b.stack(values, 0));
  }
  result.carried = carried;
  return b.ok();
}

bool run(Node &n, Build &b, const LoopOperands &form, LoopResult &result) {
  auto trip = b.known(form.trip);
  bool small = trip && trip->size() == 1 && trip->getInt(0) > 0 && trip->getInt(0) <= smallLoop &&
               trip->getInt(0) * countNodes(*form.body) <= smallLoop;
  // A loop whose body computes a condition is imported as dlc.loop if possible, because it can be
  // unrolled only if the condition turns out to be constant.
  if (!(small && !form.condition) && buildLoop(n, b, form, result))
    return true;
  return b.ok() && unrollLoop(n, b, form, result);
}

void loop(Node &n, Build &b) {
  LoopOperands form;
  form.body = n.graph("body");
  if (!form.body)
    return;
  form.trip = n.in(0);
  form.condition = n.in(1);
  form.yieldsCondition = true;
  for (int64_t i = 2; i < n.numInputs(); ++i)
    form.inits.push_back(n.inputs[i]);
  int64_t carried = int64_t(form.inits.size());
  form.scans = form.body->output_size() - 1 - carried;
  if (!b.require(form.scans >= 0 && form.body->input_size() == carried + 2,
                 "required: a body whose inputs are the iteration, the condition and the carried "
                 "values, and whose first outputs are the condition and the carried values"))
    return;
  if (!b.require(n.numOutputs() <= carried + form.scans,
                 "the body contradicts the node; required: at least " + Twine(n.numOutputs() + 1) +
                     " outputs; found: " + Twine(form.body->output_size()) + "; correct the body"))
    return;
  if (auto known = b.known(form.condition); known && known->size() == 1 && known->getInt(0) == 0) {
    for (int64_t i = 0; i < carried; ++i)
      n.set(i, form.inits[i]);
    b.require(form.scans == 0, "a scanned result of a loop without iterations has no known shape");
    return;
  }
  if (!b.require(form.trip || form.condition,
                 "the loop has neither a trip count nor a condition, so that it never ends"))
    return;
  // The body's condition argument is the constant true, because the body runs only if the condition
  // holds. If the body returns the argument unchanged, the loop needs no condition.
  form.arguments = [&b](Value iteration, ArrayRef<GraphValue> carried) {
    std::vector<GraphValue> arguments{iteration, b.scalarInt(b.i1, 1)};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    return arguments;
  };
  LoopResult result;
  if (!run(n, b, form, result))
    return;
  for (auto [i, item] : llvm::enumerate(result.carried))
    n.set(int64_t(i), item);
  for (auto [i, value] : llvm::enumerate(result.scanned))
    n.set(carried + int64_t(i), value);
}

/// Moves the first dimension of a stack of scanned results to `axis`. `backward`: the last result
/// comes first.
Value moveScanAxis(Build &b, Value y, int64_t axis, bool backward) {
  int64_t rank = b.rank(y);
  axis = b.axis(axis, rank);
  if (!b.ok())
    return {};
  if (backward)
    y = b.reverse(y, 0);
  Dims permutation;
  for (int64_t d = 1; d < rank; ++d)
    permutation.push_back(d);
  permutation.insert(permutation.begin() + axis, 0);
  return b.transpose(y, permutation);
}

/// Scan. In opset 8 it has a batch dimension, and each batch element is scanned separately. From
/// opset 9 on it has none.
void scan(Node &n, Build &b) {
  const onnx::GraphProto *body = n.graph("body");
  int64_t scanInputs = n.integer("num_scan_inputs", 0);
  bool batched = n.opset < 9;
  std::vector<GraphValue> inputs(n.inputs.begin() + (batched ? 1 : 0), n.inputs.end());
  int64_t states = int64_t(inputs.size()) - scanInputs;
  if (!body ||
      !b.require(scanInputs > 0 && states >= 0 && !(batched && n.has(0)) && allTensors(inputs),
                 "required states and 'num_scan_inputs' tensors to scan; sequence lengths are not "
                 "supported"))
    return;
  int64_t scans = body->output_size() - states;
  if (!b.require(scans >= 0, "the outputs of the body must contain all states") ||
      !b.require(n.numOutputs() <= states + scans,
                 "the body contradicts the node; required: at least " + Twine(n.numOutputs()) +
                     " outputs; found: " + Twine(body->output_size()) + "; correct the body"))
    return;
  Dims axes = n.integers("scan_input_axes", scanInputs, 0),
       backward = n.integers("scan_input_directions", scanInputs, 0);
  Dims outAxes = n.integers("scan_output_axes", scans, 0),
       outBackward = n.integers("scan_output_directions", scans, 0);
  if (batched)
    backward = n.integers("directions", scanInputs, 0);
  int64_t batches = batched ? b.dim(inputs[0].value, 0) : 1;
  std::vector<std::vector<Value>> perBatch(body->output_size());
  for (int64_t batch = 0; batch < batches && b.ok(); ++batch) {
    auto part = [&](int64_t i) {
      return batched ? b.at(inputs[i].value, 0, batch) : inputs[i].value;
    };
    LoopOperands form;
    form.body = body;
    form.scans = scans;
    for (int64_t i = 0; i < states; ++i)
      form.inits.push_back(part(i));
    std::vector<Value> scanned;
    int64_t length = -1;
    for (int64_t i = 0; i < scanInputs; ++i) {
      Value x = part(states + i);
      int64_t axis = b.axis(axes[i], b.rank(x));
      int64_t extent = b.dim(x, axis);
      if (!b.ok() ||
          !b.require(length < 0 || extent == length, "the scanned inputs have different lengths"))
        return;
      length = extent;
      axes[i] = axis;
      scanned.push_back(backward[i] ? b.reverse(x, axis) : x);
    }
    form.trip = b.scalarInt(b.i64, length);
    form.arguments = [&](Value iteration, ArrayRef<GraphValue> carried) {
      std::vector<GraphValue> arguments(carried.begin(), carried.end());
      for (int64_t i = 0; i < scanInputs; ++i) {
        auto known = b.known(iteration);
        arguments.push_back(known ? b.at(scanned[i], axes[i], known->getInt(0))
                                  : b.gather(scanned[i], iteration, axes[i]));
      }
      return arguments;
    };
    LoopResult result;
    if (!run(n, b, form, result))
      return;
    for (int64_t i = 0; i < states; ++i)
      perBatch[i].push_back(result.carried[i].value);
    for (int64_t i = 0; i < scans; ++i) {
      Value y = moveScanAxis(b, result.scanned[i], outAxes[i], outBackward[i] != 0);
      if (!b.ok())
        return;
      perBatch[states + i].push_back(y);
    }
  }
  if (!b.require(batches > 0, "a batch without elements cannot be scanned"))
    return;
  for (auto [i, values] : llvm::enumerate(perBatch))
    n.set(int64_t(i), batched ? b.stack(values, 0) : values[0]);
}

const Operator table[] = {
    {"If", importIf},
    {"Loop", loop},
    {"Scan", scan},
};

} // namespace

ArrayRef<Operator> controlOperators() { return table; }

} // namespace dlc::onnxfront

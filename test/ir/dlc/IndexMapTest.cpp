//===- IndexMapTest.cpp - compares index maps with the semantics of operations ===//
#include "ir/dlc/IndexMap.h"
#include "ir/reference/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace dlc {
namespace {

int64_t product(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Values of the variables at one element.
using Values = llvm::DenseMap<const IndexAtom *, int64_t>;

int64_t valueOf(const IndexExpr &e, const Values &values);

int64_t valueOf(const IndexAtom *atom, const Values &values) {
  if (atom->kind == IndexAtom::Variable)
    return values.lookup(atom);
  int64_t a = valueOf(atom->inner, values), b = valueOf(atom->other, values);
  switch (atom->kind) {
  case IndexAtom::Quotient:
    return a / b;
  case IndexAtom::Remainder:
    return a % b;
  case IndexAtom::Least:
    return std::min(a, b);
  default:
    return std::max(a, b);
  }
}

int64_t valueOf(const IndexExpr &e, const Values &values) {
  int64_t sum = e.constant;
  for (auto [atom, coefficient] : e.terms)
    sum += coefficient * valueOf(atom, values);
  return sum;
}

/// Evaluates a body element by element with its index maps, as the emitters do: with expressions in
/// the coordinates of the result or, if `folded`, with constant indices.
class Puller {
public:
  Puller(Block &block, ArrayRef<ref::Tensor> inputs, bool folded) : folded(folded) {
    for (auto [argument, tensor] : llvm::zip(block.getArguments(), inputs))
      tensors[argument] = tensor;
  }

  double elementOf(Value result, int64_t element) {
    context = IndexContext();
    values.clear();
    Coordinates at;
    auto shape = shapeOf(result);
    int64_t rest = element, size = product(shape);
    for (int64_t extent : shape) {
      size /= extent;
      at.push_back(variable(rest / size, extent));
      rest %= size;
    }
    return pull(result, at);
  }

private:
  IndexExpr variable(int64_t value, int64_t size) {
    if (folded)
      return value;
    IndexExpr e = context.variable("v" + std::to_string(values.size()), 0, size - 1);
    if (!e.isConstant())
      values[e.terms[0].first] = value;
    return e;
  }

  bool holds(const OperandRead &read) {
    return llvm::all_of(read.guards, [&](const IndexGuard &guard) {
      int64_t place = valueOf(guard.place, values);
      return place >= 0 && place % guard.by == 0 && place / guard.by < guard.size;
    });
  }

  double pull(Value value, const Coordinates &at) {
    if (auto found = tensors.find(value); found != tensors.end()) {
      for (auto [i, size] : llvm::zip(at, shapeOf(value))) {
        int64_t place = valueOf(i, values);
        EXPECT_TRUE(place >= 0 && place < size) << i.text() << " is " << place;
        EXPECT_TRUE(place >= i.low() && place <= i.high()) << i.text() << " is " << place;
      }
      return found->second.getDouble(valueOf(context.linear(shapeOf(value), at), values));
    }
    Operation *op = value.getDefiningOp();
    auto load = [&](Value indices, const Coordinates &where, int64_t size) {
      int64_t index = int64_t(pull(indices, where));
      return variable(std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1), size);
    };
    auto reads = [&](ArrayRef<IndexExpr> over) { return readsOf(op, context, at, over, load); };
    auto element = [&](const OperandRead &read) {
      return pull(op->getOperand(read.operand), read.at);
    };
    if (op->hasTrait<ElementMove>()) {
      for (const OperandRead &read : reads({}))
        if (holds(read))
          return element(read);
      ADD_FAILURE() << "no operand has the element";
      return 0;
    }
    if (isa<AddOp>(op))
      return element(reads({})[0]) + element(reads({})[1]);
    bool largest = isa<MaxPoolOp>(op);
    double total = largest ? -INFINITY : 0;
    SmallVector<int64_t> extents = foldedExtents(op);
    for (int64_t term = 0; term < product(extents); ++term) {
      Coordinates over;
      int64_t rest = term, size = product(extents);
      for (int64_t extent : extents) {
        size /= extent;
        over.push_back(variable(rest / size, extent));
        rest %= size;
      }
      auto found = reads(over);
      if (!llvm::all_of(found, [&](const OperandRead &read) { return holds(read); }))
        continue;
      double value = 1;
      for (const OperandRead &read : found)
        value *= element(read);
      total = largest ? std::max(total, value) : total + value;
    }
    return total;
  }

  bool folded;
  llvm::DenseMap<Value, ref::Tensor> tensors;
  IndexContext context;
  Values values;
};

/// Returns small, exact values. Indices count from both ends, and some are out of range.
ref::Tensor filled(RankedTensorType type, unsigned seed) {
  ref::Tensor tensor = ref::Tensor::empty(type);
  unsigned state = seed * 7919 + 17;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 1664525 + 1013904223;
    if (isa<FloatType>(type.getElementType()))
      reinterpret_cast<float *>(tensor.mutableData())[i] = float(state >> 16 & 127) - 60;
    else
      reinterpret_cast<int64_t *>(tensor.mutableData())[i] = int64_t(state >> 16 & 15) - 7;
  }
  return tensor;
}

const char *const functions[] = {
    // Reshapes, in both directions and through dimensions of 1.
    "(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> { %y = dlc.reshape %x : (tensor<2x3x4xf32>) -> "
    "tensor<6x4xf32> return %y : tensor<6x4xf32> }",
    "(%x: tensor<4x6xf32>) -> tensor<2x2x3x2xf32> { %y = dlc.reshape %x : (tensor<4x6xf32>) -> "
    "tensor<2x2x3x2xf32> return %y : tensor<2x2x3x2xf32> }",
    "(%x: tensor<6x4xf32>) -> tensor<3x8xf32> { %y = dlc.reshape %x : (tensor<6x4xf32>) -> "
    "tensor<3x8xf32> return %y : tensor<3x8xf32> }",
    "(%x: tensor<5x1x7xf32>) -> tensor<35xf32> { %y = dlc.reshape %x : (tensor<5x1x7xf32>) -> "
    "tensor<35xf32> return %y : tensor<35xf32> }",
    "(%x: tensor<4x6xf32>) -> tensor<6x2x2xf32> { %r = dlc.reshape %x : (tensor<4x6xf32>) -> "
    "tensor<2x2x6xf32> %t = dlc.transpose %r [2, 0, 1] : (tensor<2x2x6xf32>) -> tensor<6x2x2xf32> "
    "return %t : tensor<6x2x2xf32> }",
    "(%x: tensor<6x4xf32>) -> tensor<24xf32> { %t = dlc.transpose %x [1, 0] : (tensor<6x4xf32>) -> "
    "tensor<4x6xf32> %r = dlc.reshape %t : (tensor<4x6xf32>) -> tensor<24xf32> return %r : "
    "tensor<24xf32> }",
    // Slices, broadcasts and an addition.
    "(%x: tensor<5x6xf32>) -> tensor<2x3xf32> { %y = dlc.slice %x start [4, 1] size [2, 3] stride "
    "[-3, 2] : (tensor<5x6xf32>) -> tensor<2x3xf32> return %y : tensor<2x3xf32> }",
    "(%x: tensor<3x1xf32>, %z: tensor<4xf32>) -> tensor<2x3x4xf32> { %y = dlc.broadcast %x : "
    "(tensor<3x1xf32>) -> tensor<2x3x4xf32> %s = dlc.add %y, %z : (tensor<2x3x4xf32>, "
    "tensor<4xf32>) -> tensor<2x3x4xf32> return %s : tensor<2x3x4xf32> }",
    // Padding: wider than the tensor, of a tensor with one element, and negative.
    "(%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<5x5xf32> { %y = dlc.pad constant %x, %v low "
    "[1, 2] high [1, -1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x5xf32> return %y : "
    "tensor<5x5xf32> }",
    "(%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<11x6xf32> { %y = dlc.pad wrap %x, %v low [7, "
    "-1] high [1, 3] : (tensor<3x4xf32>, tensor<f32>) -> tensor<11x6xf32> return %y : "
    "tensor<11x6xf32> }",
    "(%x: tensor<3x1xf32>, %v: tensor<f32>) -> tensor<8x4xf32> { %y = dlc.pad edge %x, %v low [2, "
    "1] high [3, 2] : (tensor<3x1xf32>, tensor<f32>) -> tensor<8x4xf32> return %y : "
    "tensor<8x4xf32> }",
    "(%x: tensor<4x3xf32>, %v: tensor<f32>) -> tensor<9x4xf32> { %y = dlc.pad reflect %x, %v low "
    "[3, -1] high [2, 2] : (tensor<4x3xf32>, tensor<f32>) -> tensor<9x4xf32> return %y : "
    "tensor<9x4xf32> }",
    "(%x: tensor<0x3xf32>, %v: tensor<f32>) -> tensor<2x3xf32> { %y = dlc.pad constant %x, %v low "
    "[1, 0] high [1, 0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32> return %y : "
    "tensor<2x3xf32> }",
    // Concatenations, including empty parts.
    "(%x: tensor<2x3xf32>, %e: tensor<2x0xf32>, %y: tensor<2x4xf32>) -> tensor<2x10xf32> { %z = "
    "dlc.concat 1 (%e, %x, %e, %y, %x, %e) : (tensor<2x0xf32>, tensor<2x3xf32>, tensor<2x0xf32>, "
    "tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x0xf32>) -> tensor<2x10xf32> return %z : "
    "tensor<2x10xf32> }",
    "(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<3x3xf32> { %z = dlc.concat 0 (%x, %y) : "
    "(tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32> %s = dlc.slice %z start [0, 0] size [3, "
    "3] stride [2, 1] : (tensor<6x3xf32>) -> tensor<3x3xf32> return %s : tensor<3x3xf32> }",
    // Gathers.
    "(%x: tensor<3x5x2xf32>, %i: tensor<2x4xi64>) -> tensor<3x2x4x2xf32> { %y = dlc.gather 1 %x, "
    "%i "
    ": (tensor<3x5x2xf32>, tensor<2x4xi64>) -> tensor<3x2x4x2xf32> return %y : "
    "tensor<3x2x4x2xf32> }",
    "(%x: tensor<3x5xf32>, %i: tensor<2x4xi64>) -> tensor<2x4xf32> { %y = dlc.gather_elements 1 "
    "%x, "
    "%i : (tensor<3x5xf32>, tensor<2x4xi64>) -> tensor<2x4xf32> return %y : tensor<2x4xf32> }",
    "(%x: tensor<2x3x4x5xf32>, %i: tensor<2x6x2xi64>) -> tensor<2x6x5xf32> { %y = "
    "\"dlc.gather_nd\"("
    "%x, %i) <{batch_dims = 1 : i64}> : (tensor<2x3x4x5xf32>, tensor<2x6x2xi64>) -> "
    "tensor<2x6x5xf32> return %y : tensor<2x6x5xf32> }",
    // Reductions and contractions.
    "(%x: tensor<2x3x4xf32>) -> tensor<3xf32> { %y = dlc.reduce sum %x axes [0, 2] : "
    "(tensor<2x3x4xf32>) -> tensor<3xf32> return %y : tensor<3xf32> }",
    "(%x: tensor<2x3x4xf32>) -> tensor<2x1x1xf32> { %y = dlc.reduce sum %x axes [1, 2] keepdims : "
    "(tensor<2x3x4xf32>) -> tensor<2x1x1xf32> return %y : tensor<2x1x1xf32> }",
    "(%a: tensor<2x1x4x3xf32>, %b: tensor<5x6x4xf32>) -> tensor<2x5x3x6xf32> { %y = dlc.matmul %a, "
    "%b transpose_a transpose_b : (tensor<2x1x4x3xf32>, tensor<5x6x4xf32>) -> tensor<2x5x3x6xf32> "
    "return %y : tensor<2x5x3x6xf32> }",
    "(%x: tensor<2x4x7xf32>, %w: tensor<6x2x3xf32>) -> tensor<2x6x4xf32> { %y = dlc.conv %x, "
    "%w {strides = array<i64: 2>, dilations = array<i64: 2>, low = array<i64: 2>, high = "
    "array<i64: 2>, groups = 2 : i64} : (tensor<2x4x7xf32>, tensor<6x2x3xf32>) -> "
    "tensor<2x6x4xf32> return "
    "%y "
    ": tensor<2x6x4xf32> }",
    "(%x: tensor<1x4x4xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x6x8xf32> { %y = "
    "\"dlc.conv_transpose\"(%x, %w) <{strides = array<i64: 2>, dilations = array<i64: 1>, low = "
    "array<i64: 1>, high = array<i64: 1>, extra = array<i64: 1>, groups = 2 : i64}> : "
    "(tensor<1x4x4xf32>, tensor<4x3x3xf32>) -> tensor<1x6x8xf32> return %y : tensor<1x6x8xf32> }",
    "(%x: tensor<2x4x7xf32>, %d: tensor<2x6x4xf32>) -> tensor<6x2x3xf32> { %y = "
    "\"dlc.conv_weight_grad\"(%x, %d) <{window = array<i64: 3>, strides = array<i64: 2>, dilations "
    "= "
    "array<i64: 2>, low = array<i64: 2>, high = array<i64: 2>, groups = 2 : i64}> : "
    "(tensor<2x4x7xf32>, tensor<2x6x4xf32>) -> tensor<6x2x3xf32> return %y : tensor<6x2x3xf32> }",
    "(%x: tensor<1x2x5x6xf32>) -> tensor<1x2x3x3xf32> { %y = \"dlc.max_pool\"(%x) <{window = "
    "array<i64: 3, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: "
    "1, 0>, high = array<i64: 1, 0>}> : (tensor<1x2x5x6xf32>) -> tensor<1x2x3x3xf32> return %y : "
    "tensor<1x2x3x3xf32> }",
};

class IndexMaps : public testing::TestWithParam<const char *> {
protected:
  IndexMaps() { context.loadDialect<DlcDialect, func::FuncDialect>(); }
  MLIRContext context;
};

TEST_P(IndexMaps, sayWhatTheOperationMeans) {
  auto module = parseSourceString<ModuleOp>(std::string("func.func @f") + GetParam(), &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  SmallVector<ref::Tensor> inputs, outputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    inputs.push_back(filled(cast<RankedTensorType>(type), i));
  ASSERT_TRUE(succeeded(ref::evaluate(function, inputs, outputs)));
  Block &block = function.getBody().front();
  Value result = block.getTerminator()->getOperand(0);
  for (bool folded : {false, true}) {
    Puller puller(block, inputs, folded);
    for (int64_t i = 0; i < outputs[0].size(); ++i)
      ASSERT_EQ(puller.elementOf(result, i), outputs[0].getDouble(i)) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, IndexMaps, testing::ValuesIn(functions));

TEST(Runs, areElementsInOrder) {
  MLIRContext context;
  context.loadDialect<DlcDialect, func::FuncDialect>();
  auto startOf = [&](const char *function) {
    auto module = parseSourceString<ModuleOp>(std::string("func.func @f") + function, &context);
    std::optional<int64_t> start;
    module->walk([&](SliceOp slice) { start = getContiguousOffset(slice); });
    return start;
  };
  EXPECT_EQ(startOf("(%x: tensor<5x4xf32>) -> tensor<2x4xf32> { %y = dlc.slice %x start [3, 0] "
                    "size [2, 4] stride [1, 1] : (tensor<5x4xf32>) -> tensor<2x4xf32> return %y : "
                    "tensor<2x4xf32> }"),
            12);
  EXPECT_EQ(startOf("(%x: tensor<5x4xf32>) -> tensor<5x2xf32> { %y = dlc.slice %x start [0, 1] "
                    "size [5, 2] stride [1, 1] : (tensor<5x4xf32>) -> tensor<5x2xf32> return %y : "
                    "tensor<5x2xf32> }"),
            std::nullopt);
  // A slice without elements has no position in its operand.
  EXPECT_EQ(startOf("(%x: tensor<0x4xf32>) -> tensor<0x2xf32> { %y = dlc.slice %x start [0, 1] "
                    "size [0, 2] stride [1, 1] : (tensor<0x4xf32>) -> tensor<0x2xf32> return %y : "
                    "tensor<0x2xf32> }"),
            std::nullopt);
}

TEST(IndexExpr, whatIsTakenApartComesTogetherAgain) {
  IndexContext x;
  Coordinates at = x.variables("d", {8, 12, 64});
  Coordinates there = x.reshape({8, 12, 64}, {8, 768}, at);
  EXPECT_EQ(there[1].text(), "d1 * 64 + d2");
  EXPECT_EQ(x.reshape({8, 768}, {8, 12, 64}, there), at);
  Coordinates rows = x.variables("r", {96, 64});
  Coordinates split = x.reshape({96, 64}, {8, 12, 64}, rows);
  EXPECT_EQ(split[0].text(), "(r0 / 12)");
  EXPECT_EQ(split[1].text(), "(r0 % 12)");
  EXPECT_EQ(split[2], rows[1]);
  EXPECT_EQ(x.linear({8, 12, 64}, split), x.linear({96, 64}, rows));
  // Rows of 64 elements are not split by rows of 128.
  Coordinates wide = x.reshape({96, 64}, {48, 128}, rows);
  EXPECT_EQ(wide[1].text(), "r1 + (r0 % 2) * 64");
}

TEST(IndexExpr, remaindersAreJoinedWhereAsked) {
  IndexContext x;
  IndexExpr at = x.variable("i", 0, 999) * 4 + x.variable("l", 0, 3);
  Coordinates taken = x.unravel({20, 14, 14}, at);
  // The outer dimension has a stride of its own.
  x.joinsRemainders = true;
  IndexExpr place = x.add(x.add(taken[0] * 1000, taken[1] * 14), taken[2]);
  Values values;
  for (int64_t i = 0; i < 980; ++i)
    for (int64_t l = 0; l < 4; ++l) {
      values[x.variable("i", 0, 999).terms[0].first] = i;
      values[x.variable("l", 0, 3).terms[0].first] = l;
      int64_t whole = i * 4 + l;
      ASSERT_EQ(valueOf(place, values), whole / 196 * 1000 + whole % 196);
    }
  // The index is contiguous over four neighbors, although 14 is not a multiple of four.
  EXPECT_EQ(place.coefficient(x.variable("l", 0, 3).terms[0].first), 1);
}

TEST(IndexExpr, extremaKnowTheirRanges) {
  IndexContext x;
  IndexExpr i = x.variable("i", -2, 9);
  EXPECT_EQ(x.least(i, 9), i);
  EXPECT_EQ(x.greatest(i, -2), i);
  IndexExpr clamped = x.greatest(x.least(i, 5), 0);
  EXPECT_EQ(clamped.low(), 0);
  EXPECT_EQ(clamped.high(), 5);
  // For a mirrored index, the minimum is largest in the middle of a period.
  IndexExpr m = x.variable("m", 0, 5);
  EXPECT_EQ(x.least(m, IndexExpr(6) - m).high(), 3);
}

TEST(IndexExpr, guardsThatAlwaysHoldAreNone) {
  IndexContext x;
  OperandRead read;
  read.guard(x.variable("i", 0, 6), 7);
  EXPECT_TRUE(read.guards.empty());
  read.guard(x.variable("i", 0, 6), 6);
  read.guard(x.variable("j", 0, 6), 7, 2);
  EXPECT_EQ(read.guards.size(), 2u);
}

} // namespace
} // namespace dlc

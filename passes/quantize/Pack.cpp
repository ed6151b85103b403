//===- Pack.cpp - 4-bit integers as bytes -----------------------------------===//
//
//   tensor<3x5xi4>    ->  tensor<3x3xui8>: two integers per byte, the first in the low half
//   cast from 4 bits  ->  x << [4, 0] >> 4 of each byte x, in 8 bits with or without a sign
//   cast to 4 bits    ->  a cast to 8 bits, of which (low & 15) | (high << 4) joins two
//
// Other operations that accept 4-bit integers move whole rows, and move bytes instead. Functions
// keep the types of their arguments and results in the attribute `dlc.packed`. Quantized weights
// that a kernel reads (passes/QuantizedWeights.h) keep their type.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Infer.h"
#include "passes/Passes.h"
#include "passes/QuantizedWeights.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

bool isPacked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && ref::isPackedElement(tensor.getElementType());
}

Type toPackedBytes(Type type) {
  return isPacked(type) ? ref::getPackedBytesType(cast<RankedTensorType>(type)) : type;
}

ElementsAttr toPackedBytes(ElementsAttr value) {
  auto tensor = ref::Tensor::fromAttr(value);
  if (failed(tensor))
    return {};
  auto type = cast<RankedTensorType>(toPackedBytes(value.getShapedType()));
  return constantAttr(ref::Tensor::borrow(type, tensor->data(), tensor->owner()), type);
}

/// Builder of conversions between the 4-bit elements of a tensor and its packed bytes.
class Int4Packer {
public:
  Int4Packer(CastOp op, RankedTensorType packed)
      : builder(op), b(builder, op.getLoc()), shape(packed.getShape()), rows(shape) {
    // A scalar is stored as a row of one element.
    if (rows.empty())
      rows.push_back(1);
    eight = cast<IntegerType>(withEightBits(packed.getElementType()));
  }

  /// Unpacks each byte to its two 4-bit values, in 8-bit elements.
  Value unpack(Value bytes) {
    Value x = withoutHigh(b.reshape(b.cast(bytes, eight), pairs(1)), {2}, {4, 0});
    SmallVector<int64_t> even(rows);
    even.back() = (even.back() + 1) / 2 * 2;
    x = b.reshape(x, even);
    if (even != rows)
      x = b.make<SliceOp>(x, SmallVector<int64_t>(rows.size(), 0), rows,
                          SmallVector<int64_t>(rows.size(), 1));
    return b.reshape(x, shape);
  }

  /// Casts x to the range of 4 bits, but to 8-bit elements, with the result of a cast to 4 bits:
  /// floats saturate, integers keep their low 4 bits.
  Value narrow(Value x) {
    bool isFloat = isa<FloatType>(typeOf(x).getElementType());
    x = b.cast(x, eight);
    if (!isFloat)
      return withoutHigh(x, {}, {4});
    auto [low, high] =
        integerRange(IntegerType::get(builder.getContext(), 4, eight.getSignedness()));
    x = b.make<MaxOp>(x, b.scalar(double(low), x));
    return b.make<MinOp>(x, b.scalar(double(high), x));
  }

  /// Packs each pair of 4-bit values, given in 8-bit elements, into one byte.
  Value pack(Value x) {
    x = b.reshape(b.cast(x, builder.getIntegerType(8, false)), rows);
    SmallVector<int64_t> none(rows.size(), 0), one(none);
    one.back() = 1;
    if (rows.back() % 2)
      x = b.make<PadOp>(x, b.scalar(0, x), PadMode::constant, none, one);
    x = b.reshape(x, pairs(2));
    Value low = b.make<AndOp>(half(x, 0), b.scalar(15, x)),
          high = b.make<ShiftLeftOp>(half(x, 1), b.scalar(4, x));
    SmallVector<int64_t> bytes(shape);
    if (!bytes.empty())
      bytes.back() = (bytes.back() + 1) / 2;
    return b.reshape(b.make<OrOp>(low, high), bytes);
  }

private:
  /// Returns the shape [.., bytes, size], where `bytes` is the number of packed bytes of a row.
  SmallVector<int64_t> pairs(int64_t size) {
    SmallVector<int64_t> result(rows);
    result.back() = (result.back() + 1) / 2;
    result.push_back(size);
    return result;
  }

  /// Extracts 4 bits of each 8-bit element as x << left >> 4: the low 4 bits if `left` is 4, the
  /// high 4 bits if it is 0. The result is sign-extended for signed types.
  Value withoutHigh(Value x, ArrayRef<int64_t> leftShape, ArrayRef<int64_t> left) {
    auto shifts = ref::Tensor::empty(RankedTensorType::get(leftShape, eight));
    for (auto [i, shift] : llvm::enumerate(left))
      shifts.setInt(int64_t(i), shift);
    auto type = RankedTensorType::get(leftShape, eight, deviceOf(x.getType()));
    Value by = b.make<ConstantOp>(constantAttr(shifts, type));
    return b.make<ShiftRightOp>(b.make<ShiftLeftOp>(x, by), b.scalar(4, x));
  }

  Value half(Value x, int64_t index) {
    SmallVector<int64_t> start(rows.size() + 1, 0), stride(rows.size() + 1, 1);
    start.back() = index;
    return b.make<SliceOp>(x, start, pairs(1), stride);
  }

  OpBuilder builder;
  TensorBuilder b;
  SmallVector<int64_t> shape, rows;
  IntegerType eight;
};

struct PackIntegersPass : PassWrapper<PackIntegersPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackIntegersPass)

  StringRef getArgument() const final { return "dlc-pack-integers"; }
  StringRef getDescription() const final {
    return "stores 4-bit integers in bytes, and spells casts from and to them out as shifts";
  }

  static void retype(Value value) { value.setType(toPackedBytes(value.getType())); }

  /// A cast, and the original packed 4-bit types of its operand and result; null for a type that is
  /// not packed.
  struct PackedCast {
    CastOp op;
    RankedTensorType from, to;
  };

  void rewrite(const PackedCast &cast) {
    CastOp op = cast.op;
    OpBuilder builder(op);
    Value y = op.getX();
    if (cast.from) {
      Value known = inEightBits.lookup(y);
      y = known ? known : Int4Packer(op, cast.from).unpack(y);
    }
    if (cast.to) {
      Int4Packer packer(op, cast.to);
      Value narrow = packer.narrow(y);
      y = packer.pack(narrow);
      inEightBits[y] = narrow;
    } else {
      y = TensorBuilder(builder, op.getLoc()).cast(y, op.getTo());
    }
    op.getY().replaceAllUsesWith(y);
    op.erase();
  }

  LogicalResult retypeFunction(func::FuncOp function) {
    auto keep = [](Type type) { return TypeAttr::get(cast<RankedTensorType>(type)); };
    SmallVector<Type> arguments, results;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      arguments.push_back(toPackedBytes(type));
      if (!isPacked(type))
        continue;
      function.setArgAttr(unsigned(i), kPackedAttr, keep(type));
      if (auto init = function.getArgAttrOfType<ElementsAttr>(unsigned(i), kInitAttr)) {
        ElementsAttr bytes = toPackedBytes(init);
        if (!bytes)
          return function.emitError(ref::kMissingData);
        function.setArgAttr(unsigned(i), kInitAttr, bytes);
      }
    }
    for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      results.push_back(toPackedBytes(type));
      if (isPacked(type))
        function.setResultAttr(unsigned(i), kPackedAttr, keep(type));
    }
    function.setFunctionType(FunctionType::get(&getContext(), arguments, results));
    return success();
  }

  /// Clones the constants that matmuls read as quantized weights, so that each such matmul has
  /// constants of its own, and returns the clones.
  DenseSet<Operation *> constantsOfWeights() {
    DenseSet<Operation *> constants;
    getOperation().walk([&](DequantizeOp op) {
      if (!isQuantizedWeights(op.getY()))
        return;
      OpBuilder builder(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isPacked(operand.get().getType()))
          operand.set((*constants.insert(builder.clone(*operand.get().getDefiningOp())).first)
                          ->getResult(0));
    });
    return constants;
  }

  void runOnOperation() final {
    const DenseSet<Operation *> kept = constantsOfWeights();
    SmallVector<PackedCast> casts;
    auto packed = [](Value v) { return isPacked(v.getType()) ? typeOf(v) : RankedTensorType(); };
    getOperation().walk([&](CastOp op) {
      if (isPacked(op.getX().getType()) || isPacked(op.getType()))
        casts.push_back({op, packed(op.getX()), packed(op.getY())});
    });
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (kept.contains(op))
        return WalkResult::advance();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
      auto constant = dyn_cast<ConstantOp>(op);
      if (constant && isPacked(constant.getType())) {
        ElementsAttr bytes = toPackedBytes(constant.getValue());
        if (!bytes)
          return WalkResult(op->emitError(ref::kMissingData));
        constant.setValueAttr(bytes);
      }
      llvm::for_each(op->getResults(), retype);
      auto function = dyn_cast<func::FuncOp>(op);
      return WalkResult(function ? retypeFunction(function) : success());
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    llvm::for_each(casts, [&](const PackedCast &cast) { rewrite(cast); });
    inEightBits.clear();
  }

  /// For values that this pass packed, the same elements in 8 bits.
  llvm::DenseMap<Value, Value> inEightBits;
};

} // namespace

std::unique_ptr<Pass> createPackIntegersPass() { return std::make_unique<PackIntegersPass>(); }

} // namespace dlc

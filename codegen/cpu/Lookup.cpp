//===- Lookup.cpp - tables of 256 bytes in registers ----------------------===//
//
// A table is a few registers that a shuffle reads by an index for each lane: four of 64 bytes where
// the processor shuffles two of them at once (AVX-512 VBMI), else sixteen of 16 bytes.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/Lookup.h"

#include "codegen/cpu/Registers.h"
#include "ir/tensor/Tensor.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace dlc::cpu {
namespace {

struct Lookup {
  OpBuilder &b;
  Location loc;
  VectorType type;
  ArrayRef<int8_t> table;

  Value constant(ArrayRef<int8_t> bytes) const {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bytes));
  }
  Value splat(int8_t value) const { return constant(value); }
  Value call(StringRef intrinsic, ValueRange operands) const {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(intrinsic), operands)
        .getResult(0);
  }

  /// Seven bits choose among two registers, the eighth between two such pairs.
  Value byPairs(Value x) const {
    auto half = [&](int64_t first) {
      return call("llvm.x86.avx512.vpermi2var.qi.512",
                  {constant(table.slice(first, 64)), x, constant(table.slice(first + 64, 64))});
    };
    Value isHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, splat(0));
    return arith::SelectOp::create(b, loc, isHigh, half(128), half(0));
  }

  /// The shuffle gives 0 where an index has its highest bit, which is to be so where it is none of
  /// the sixteen at hand.
  Value bySixteens(Value x) const {
    Value result, limit = splat(0x70);
    for (int64_t first = 0; first < 256; first += 16) {
      // A register's halves are shuffled by themselves.
      SmallVector<int8_t> part(table.slice(first, 16));
      part.append(part.begin(), part.begin() + 16);
      Value place = arith::XOrIOp::create(b, loc, x, splat(int8_t(first)));
      place = call("llvm.uadd.sat.v32i8", {place, limit});
      Value found = call("llvm.x86.avx2.pshuf.b", {constant(part), place});
      result = result ? Value(arith::OrIOp::create(b, loc, result, found)) : found;
    }
    return result;
  }
};

} // namespace

Value emitLookup(Emitter &e, Value x, ElementsAttr table) {
  auto values = ref::Tensor::fromAttr(table);
  SmallVector<int8_t, 256> bytes;
  for (int64_t i : llvm::seq<int64_t>(values->size()))
    bytes.push_back(int8_t(values->getInt(i)));
  bool isWide = llvm::StringRef(e.target.features).contains("+avx512vbmi");
  auto whole = VectorType::get(isWide ? 64 : 32, e.b.getI8Type());
  Lookup lookup{e.b, e.loc, whole, bytes};
  return inRegisters(e.b, e.loc, whole, x, [&](ArrayRef<Value> registers) {
    return isWide ? lookup.byPairs(registers[0]) : lookup.bySixteens(registers[0]);
  });
}

} // namespace dlc::cpu

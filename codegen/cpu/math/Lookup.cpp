//===- Lookup.cpp - tables of 256 bytes in registers ----------------------===//
//
// The table is stored in registers, and a shuffle instruction reads it by an index per lane. If the
// processor can shuffle two registers at once (AVX-512 VBMI, `vpermi2b`), the table has four
// registers of 64 bytes. With AVX2 it has sixteen registers of 16 bytes (`vpshufb`). Otherwise the
// table is in memory.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/math/Lookup.h"

#include "codegen/cpu/math/Registers.h"
#include "ir/tensor/Tensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace dlc::cpu {
namespace {

struct TableLookupEmitter {
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

  /// Looks up x by `vpermi2b`: the low seven bits of an index select a byte of two registers, and
  /// the eighth bit selects one of two such pairs.
  Value byPairs(Value x) const {
    auto half = [&](int64_t first) {
      return call("llvm.x86.avx512.vpermi2var.qi.512",
                  {constant(table.slice(first, 64)), x, constant(table.slice(first + 64, 64))});
    };
    Value isHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, splat(0));
    return arith::SelectOp::create(b, loc, isHigh, half(128), half(0));
  }

  /// Looks up each byte of x in the table as a vector, on processors without such shuffles.
  Value byElements(Value x) const {
    auto whole = VectorType::get(256, b.getI8Type());
    Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(whole, table)), result = x;
    for (int64_t lane : llvm::seq<int64_t>(type.getNumElements())) {
      Value at = LLVM::ConstantOp::create(b, loc, b.getI32Type(), lane);
      Value index = LLVM::ExtractElementOp::create(b, loc, x, at);
      index = arith::ExtUIOp::create(b, loc, b.getI32Type(), index);
      result = LLVM::InsertElementOp::create(
          b, loc, result, LLVM::ExtractElementOp::create(b, loc, all, index), at);
    }
    return result;
  }

  /// Looks up x by `vpshufb`, which returns 0 if an index has its highest bit set. A saturating
  /// addition sets this bit for all indices outside the current sixteen bytes of the table.
  Value bySixteens(Value x) const {
    Value result, limit = splat(0x70);
    for (int64_t first = 0; first < 256; first += 16) {
      // `vpshufb` shuffles each 128-bit lane separately, so that each lane needs a copy of the
      // sixteen bytes.
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

Value emitLookup(OpBuilder &b, Location loc, const Target &target, Value x, ElementsAttr table) {
  auto values = ref::Tensor::fromAttr(table);
  SmallVector<int8_t, 256> bytes;
  for (int64_t i : llvm::seq<int64_t>(values->size()))
    bytes.push_back(int8_t(values->getInt(i)));
  bool isWide = target.has(runtime::Feature::Avx512vbmi);
  bool isNarrow = !target.has(runtime::Feature::Avx2);
  auto whole = VectorType::get(isWide ? 64 : isNarrow ? 16 : 32, b.getI8Type());
  TableLookupEmitter lookup{b, loc, whole, bytes};
  return applyPerRegister(b, loc, whole, x, [&](ArrayRef<Value> registers) {
    return isWide     ? lookup.byPairs(registers[0])
           : isNarrow ? lookup.byElements(registers[0])
                      : lookup.bySixteens(registers[0]);
  });
}

} // namespace dlc::cpu

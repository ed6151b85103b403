//===- ContractBuilder.h - operations and packing of a generated matmul ----===//
#ifndef DLC_CODEGEN_CPU_CONTRACT_CONTRACTBUILDER_H
#define DLC_CODEGEN_CPU_CONTRACT_CONTRACTBUILDER_H

#include "codegen/cpu/contract/Contract.h"
#include "codegen/cpu/emit/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace dlc::cpu {

/// Matrix in memory with strides that are constant at compile time.
struct MatrixView {
  mlir::Value base;
  mlir::Type element;
  int64_t row = 0, column = 0; ///< row and column stride in elements
};

/// Emits single operations and the packing of operands of a generated matmul.
class ContractBuilder {
public:
  mlir::OpBuilder &b;
  mlir::Location loc;
  const ContractSpec &spec;
  const ContractPlan &plan;
  const ContractOperands &operands;
  mlir::Type sum;  ///< element type of the accumulators
  mlir::Type held; ///< element type of packed operands
  mlir::Type pointer;
  /// Zero points of A and B, in the type `held`; null: 0. If the kernel multiplies bytes: as i32,
  /// and relative to the unsigned elements of A and the signed elements of B that it multiplies.
  mlir::Value zeroA, zeroB;

  ContractBuilder(mlir::OpBuilder &b, mlir::Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan)
      : b(b), loc(loc), spec(spec), plan(plan), operands(operands),
        sum(spec.sumsIntegers()                              ? mlir::Type(b.getI32Type())
            : spec.elementA.isF64() || spec.elementB.isF64() ? mlir::Type(b.getF64Type())
                                                             : mlir::Type(b.getF32Type())),
        held(plan.multipliesBytes  ? mlir::Type(b.getI8Type())
             : spec.sumsIntegers() ? mlir::Type(b.getI16Type())
                                   : sum),
        pointer(mlir::LLVM::LLVMPointerType::get(b.getContext())) {
    if (plan.multipliesBytes) {
      zeroA = shiftedZeroPoint(operands.zeroA, isUnsigned(spec.elementA) ? 0 : 128);
      zeroB = shiftedZeroPoint(operands.zeroB, isUnsigned(spec.elementB) ? -128 : 0);
      return;
    }
    auto held16 = [&](mlir::Value zero) {
      return zero ? mlir::arith::TruncIOp::create(b, loc, held, zero).getResult() : mlir::Value();
    };
    zeroA = held16(operands.zeroA), zeroB = held16(operands.zeroB);
  }

  /// Returns the zero point of an operand whose elements are shifted by a constant, or null if it
  /// is zero.
  mlir::Value shiftedZeroPoint(mlir::Value zero, int64_t shift) {
    if (!shift)
      return zero;
    mlir::Value by = mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(shift));
    return zero ? add(zero, by) : by;
  }

  //===--------------------------------------------------------------------===//
  // Helpers that emit single operations.
  //===--------------------------------------------------------------------===//

  mlir::Value i64(int64_t x) {
    return mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(x));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1 ? x : mlir::arith::MulIOp::create(b, loc, x, i64(y)).getResult();
  }
  mlir::Value div(mlir::Value x, int64_t y) {
    return y == 1 ? x : mlir::arith::DivUIOp::create(b, loc, x, i64(y)).getResult();
  }
  mlir::Value rem(mlir::Value x, int64_t y) {
    return y == 1 ? i64(0) : mlir::arith::RemUIOp::create(b, loc, x, i64(y)).getResult();
  }
  mlir::Value least(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinSIOp::create(b, loc, x, y);
  }
  mlir::Value most(mlir::Value x, mlir::Value y) {
    return mlir::arith::MaxSIOp::create(b, loc, x, y);
  }

  static int64_t bytes(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }
  mlir::Value at(mlir::Value base, mlir::Type element, mlir::Value index) {
    return mlir::LLVM::GEPOp::create(b, loc, pointer, element, base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
  }
  mlir::Value at(mlir::Value base, mlir::Type element, int64_t index) {
    if (index == 0)
      return base;
    return at(base, element, i64(index));
  }
  mlir::VectorType vectorOf(mlir::Type element, int64_t lanes) {
    return mlir::VectorType::get({lanes}, element);
  }

  /// Converts loaded elements to the element type of the accumulators.
  mlir::Value widened(mlir::Value stored, mlir::Type element) {
    mlir::Value x = convertToComputeType(b, loc, stored, element);
    if (llvm::isa<mlir::IntegerType>(element))
      return castElement(b, loc, x, element, sum);
    if (mlir::getElementTypeOrSelf(x.getType()) == sum)
      return x;
    mlir::Type type = sum;
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(x.getType()))
      type = vectorOf(sum, vector.getNumElements());
    return mlir::arith::ExtFOp::create(b, loc, type, x);
  }
  mlir::Value loadScalar(mlir::Value address, mlir::Type element) {
    return widened(
        mlir::LLVM::LoadOp::create(b, loc, getStorageType(element), address, bytes(element)),
        element);
  }
  /// Returns a mask of `lanes` lanes, of which the first `valid` are set.
  mlir::Value leadingMask(int64_t lanes, int64_t valid) {
    llvm::SmallVector<bool> keep(lanes, false);
    std::fill_n(keep.begin(), valid, true);
    return mlir::arith::ConstantOp::create(
        b, loc,
        mlir::DenseElementsAttr::get(vectorOf(b.getI1Type(), lanes), llvm::ArrayRef<bool>(keep)));
  }
  /// Loads a vector of plan.lanes elements. Only the first `valid` elements are read from memory;
  /// the other lanes are zero.
  mlir::Value loadVector(mlir::Value address, mlir::Type element, int64_t valid) {
    mlir::VectorType type = vectorOf(getStorageType(element), plan.lanes);
    if (valid >= plan.lanes)
      return widened(mlir::LLVM::LoadOp::create(b, loc, type, address, bytes(element)), element);
    mlir::Value mask = leadingMask(plan.lanes, valid);
    mlir::Value zero = zeroOf(type);
    return widened(mlir::LLVM::MaskedLoadOp::create(b, loc, type, address, mask, zero,
                                                    b.getI32IntegerAttr(bytes(element))),
                   element);
  }
  mlir::Value zeroOf(mlir::Type type) {
    return mlir::arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  mlir::Value zeroVector() { return zeroOf(vectorOf(sum, plan.lanes)); }
  void store(mlir::Value x, mlir::Value address) {
    mlir::LLVM::StoreOp::create(b, loc, x, address, bytes(mlir::getElementTypeOrSelf(x.getType())));
  }
  mlir::Value splat(mlir::Value scalar) {
    return mlir::vector::BroadcastOp::create(b, loc, vectorOf(sum, plan.lanes), scalar);
  }
  /// Returns x * y + z. For integers, each lane of z accumulates the products of plan.groupSize
  /// adjacent elements (`vpdpbusd`, `pmaddwd`).
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z) {
    if (!spec.sumsIntegers())
      return mlir::math::FmaOp::create(b, loc, x, y, z);
    if (plan.multipliesBytes) {
      llvm::StringRef intrinsic =
          plan.lanes == 16 ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512.vpdpbusd.256";
      return mlir::LLVM::CallIntrinsicOp::create(b, loc, z.getType(), b.getStringAttr(intrinsic),
                                                 mlir::ValueRange{z, x, y})
          .getResult(0);
    }
    llvm::StringRef intrinsic =
        plan.lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
    return add(z, mlir::LLVM::CallIntrinsicOp::create(
                      b, loc, z.getType(), b.getStringAttr(intrinsic), mlir::ValueRange{x, y})
                      .getResult(0));
  }
  mlir::Value addSums(mlir::Value x, mlir::Value y) {
    return spec.sumsIntegers() ? add(x, y) : mlir::arith::AddFOp::create(b, loc, x, y).getResult();
  }
  /// Extends 8-bit integers to 16 bits and subtracts the zero point from them.
  mlir::Value centred(mlir::Value stored, mlir::Type element, mlir::Value zero) {
    mlir::Type type = held;
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(stored.getType()))
      type = vectorOf(held, vector.getNumElements());
    mlir::Value x = isUnsigned(element)
                        ? mlir::arith::ExtUIOp::create(b, loc, type, stored).getResult()
                        : mlir::arith::ExtSIOp::create(b, loc, type, stored).getResult();
    if (!zero)
      return x;
    return sub(x, llvm::isa<mlir::VectorType>(type)
                      ? mlir::vector::BroadcastOp::create(b, loc, type, zero)
                      : zero);
  }
  mlir::Value loadElements(mlir::Value address, mlir::Type element, int64_t count) {
    mlir::Type type = count == 1 ? element : mlir::Type(vectorOf(element, count));
    return mlir::LLVM::LoadOp::create(b, loc, type, address, bytes(element));
  }

  /// Loads an element of A, or a pair of adjacent elements for integers, and broadcasts it to all
  /// lanes.
  mlir::Value loadLeft(mlir::Value address, mlir::Type element) {
    if (!spec.sumsIntegers())
      return splat(loadScalar(address, element));
    mlir::Value pair = mlir::LLVM::LoadOp::create(b, loc, sum, address, bytes(element));
    return mlir::vector::BitCastOp::create(b, loc, vectorOf(held, plan.groupSize * plan.lanes),
                                           splat(pair));
  }
  mlir::Value loadRight(mlir::Value address, mlir::Type element, int64_t valid) {
    if (!spec.sumsIntegers())
      return loadVector(address, element, valid);
    mlir::Value x = loadElements(address, element, plan.groupSize * plan.lanes);
    return element == held ? x : centred(x, spec.elementB, zeroB);
  }

  /// Emits an scf.for loop: for (i = from; i < to; i += step) carried = body(i, carried).
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body) {
    auto op = mlir::scf::ForOp::create(b, loc, from, to, i64(step), init);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    llvm::SmallVector<mlir::Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
    if (!init.empty())
      mlir::scf::YieldOp::create(b, loc, next);
    return llvm::SmallVector<mlir::Value>(op.getResults());
  }
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    loop(from, to, step, {}, [&](mlir::Value i, mlir::ValueRange) {
      body(i);
      return llvm::SmallVector<mlir::Value>();
    });
  }

  //===--------------------------------------------------------------------===//
  // Packing of operands into scratch memory (ContractPacking.cpp).
  //===--------------------------------------------------------------------===//

  /// Packs `rows` rows of A into scratch memory, converted to the type of the accumulators.
  MatrixView packA(MatrixView from, mlir::Value rows);
  /// Packs one panel of B into memory at `to`, as K rows of plan.panelColumns elements in the type
  /// of the accumulators. `width` is the number of columns that exist; the last panel may have
  /// fewer than plan.panelColumns.
  MatrixView packPanel(MatrixView from, int64_t width, mlir::Value to);
  /// Packs `rows` rows of an integer A into scratch memory, as 16-bit elements minus the zero
  /// point.
  MatrixView packIntegersA(MatrixView from, mlir::Value rows);
  /// Packs `rows` rows of an A of bytes into scratch memory, as unsigned bytes (signed elements
  /// plus 128) that are zero after K, and stores the sum of each row if B has a zero point.
  MatrixView packBytesA(MatrixView from, mlir::Value rows);
  /// Returns the address of the sum that packBytesA stored for a row of a chunk.
  mlir::Value rowSumAt(mlir::Value rowInChunk);
  /// Packs a panel of an integer B into memory at `to`, as 16-bit elements in the layout [pair
  /// along K][column][element of the pair].
  MatrixView packIntegersPanel(MatrixView from, int64_t width, mlir::Value to);

private:
  void fillDepth(mlir::Value from, llvm::function_ref<mlir::Value(mlir::Value)> address,
                 llvm::function_ref<mlir::Value(mlir::Value)> made);
  void eachStep(llvm::function_ref<void(mlir::Value, bool)> step);
  mlir::Value paired(llvm::function_ref<mlir::Value(mlir::Value)> load, mlir::Value k, bool isHalf);
  void storePairs(mlir::Value x, llvm::function_ref<mlir::Value(int64_t)> place);
  void packIntegersAcross(MatrixView from, MatrixView to, mlir::Value row);
};

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACT_CONTRACTBUILDER_H

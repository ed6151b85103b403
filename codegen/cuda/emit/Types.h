//===- Types.h - element types in CUDA C++ --------------------------------===//
#ifndef DLC_CODEGEN_CUDA_EMIT_TYPES_H
#define DLC_CODEGEN_CUDA_EMIT_TYPES_H

#include "ir/dlc/Dialect.h"

namespace dlc::cuda {

inline mlir::RankedTensorType typeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) { return typeOf(v).getShape(); }
inline mlir::Type elementOf(mlir::Value v) { return typeOf(v).getElementType(); }
inline int64_t multiplyDims(llvm::ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}
inline bool isFloat(mlir::Type element) { return llvm::isa<mlir::FloatType>(element); }
inline bool isUnsigned(mlir::Type element) {
  return element.isUnsignedInteger() || element.isSignlessInteger(1);
}

/// Returns the CUDA type of an element in memory: float, dk::bf16, unsigned char ...
std::string getStorageTypeName(mlir::Type element);
/// Returns the CUDA type of an element in registers: float for 16-bit floats, bool for i1,
/// otherwise the type in memory.
std::string getComputeTypeName(mlir::Type element);
/// Returns the text of a CUDA literal of the type in registers.
std::string formatLiteral(mlir::Type element, double value);
std::string formatLiteral(mlir::Type element, llvm::APInt value);
/// Returns the text of a CUDA literal for an element of a constant tensor.
std::string formatElementLiteral(mlir::Type element, const ref::Tensor &tensor, int64_t index);

} // namespace dlc::cuda
#endif

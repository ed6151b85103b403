//===- OnednnDesc.h - tensors and strides in oneDNN's words ---------------===//
#ifndef DLC_CODEGEN_SELECT_ONEDNNDESC_H
#define DLC_CODEGEN_SELECT_ONEDNNDESC_H

#include "codegen/select/LibraryCall.h"
#include "passes/fuse/Epilogue.h"
#include "passes/layout/Geometry.h"

namespace dlc::onednn_desc {

inline mlir::RankedTensorType typeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}

/// {"dims", "dtype", "tag"}: the type's layout, or the plain one.
json argument(llvm::ArrayRef<int64_t> dims, mlir::Type element, llvm::StringRef tag = "");
json argument(mlir::Value value);
/// {"dims", "dtype", "strides"}
json strided(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, mlir::Type element);
/// abcd for rank 4.
std::string plainTag(int64_t rank);

/// Weights that change from run to run: the library packs them as it likes within each call.
json packedInside(llvm::ArrayRef<int64_t> dims, mlir::Type element, llvm::StringRef plain);

/// The value outside of a fusion that one of its body stands for: an operand, or a constant's own
/// value.
mlir::Value outside(FusionOp fusion, mlir::Value inner);
/// The constant behind a value, if it is one.
ConstantOp constantOf(mlir::Value value);

/// Ends a call: asks oneDNN, gives each argument its buffer. `sources` are the values in the
/// library's order without result and packed ones; on failure says why.
struct Pending {
  mlir::Operation *op =
      nullptr; ///< its attribute dlc.implementation, where it has one, names what to take
  json desc;
  /// By argument name: where its bytes come from.
  std::vector<std::pair<std::string, CallArgument>> sources;
  /// Arguments that are constants to be packed: name, plain bytes, plain tag ("" is row-major).
  struct Pack {
    std::string name;
    ref::Tensor plain;
    std::string tag;
  };
  std::vector<Pack> packs;
  double flops = 0;
  std::vector<std::pair<std::string, std::string>> inplace; ///< (written, read) by name
  std::optional<CallArgument> accumulates;
};
std::optional<LibraryCall> finish(Pending pending, int threads, std::string *why);

/// How our own kernels do a product of f32 (runtime/library/products): on tiles in two or three
/// bf16 parts, or in vectors of so many numbers; or not at all.
struct ProductForm {
  int parts = 0;
  int64_t lanes = 0;
  bool isStrassen = false; ///< seven products instead of eight
  bool isOwn() const { return parts > 0 || lanes > 0; }
};

/// The product that oneDNN was to be asked for.
std::optional<LibraryCall> ownProduct(Pending pending, ProductForm form, std::string *why);

/// Families.
std::optional<LibraryCall> contraction(FusionOp fusion, int threads, std::string *why,
                                       ProductForm form = {});
std::optional<LibraryCall> training(mlir::Operation *op, int threads, std::string *why);
std::optional<LibraryCall> recurrent(mlir::Operation *op, int threads, std::string *why);
std::optional<LibraryCall> movement(mlir::Operation *op, int threads, std::string *why);

} // namespace dlc::onednn_desc
#endif

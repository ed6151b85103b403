//===- ModelFile.h - an .onnx file whose weights are read in place --------===//
#ifndef DLC_FRONTEND_ONNX_MODELFILE_H
#define DLC_FRONTEND_ONNX_MODELFILE_H

#include "ir/tensor/Tensor.h"
#include "mlir/IR/Location.h"
#include "onnx.pb.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlc::onnxfront {

/// Byte range in the file of a tensor's data that was removed from the model before parsing.
struct Extent {
  uint64_t offset = 0, length = 0;
};

/// Copies a serialized ModelProto without the tensors' raw_data of at least `threshold` bytes. Each
/// removed field is replaced by field `extentField` with an index into `extents`. Returns false and
/// a reason if the bytes are not a valid message.
bool compactModel(llvm::StringRef bytes, size_t threshold, std::string &compact,
                  std::vector<Extent> &extents, std::string &reason);

/// A field number of TensorProto that ONNX does not use.
constexpr uint32_t extentField = 1000;

/// Returns the element type of a TensorProto::DataType; null if dlc does not have it.
mlir::Type elementTypeOf(int32_t dataType, mlir::MLIRContext *context);
/// Returns the semantics of floats of 8 or 4 bits, which dlc stores as f32; null for any other
/// type.
const llvm::fltSemantics *smallFloatOf(int32_t dataType);
/// Returns the name of a data type, such as "FLOAT" or "STRING", or its number if it is unknown.
std::string dataTypeName(int32_t dataType);

class ModelFile {
public:
  /// Maps the file and parses the model. Errors are reported at the file's location.
  static mlir::FailureOr<std::unique_ptr<ModelFile>> open(mlir::MLIRContext &context,
                                                          llvm::StringRef path);

  const onnx::ModelProto &model() const { return proto; }
  llvm::StringRef path() const { return filePath; }

  /// Returns the tensor's elements, as a view of the mapped file if possible. On failure `reason`
  /// describes the error.
  mlir::FailureOr<ref::Tensor> tensor(const onnx::TensorProto &tensor, mlir::MLIRContext *context,
                                      std::string &reason);

private:
  using Mapping = std::shared_ptr<llvm::MemoryBuffer>;
  /// Reads the elements from any of the fields or files that may store them, as a tensor of that
  /// type.
  mlir::FailureOr<ref::Tensor> elements(const onnx::TensorProto &tensor,
                                        mlir::RankedTensorType type, std::string &reason);
  mlir::FailureOr<ref::Tensor> external(const onnx::TensorProto &tensor,
                                        mlir::RankedTensorType type, std::string &reason);
  mlir::FailureOr<ref::Tensor> view(const Mapping &mapping, uint64_t offset, uint64_t length,
                                    mlir::RankedTensorType type, std::string &reason);

  std::string filePath;
  Mapping mapping;
  std::vector<Extent> extents;
  onnx::ModelProto proto;
  std::map<std::string, Mapping> externals;
};

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_MODELFILE_H

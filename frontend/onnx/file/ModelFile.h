//===- ModelFile.h - an .onnx file whose weights are read in place --------===//
#ifndef DLC_FRONTEND_ONNX_FILE_MODELFILE_H
#define DLC_FRONTEND_ONNX_FILE_MODELFILE_H

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

/// Byte range in the model file that holds the data of a tensor. The data is removed from the model
/// before protobuf parses it.
struct Extent {
  uint64_t offset = 0, length = 0;
};

/// Copies a serialized ModelProto without each raw_data field of at least `threshold` bytes. Each
/// removed field is replaced by a field `extentField` that holds an index into `extents`. Returns
/// false and sets `reason` if the bytes are not a valid message.
bool compactModel(llvm::StringRef bytes, size_t threshold, std::string &compact,
                  std::vector<Extent> &extents, std::string &reason);

/// Field number in TensorProto of the marker that replaces removed raw_data. ONNX does not use this
/// number.
constexpr uint32_t extentField = 1000;

/// Returns the MLIR element type of a TensorProto::DataType, or null if dlc does not support the
/// type.
mlir::Type toElementType(int32_t dataType, mlir::MLIRContext *context);
/// Returns the semantics of an 8-bit or 4-bit float type, whose values dlc stores as f32. Returns
/// null for any other type.
const llvm::fltSemantics *toSmallFloat(int32_t dataType);
/// Returns the name of a TensorProto::DataType, such as "FLOAT" or "STRING"; the number if the type
/// is unknown.
std::string dataTypeName(int32_t dataType);

class ModelFile {
public:
  /// Maps the file into memory and parses the model. Errors are reported at the file's location.
  static mlir::FailureOr<std::unique_ptr<ModelFile>> open(mlir::MLIRContext &context,
                                                          llvm::StringRef path);

  const onnx::ModelProto &model() const { return proto; }
  llvm::StringRef path() const { return filePath; }

  /// Returns the elements of a tensor, as a view of the mapped file if possible. On failure,
  /// `reason` receives a description of the error.
  mlir::FailureOr<ref::Tensor> tensor(const onnx::TensorProto &tensor, mlir::MLIRContext *context,
                                      std::string &reason);

private:
  using Mapping = std::shared_ptr<llvm::MemoryBuffer>;
  /// Reads the elements of a tensor as the given type. The elements may be stored in a typed field,
  /// in raw_data or in an external file.
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

#endif // DLC_FRONTEND_ONNX_FILE_MODELFILE_H

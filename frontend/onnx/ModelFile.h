//===- ModelFile.h - an .onnx file, its weights left where they are -------===//
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

/// Bytes of a tensor that were taken out of the model before it was parsed.
struct Extent {
  uint64_t offset = 0, length = 0;
};

/// Copies a serialised ModelProto, leaving out the tensors' raw_data of `threshold` bytes or more:
/// in its place stands field `extentField` with an index into `extents`. Returns false, with a
/// reason, on bytes that are no such message.
bool compactModel(llvm::StringRef bytes, size_t threshold, std::string &compact,
                  std::vector<Extent> &extents, std::string &reason);

/// A field number of TensorProto that ONNX does not use.
constexpr uint32_t extentField = 1000;

/// The element type of a TensorProto::DataType; null when dlc has none.
mlir::Type elementTypeOf(int32_t dataType, mlir::MLIRContext *context);
/// Floats of eight or four bits, whose values dlc holds as f32; null for any other type.
const llvm::fltSemantics *smallFloatOf(int32_t dataType);
/// "FLOAT", "STRING", …, or the number.
std::string dataTypeName(int32_t dataType);

class ModelFile {
public:
  /// Maps and parses a model; a failure is reported at the file's location.
  static mlir::FailureOr<std::unique_ptr<ModelFile>> open(mlir::MLIRContext &context,
                                                          llvm::StringRef path);

  const onnx::ModelProto &model() const { return proto; }
  llvm::StringRef path() const { return filePath; }

  /// The tensor's elements: a view of the mapped file where that is possible. `reason` says why
  /// not.
  mlir::FailureOr<ref::Tensor> tensor(const onnx::TensorProto &tensor, mlir::MLIRContext *context,
                                      std::string &reason);

private:
  using Mapping = std::shared_ptr<llvm::MemoryBuffer>;
  /// The elements, wherever they stand, as a tensor of that type.
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

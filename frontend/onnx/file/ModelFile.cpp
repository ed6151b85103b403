//===- ModelFile.cpp - opens a model file and reads its weights -----------===//
#include "frontend/onnx/file/ModelFile.h"

#include "ir/tensor/FilePages.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

using namespace mlir;

namespace dlc::onnxfront {

/// Minimum size in bytes of raw data that is not copied but viewed in the mapped file. Smaller
/// tensors become inline constants anyway.
static constexpr size_t viewThreshold = 1024;
/// Maximum number of elements of a tensor. A larger tensor indicates a damaged file.
static constexpr int64_t maxElements = int64_t(1) << 40;

Type toElementType(int32_t dataType, MLIRContext *context) {
  Builder b(context);
  using T = onnx::TensorProto;
  switch (dataType) {
  case T::FLOAT:
    return b.getF32Type();
  case T::FLOAT16:
    return b.getF16Type();
  case T::BFLOAT16:
    return b.getBF16Type();
  case T::DOUBLE:
    return b.getF64Type();
  case T::BOOL:
    return b.getI1Type();
  case T::INT4:
    return b.getIntegerType(4);
  case T::INT8:
    return b.getI8Type();
  case T::INT16:
    return b.getI16Type();
  case T::INT32:
    return b.getI32Type();
  case T::INT64:
    return b.getI64Type();
  case T::UINT4:
    return b.getIntegerType(4, false);
  case T::UINT8:
    return b.getIntegerType(8, false);
  case T::UINT16:
    return b.getIntegerType(16, false);
  case T::UINT32:
    return b.getIntegerType(32, false);
  case T::UINT64:
    return b.getIntegerType(64, false);
  default:
    return nullptr;
  }
}

const llvm::fltSemantics *toSmallFloat(int32_t dataType) {
  using F = llvm::APFloat;
  using T = onnx::TensorProto;
  switch (dataType) {
  case T::FLOAT8E4M3FN:
    return &F::Float8E4M3FN();
  case T::FLOAT8E4M3FNUZ:
    return &F::Float8E4M3FNUZ();
  case T::FLOAT8E5M2:
    return &F::Float8E5M2();
  case T::FLOAT8E5M2FNUZ:
    return &F::Float8E5M2FNUZ();
  case T::FLOAT4E2M1:
    return &F::Float4E2M1FN();
  default:
    return nullptr;
  }
}

std::string dataTypeName(int32_t dataType) {
  if (onnx::TensorProto::DataType_IsValid(dataType))
    return onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(dataType));
  return "number " + std::to_string(dataType);
}

static std::shared_ptr<llvm::MemoryBuffer> mapFile(StringRef path, std::string &reason) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status)) {
    reason = error.message();
    return nullptr;
  }
  if (!llvm::sys::fs::is_regular_file(status)) {
    reason = "it is not a regular file";
    return nullptr;
  }
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    reason = buffer.getError().message();
    return nullptr;
  }
  return ref::registerFilePages(std::move(*buffer));
}

FailureOr<std::unique_ptr<ModelFile>> ModelFile::open(MLIRContext &context, StringRef path) {
  auto location = FileLineColLoc::get(&context, path, 0, 0);
  std::string reason;
  auto file = std::make_unique<ModelFile>();
  file->filePath = path.str();
  file->mapping = mapFile(path, reason);
  if (!file->mapping)
    return emitError(location) << "the model cannot be read: " << reason;
  StringRef bytes = file->mapping->getBuffer();
  if (bytes.empty())
    return emitError(location)
           << "cannot be read as an ONNX model: the file is empty; export the model again";
  std::string compact;
  if (!compactModel(bytes, viewThreshold, compact, file->extents, reason))
    return emitError(location) << "cannot be read as an ONNX model: " << reason
                               << "; export the model again";
  if (compact.size() > size_t(INT32_MAX))
    return emitError(location) << "the model without its weights has " << compact.size()
                               << " bytes; required: at most 2 GiB, the limit of protobuf; store "
                                  "the weights as raw_data or as external data";
  if (!file->proto.ParseFromArray(compact.data(), int(compact.size())))
    return emitError(location) << "cannot be read as an ONNX model: the file is damaged, or of "
                                  "another format; export the model again";
  // Drops the pages of the mapped file: the walk over the weights has mapped many of them.
  ref::dropFilePages(bytes.data(), bytes.size());
  return file;
}

FailureOr<ref::Tensor> ModelFile::view(const Mapping &map, uint64_t offset, uint64_t length,
                                       RankedTensorType type, std::string &reason) {
  uint64_t wanted = uint64_t(type.getNumElements()) * ref::elementBytes(type.getElementType());
  uint64_t size = map->getBufferSize();
  if (offset > size || length > size - offset) {
    reason = "bytes " + std::to_string(offset) + " to " + std::to_string(offset + length) +
             " exceed the file of " + std::to_string(size) + " bytes";
    return failure();
  }
  if (length != wanted) {
    reason = "its shape and type need " + std::to_string(wanted) + " bytes, and it has " +
             std::to_string(length);
    return failure();
  }
  return ref::Tensor::borrow(type, map->getBufferStart() + offset, map);
}

FailureOr<ref::Tensor> ModelFile::external(const onnx::TensorProto &tensor, RankedTensorType type,
                                           std::string &reason) {
  std::string name;
  uint64_t offset = 0, length = 0;
  bool hasLength = false;
  for (const auto &entry : tensor.external_data()) {
    StringRef value = entry.value();
    if (entry.key() == "location") {
      name = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (value.getAsInteger(10, entry.key() == "offset" ? offset : length)) {
        reason = "external data's " + entry.key() + " is '" + entry.value() + "', not a number";
        return failure();
      }
      hasLength |= entry.key() == "length";
    }
  }
  if (name.empty()) {
    reason = "its external data has no location";
    return failure();
  }
  if (llvm::sys::path::is_absolute(name)) {
    reason = "external data's location '" + name + "' must be relative to the model's folder";
    return failure();
  }
  SmallString<256> path(llvm::sys::path::parent_path(filePath));
  if (path.empty())
    path = ".";
  SmallString<256> realFolder, realFile;
  if (std::error_code error = llvm::sys::fs::real_path(path, realFolder)) {
    reason = "the model's folder: " + error.message();
    return failure();
  }
  llvm::sys::path::append(path, name);
  // Symbolic links are resolved, because external data must be inside the model's folder, wherever
  // a link points.
  if (std::error_code error = llvm::sys::fs::real_path(path, realFile)) {
    reason = "external data '" + std::string(path) + "': " + error.message();
    return failure();
  }
  if (!llvm::sys::path::has_root_path(realFolder) || !StringRef(realFile).starts_with(realFolder) ||
      (realFolder != "/" &&
       (realFile.size() <= realFolder.size() || realFile[realFolder.size()] != '/'))) {
    reason = "external data's location '" + name + "' is outside the model's folder";
    return failure();
  }
  Mapping &map = externals[std::string(realFile)];
  if (!map) {
    std::string why;
    map = mapFile(realFile, why);
    if (!map) {
      reason = "external data '" + name + "': " + why;
      return failure();
    }
  }
  if (!hasLength)
    length = uint64_t(type.getNumElements()) * ref::elementBytes(type.getElementType());
  auto result = view(map, offset, length, type, reason);
  if (failed(result))
    reason = "external data '" + name + "': " + reason;
  return result;
}

/// Reads the elements of a tensor from one of the typed fields, such as float_data.
template <typename Field, typename Set>
static FailureOr<ref::Tensor> typed(const Field &field, RankedTensorType type, std::string &reason,
                                    Set set) {
  if (field.size() != type.getNumElements()) {
    reason = "its shape needs " + std::to_string(type.getNumElements()) + " elements, and it has " +
             std::to_string(field.size());
    return failure();
  }
  ref::Tensor result = ref::Tensor::empty(type);
  for (int i = 0; i < field.size(); ++i)
    set(result, i, field.Get(i));
  return result;
}

static FailureOr<ref::Tensor> fromFields(const onnx::TensorProto &tensor, RankedTensorType type,
                                         std::string &reason) {
  Type element = type.getElementType();
  if (element.isF32())
    return typed(tensor.float_data(), type, reason, [](ref::Tensor &t, int i, float v) {
      reinterpret_cast<float *>(t.mutableData())[i] = v;
    });
  if (element.isF64())
    return typed(tensor.double_data(), type, reason, [](ref::Tensor &t, int i, double v) {
      reinterpret_cast<double *>(t.mutableData())[i] = v;
    });
  if (element.isF16() || element.isBF16())
    return typed(tensor.int32_data(), type, reason, [](ref::Tensor &t, int i, int32_t v) {
      reinterpret_cast<uint16_t *>(t.mutableData())[i] = uint16_t(v);
    });
  if (element.isInteger(64) && !element.isUnsignedInteger())
    return typed(tensor.int64_data(), type, reason,
                 [](ref::Tensor &t, int i, int64_t v) { t.setInt(i, v); });
  if (element.isUnsignedInteger(64) || element.isUnsignedInteger(32))
    return typed(tensor.uint64_data(), type, reason,
                 [](ref::Tensor &t, int i, uint64_t v) { t.setInt(i, int64_t(v)); });
  return typed(tensor.int32_data(), type, reason, [](ref::Tensor &t, int i, int32_t v) {
    t.setInt(i, t.getElementType().isInteger(1) ? v != 0 : v);
  });
}

/// Returns the index of the extent that replaced the tensor's removed raw_data; nothing if the
/// raw_data was not removed.
static std::optional<uint64_t> extentIndex(const onnx::TensorProto &tensor) {
  using google::protobuf::internal::WireFormatLite;
  const std::string &unknown = tensor.unknown_fields();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t *>(unknown.data()),
                                            int(unknown.size()));
  while (uint32_t tag = in.ReadTag()) {
    uint64_t index;
    if (tag == extentField << 3)
      return in.ReadVarint64(&index) ? std::optional(index) : std::nullopt;
    if (!WireFormatLite::SkipField(&in, tag))
      break;
  }
  return std::nullopt;
}

/// Lists the fields of a tensor that hold elements, for example "raw_data, float_data".
static std::string listElementFields(const onnx::TensorProto &tensor) {
  std::string result;
  auto note = [&](bool used, StringRef name) {
    if (used)
      result += (result.empty() ? "" : ", ") + name.str();
  };
  note(tensor.data_location() == onnx::TensorProto::EXTERNAL, "external data");
  note(!tensor.raw_data().empty() || extentIndex(tensor), "raw_data");
  note(tensor.float_data_size() > 0, "float_data");
  note(tensor.double_data_size() > 0, "double_data");
  note(tensor.int32_data_size() > 0, "int32_data");
  note(tensor.int64_data_size() > 0, "int64_data");
  note(tensor.uint64_data_size() > 0, "uint64_data");
  return result;
}

/// Unpacks 4-bit elements, which a file stores in pairs: the first of each pair is in the lower
/// half of the byte. In the file, rows are not aligned to bytes.
static ref::Tensor unpack4Bit(const ref::Tensor &bytes, RankedTensorType type) {
  if (ref::isPackedElement(type.getElementType()) && ref::storageBytes(type) == bytes.size() &&
      (type.getRank() < 2 || type.getShape().back() % 2 == 0))
    return ref::Tensor::borrow(type, bytes.data(), bytes.owner());
  ref::Tensor result = ref::Tensor::empty(type);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, bytes.getInt(i / 2) >> (i % 2 * 4) & 15);
  return result;
}

/// Decodes 8-bit or 4-bit floats: converts their bits to f32 values.
static ref::Tensor decoded(const ref::Tensor &bits, RankedTensorType type,
                           const llvm::fltSemantics &kind) {
  const unsigned width = llvm::APFloat::semanticsSizeInBits(kind);
  std::vector<float> values;
  for (unsigned code = 0; code < 1u << width; ++code) {
    llvm::APFloat value(kind, llvm::APInt(width, code));
    bool isInexact;
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
    values.push_back(value.convertToFloat());
  }
  ref::Tensor result = ref::Tensor::empty(type);
  auto *to = reinterpret_cast<float *>(result.mutableData());
  for (int64_t i = 0; i < result.size(); ++i)
    to[i] = values[size_t(bits.getInt(i))];
  return result;
}

FailureOr<ref::Tensor> ModelFile::elements(const onnx::TensorProto &tensor, RankedTensorType type,
                                           std::string &reason) {
  if (tensor.has_segment()) {
    reason = "segmented tensors are not supported";
    return failure();
  }
  if (std::string places = listElementFields(tensor); StringRef(places).contains(',')) {
    reason = "its elements are given more than once, in " + places + "; remove all but one";
    return failure();
  }
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
    return external(tensor, type, reason);
  if (auto index = extentIndex(tensor)) {
    if (*index >= extents.size()) {
      reason = "the file does not contain its data";
      return failure();
    }
    return view(mapping, extents[*index].offset, extents[*index].length, type, reason);
  }
  if (!tensor.has_raw_data())
    return fromFields(tensor, type, reason);
  uint64_t wanted = uint64_t(type.getNumElements()) * ref::elementBytes(type.getElementType());
  if (tensor.raw_data().size() != wanted) {
    reason = "its shape and type need " + std::to_string(wanted) + " bytes, and it has " +
             std::to_string(tensor.raw_data().size());
    return failure();
  }
  ref::Tensor result = ref::Tensor::empty(type);
  memcpy(result.mutableData(), tensor.raw_data().data(), wanted);
  return result;
}

FailureOr<ref::Tensor> ModelFile::tensor(const onnx::TensorProto &tensor, MLIRContext *context,
                                         std::string &reason) {
  const int32_t dataType = tensor.data_type();
  const llvm::fltSemantics *small = toSmallFloat(dataType);
  Builder b(context);
  // 8-bit and 4-bit floats are read as u8 and decoded afterwards.
  Type element = toElementType(small ? int32_t(onnx::TensorProto::UINT8) : dataType, context);
  const bool packed = small ? llvm::APFloat::semanticsSizeInBits(*small) == 4
                            : element && ref::isPackedElement(element);
  if (!element) {
    reason = "element type " + dataTypeName(tensor.data_type()) +
             " is not supported; dlc has f16, bf16, f32, f64, bool and integers of 4 to 64 bits";
    return failure();
  }
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  int64_t count = 1;
  bool zero = false;
  for (int64_t dim : dims) {
    if (dim < 0 || (dim > 0 && count > maxElements / dim)) {
      reason = dim < 0 ? "dimension " + std::to_string(dim) + " is negative"
                       : std::string("it has too many elements");
      return failure();
    }
    zero |= dim == 0;
    count *= dim == 0 ? 1 : dim;
  }
  if (dims.size() > 64) {
    reason = "it has " + std::to_string(dims.size()) + " dimensions; required: at most 64";
    return failure();
  }
  auto type = RankedTensorType::get(dims, element), real = type.clone(b.getF32Type());
  if (zero && tensor.data_location() == onnx::TensorProto::EXTERNAL)
    return ref::Tensor::empty(small ? real : type);
  if (zero)
    count = 0;
  auto numbers = elements(
      tensor, packed ? RankedTensorType::get({(count + 1) / 2}, b.getIntegerType(8, false)) : type,
      reason);
  if (succeeded(numbers) && packed)
    numbers = unpack4Bit(*numbers, type);
  if (succeeded(numbers) && small)
    numbers = decoded(*numbers, real, *small);
  return numbers;
}

} // namespace dlc::onnxfront

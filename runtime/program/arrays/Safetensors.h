//===- Safetensors.h - reads and writes .safetensors files -------------------===//
//
// A file is 8 bytes with the length of a header (little endian), the header (a JSON object: name to
// element type, shape and byte range), and the tensors' bytes one after another. See
// https://github.com/huggingface/safetensors.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_ARRAYS_SAFETENSORS_H
#define DLC_RUNTIME_PROGRAM_ARRAYS_SAFETENSORS_H

#include "dlc/DType.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlc::runtime {

/// A tensor of a .safetensors file: row-major, aligned to its element size.
struct FileTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Span data;
};

struct TensorFile {
  std::map<std::string, FileTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// A row-major tensor to write. The caller keeps its data alive during the call.
struct TensorView {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
  uint64_t bytes = 0;
};

struct TensorViews {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a .safetensors file by memory-mapping it; the tensors are views that keep the mapping
/// alive. The whole header is validated against the file first. Throws dlc::Error.
DLC_EXPORT TensorFile readSafetensors(const std::string &path);

/// Metadata key of files that hold the state of a program; its value is the name of the program.
inline constexpr char kStateOfKey[] = "dlc.state_of";

/// Writes a .safetensors file, replacing an existing file atomically. On failure the old file is
/// unchanged and dlc::Error is thrown.
DLC_EXPORT void writeSafetensors(const std::string &path, const TensorViews &file);
DLC_EXPORT void writeSafetensors(const std::string &path, const TensorFile &file);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_ARRAYS_SAFETENSORS_H

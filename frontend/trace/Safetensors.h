//===- Safetensors.h - read and write .safetensors files ------------------===//
#ifndef DLC_FRONTEND_TRACE_SAFETENSORS_H
#define DLC_FRONTEND_TRACE_SAFETENSORS_H

#include "dlc/trace_tensor.hpp"

#include <map>

namespace dlc::safetensors {

using Tensors = std::map<std::string, trace::Array>;
using Metadata = std::map<std::string, std::string>;

struct SafetensorsFile {
  Tensors tensors;
  Metadata metadata;
};

/// Maps a .safetensors file into memory. The returned arrays are views that keep the mapping alive.
/// Checks the whole header against the file before using it. Throws dlc::Error.
SafetensorsFile read(const std::string &path);

/// Writes a complete .safetensors file. If that fails, throws dlc::Error and leaves an existing
/// file unchanged.
void write(const std::string &path, const Tensors &tensors, const Metadata &metadata = {});

} // namespace dlc::safetensors

#endif // DLC_FRONTEND_TRACE_SAFETENSORS_H

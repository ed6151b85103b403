//===- Safetensors.h - arrays in .safetensors files -----------------------===//
#ifndef DLC_FRONTEND_TRACE_SAFETENSORS_H
#define DLC_FRONTEND_TRACE_SAFETENSORS_H

#include "dlc/trace_tensor.hpp"

#include <map>

namespace dlc::safetensors {

using Tensors = std::map<std::string, trace::Array>;
using Metadata = std::map<std::string, std::string>;

struct File {
  Tensors tensors;
  Metadata metadata;
};

/// Maps the file; the arrays are views that keep the mapping alive. Everything in the header is
/// checked against the file before it is used. Throws dlc::Error.
File read(const std::string &path);

/// Writes a whole new file, or leaves the old one as it was and throws dlc::Error.
void write(const std::string &path, const Tensors &tensors, const Metadata &metadata = {});

} // namespace dlc::safetensors

#endif // DLC_FRONTEND_TRACE_SAFETENSORS_H

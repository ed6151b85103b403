//===- Safetensors.cpp - arrays in .safetensors files ---------------------===//
#include "frontend/trace/Safetensors.h"

#include "runtime/program/arrays/Safetensors.h"

namespace dlc::safetensors {

SafetensorsFile read(const std::string &path) {
  runtime::TensorFile found = runtime::readSafetensors(path);
  SafetensorsFile file;
  file.metadata = std::move(found.metadata);
  for (auto &[name, tensor] : found.tensors)
    file.tensors[name] = {tensor.dtype, tensor.shape,
                          std::shared_ptr<const void>(tensor.data.owner, tensor.data.data)};
  return file;
}

void write(const std::string &path, const Tensors &tensors, const Metadata &metadata) {
  runtime::TensorFile file;
  file.metadata = metadata;
  for (const auto &[name, array] : tensors)
    file.tensors[name] = {array.dtype, array.shape, {array.data.get(), array.bytes(), array.data}};
  runtime::writeSafetensors(path, file);
}

} // namespace dlc::safetensors

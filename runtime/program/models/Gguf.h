//===- Gguf.h - reads GGUF files ---------------------------------------------===//
//
// GGUF is the model format of llama.cpp: a header, metadata, the names, shapes and types of
// tensors, and the tensors' data. Versions 2 and 3 are supported. See docs/gguf.md of
// https://github.com/ggml-org/ggml.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_MODELS_GGUF_H
#define DLC_RUNTIME_PROGRAM_MODELS_GGUF_H

#include "runtime/program/models/ModelTable.h"

namespace dlc::runtime {

/// Reads a GGUF file by memory-mapping it. If it is a part of a split model, all parts are read:
/// files NAME-00001-of-0000N.gguf in the same folder. The header is validated against the files;
/// the tensors are views that keep the mappings alive. Throws dlc::Error.
DLC_EXPORT ModelTable readGguf(const std::string &path);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MODELS_GGUF_H

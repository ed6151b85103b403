//===- Gguf.h - reads GGUF files ---------------------------------------------===//
//
// GGUF is the model format of llama.cpp: a header, metadata, the names, shapes and types of the
// tensors, and their data. Versions 2 and 3 are supported. See docs/gguf.md of
// https://github.com/ggml-org/ggml.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_MODELS_GGUF_H
#define DLC_RUNTIME_PROGRAM_MODELS_GGUF_H

#include "runtime/program/models/ModelTable.h"

namespace dlc::runtime {

/// Memory-maps a GGUF file and reads its header. If the file is a part of a split model, all parts
/// NAME-00001-of-0000N.gguf in the same folder are read. All sizes and offsets are validated
/// against the sizes of the files. The tensors are views that keep the mappings alive. Throws
/// dlc::Error.
DLC_EXPORT ModelTable readGguf(const std::string &path);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MODELS_GGUF_H

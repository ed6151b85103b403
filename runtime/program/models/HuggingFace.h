//===- HuggingFace.h - reads model folders of Hugging Face transformers ------===//
#ifndef DLC_RUNTIME_PROGRAM_MODELS_HUGGINGFACE_H
#define DLC_RUNTIME_PROGRAM_MODELS_HUGGINGFACE_H

#include "runtime/program/models/ModelTable.h"

namespace dlc::runtime {

/// Reads `config.json`, `generation_config.json` if it exists, and the `.safetensors` files of a
/// folder. The members of nested objects of the configuration have keys such as
/// `rope_scaling.factor`. The keys of `generation_config.json` begin with `generation_config.`.
/// Tensors must be f32, f16 or bf16.
/// Folders whose weights are only stored as pickle files, configurations that name Python code
/// (`auto_map`) and quantized models (`quantization_config`) are refused. Throws dlc::Error.
DLC_EXPORT ModelTable readHuggingFaceFolder(const std::string &folder);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MODELS_HUGGINGFACE_H

//===- Weights.h - constants of a decoder from the tensors of a file ------===//
#ifndef DLC_FRONTEND_GGUF_WEIGHTS_H
#define DLC_FRONTEND_GGUF_WEIGHTS_H

#include "frontend/builder/Build.h"
#include "frontend/gguf/Config.h"

#include <set>

namespace dlc::gguf {

using frontend::Build;
using frontend::Dims;
using mlir::Value;

/// Converts the tensors of a model to f32 constants. Tensors are requested by their GGUF names,
/// from which the names in Hugging Face folders are derived.
class Weights {
public:
  Weights(Build &b, const runtime::ModelTable &table, const DecoderConfig &config)
      : b(b), table(table), config(config) {}

  bool has(const std::string &name) const { return table.findTensor(fileName(name)); }
  /// Returns a tensor. A missing tensor, or one with another shape, is an error.
  Value get(const std::string &name, const Dims &shape);
  /// Returns a tensor; null if the file does not have it. Another shape is an error.
  Value getOptional(const std::string &name, const Dims &shape) {
    return has(name) ? get(name, shape) : Value();
  }
  /// Returns the weight of a norm over `size` elements.
  Value getNorm(const std::string &name, int64_t size);
  /// Returns the number of rows of a matrix; 0 and an error if the file does not have it.
  int64_t rows(const std::string &name);
  /// Returns whether the output matrix is a separate tensor. Otherwise it is the token embedding
  /// (`tie_word_embeddings`).
  bool hasOutput() const;
  /// Reports an error if the file has tensors that the decoder does not use.
  void checkAllUsed();

private:
  /// Returns the name of a tensor in the file; empty if Hugging Face folders have no such tensor.
  std::string fileName(const std::string &name) const;
  /// Returns a tensor, with 1 added to all elements if `addOne` is set.
  Value read(const std::string &name, const Dims &shape, bool addOne);

  Build &b;
  const runtime::ModelTable &table;
  const DecoderConfig &config;
  /// Names of the tensors that have been read.
  std::set<std::string> used;
};

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_WEIGHTS_H

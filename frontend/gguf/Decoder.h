//===- Decoder.h - builds a decoder as dlc operations ---------------------===//
#ifndef DLC_FRONTEND_GGUF_DECODER_H
#define DLC_FRONTEND_GGUF_DECODER_H

#include "runtime/program/models/ModelTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dlc::gguf {

/// Sizes that a program of a decoder is specialized for.
struct DecoderOptions {
  /// Number of tokens of a step.
  int64_t tokens = 1;
  /// Number of positions of the cache of keys and values.
  int64_t capacity = 0;
  /// Whether the program returns the logits of one token of the step instead of those of all
  /// tokens. The index of the token in the step is the input `last`.
  bool oneRow = false;
};

/// Names of the inputs and the output of a decoder.
inline constexpr char kIdsName[] = "ids", kPositionName[] = "position", kLastName[] = "last",
                      kLogitsName[] = "logits";

/// Builds a module whose @main is a step of the decoder: it appends `tokens` ids at `position` to
/// the sequence and returns their logits [tokens, vocabulary], or those
/// of one token with `oneRow`. The keys and values of all positions are states of @main,
/// `cache.keys.N` and `cache.values.N` for layer N. Weights are f32. Errors are emitted as
/// diagnostics.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> buildDecoder(mlir::MLIRContext &context,
                                                                const runtime::ModelTable &table,
                                                                const DecoderOptions &options);

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_DECODER_H

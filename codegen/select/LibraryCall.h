//===- LibraryCall.h - an operation or fusion as one call of a library ----===//
#ifndef DLC_CODEGEN_SELECT_LIBRARYCALL_H
#define DLC_CODEGEN_SELECT_LIBRARYCALL_H

#include "ir/dlc/Dialect.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace dlc {

/// One buffer of the call.
struct CallArgument {
  enum class Kind { Value, Packed, Result, Scratch };
  Kind kind = Kind::Value;
  mlir::Value value;   ///< Value: the operand (outside of any fusion)
  unsigned result = 0; ///< Result: of the operation
  int64_t offset = 0;  ///< bytes into the buffer where the call's argument starts
  int64_t bytes = 0;   ///< Packed and Scratch: their size
  std::string layout;  ///< Packed: what the library calls it
  /// Packed: makes the bytes; called once, when lowering. Null data means failure.
  std::function<std::shared_ptr<void>(std::string &error)> pack;
};

struct LibraryCall {
  std::string library;        ///< onednn, tiles, direct, winograd, attention, builtin ..
  std::string implementation; ///< for people
  /// The library's own last resort: right, and slower than anything else by orders of magnitude.
  bool isReference = false;
  nlohmann::json desc;
  /// What the library was asked for, layouts of its choice still open.
  nlohmann::json request;
  std::vector<CallArgument> arguments;
  /// Arguments that may be one buffer: (written, read).
  std::vector<std::pair<unsigned, unsigned>> inplace;
  /// The result starts as a copy of this value's bytes where they are not one buffer already: the
  /// call adds to what is there.
  std::optional<CallArgument> accumulates;
  double flops = 0, bytes = 0;
};

/// How oneDNN would do it; nothing where it cannot. `why` says what stood in the way.
std::optional<LibraryCall> onednnCall(mlir::Operation *op, int threads, std::string *why = nullptr);
/// Implementations that oneDNN offers for the same request, in its order of preference, few and
/// worth measuring.
std::vector<std::string> onednnImplementations(const LibraryCall &call, int threads);
/// How the runtime's own kernels would do it.
std::optional<LibraryCall> builtinCall(mlir::Operation *op);

/// A product of f32 in two or three bf16 parts, on a processor's tiles.
std::optional<LibraryCall> tilesCall(mlir::Operation *op, int parts, std::string *why = nullptr);

/// A product of f32 in vectors of so many numbers; by quarters as Strassen does it, or not.
std::optional<LibraryCall> vectorsCall(mlir::Operation *op, int64_t lanes,
                                       std::string *why = nullptr, bool isStrassen = false);

/// A convolution with constant weights, as a product.
std::optional<LibraryCall> directCall(mlir::Operation *op, int threads, std::string *why = nullptr);

/// A convolution, or a gradient of one, by F(tile x tile, window x window).
std::optional<LibraryCall> winogradCall(mlir::Operation *op, int tile, int threads,
                                        std::string *why = nullptr);

/// Attention or its gradients, by blocks without the score matrix; products of so many bf16 parts
/// on tiles, or 0: in vectors.
std::optional<LibraryCall> attentionCall(mlir::Operation *op, int parts,
                                         std::string *why = nullptr);

/// The call of the kernel and implementation that were chosen for the operation.
std::optional<LibraryCall> chosenCall(mlir::Operation *op, int threads, std::string *why = nullptr);

/// Whether cuBLASLt was found on this machine; how it would do a product on a GPU.
bool hasCublasLt();
std::optional<LibraryCall> cublasLtCall(mlir::Operation *op, std::string *why = nullptr);
/// The same of cuDNN, which does convolutions and their gradients.
bool hasCudnn();
std::optional<LibraryCall> cudnnCall(mlir::Operation *op, std::string *why = nullptr);
/// A call of either, by the name of an implementation: "cudnn", or "cudnn#3" for the third way that
/// the library proposes.
std::optional<LibraryCall> gpuLibraryCall(mlir::Operation *op, llvm::StringRef library,
                                          llvm::StringRef implementation,
                                          std::string *why = nullptr);
/// Whether the library has a way to do it on the device that is here under this name.
bool deviceTakes(const std::string &device, const LibraryCall &call, std::string *why = nullptr);

/// The name of an element type in programs: f32, u8, bool ...
std::string elementName(mlir::Type element);
/// Bytes of a tensor in memory, the padding of its layout included.
int64_t storageBytes(mlir::RankedTensorType type);

} // namespace dlc
#endif

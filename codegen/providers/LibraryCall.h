//===- LibraryCall.h - an operation or fusion as one call of a library ----===//
#ifndef DLC_CODEGEN_PROVIDERS_LIBRARYCALL_H
#define DLC_CODEGEN_PROVIDERS_LIBRARYCALL_H

#include "ir/dlc/Dialect.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace dlc {

/// One buffer argument of a call.
struct CallArgument {
  enum class Kind { Value, Packed, Result, Scratch };
  Kind kind = Kind::Value;
  mlir::Value value;   ///< Value: the operand (defined outside of any fusion)
  unsigned result = 0; ///< Result: index of the operation's result
  int64_t offset = 0;  ///< byte offset of the call's argument within the buffer
  int64_t bytes = 0;   ///< Packed and Scratch: size of the buffer
  std::string layout;  ///< Packed: the library's name for the layout
  /// Packed: creates the packed bytes. Called once, during lowering. Null data means failure.
  std::function<std::shared_ptr<void>(std::string &error)> pack;
};

struct LibraryCall {
  std::string library;        ///< name in the runtime's table of libraries
  std::string implementation; ///< name of the implementation for users
  /// The library's reference implementation: correct, but slower by orders of magnitude.
  bool isReference = false;
  nlohmann::json desc;
  std::vector<CallArgument> arguments;
  /// Pairs of arguments that may share one buffer: (written, read).
  std::vector<std::pair<unsigned, unsigned>> inplace;
  /// Old value that the call adds to. Unless it shares a buffer with the result, its bytes are
  /// copied into the result before the call.
  std::optional<CallArgument> accumulates;
  double flops = 0, bytes = 0;
  double costFactor = 1; ///< factor by which this call takes longer than others of its kind
  int64_t workspace = 0; ///< additional scratch memory of the library in bytes
  /// Whether the description must contain the buffers' alignment, which only lowering knows.
  bool wantsAlignment = false;

  void add(CallArgument argument, double bytes);
  /// Adds an operand that is defined outside of any fusion.
  void addValue(mlir::Value value);
  void addResult(unsigned number, mlir::RankedTensorType type);
};

/// Returns the values as a std::vector, as JSON descriptions require.
std::vector<int64_t> list(llvm::ArrayRef<int64_t> values);
/// Returns the name of an element type in programs: f32, u8, bool ...
std::string elementName(mlir::Type element);
/// Returns the bytes of a tensor in memory, including the padding of its layout.
int64_t storageBytes(mlir::RankedTensorType type);

/// Returns the value outside of a fusion that corresponds to a value of its body: the fusion's
/// operand, or the constant itself.
mlir::Value outside(FusionOp fusion, mlir::Value inner);
/// Returns the constant that defines the value; null if it is not constant.
ConstantOp constantOf(mlir::Value value);
/// Returns an argument of `bytes` constant weights, which `pack` writes during lowering.
CallArgument packedWeights(int64_t bytes, std::string layout, std::function<void(void *)> pack);

} // namespace dlc
#endif

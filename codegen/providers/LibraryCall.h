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
  mlir::Value value;   ///< for Kind::Value: operand that is defined outside of any fusion
  unsigned result = 0; ///< for Kind::Result: index of the operation's result
  int64_t offset = 0;  ///< byte offset of the call's argument within the buffer
  int64_t bytes = 0;   ///< for Kind::Packed and Kind::Scratch: size of the buffer
  std::string layout;  ///< for Kind::Packed: the library's name of the layout
  /// For Kind::Packed: function that creates the packed bytes. Called once, during lowering. Null
  /// data means failure.
  std::function<std::shared_ptr<void>(std::string &error)> pack;
};

struct LibraryCall {
  std::string library;        ///< name of the library in the runtime's table of libraries
  std::string implementation; ///< name of the implementation for users
  /// Whether this is the library's reference implementation: correct, but slower by orders of
  /// magnitude.
  bool isReference = false;
  nlohmann::json desc;
  std::vector<CallArgument> arguments;
  /// Pairs (written, read) of argument indices that may share one buffer.
  std::vector<std::pair<unsigned, unsigned>> inplace;
  /// Old value to which the call adds its result. Unless this buffer is shared with the result, its
  /// bytes are copied into the result before the call.
  std::optional<CallArgument> accumulates;
  double flops = 0, bytes = 0;
  double costFactor = 1; ///< ratio of this call's time to that of other calls of its kind
  int64_t workspace = 0; ///< additional scratch memory of the library in bytes
  /// Whether the description must contain the buffers' alignment, which is known only during
  /// lowering.
  bool wantsAlignment = false;

  void add(CallArgument argument, double bytes);
  /// Adds an operand that is defined outside of any fusion.
  void addValue(mlir::Value value);
  void addResult(unsigned number, mlir::RankedTensorType type);
};

/// Returns the values as a std::vector, the type that JSON descriptions require.
std::vector<int64_t> list(llvm::ArrayRef<int64_t> values);
/// Returns the name of an element type in manifests: f32, u8, bool ...
std::string elementName(mlir::Type element);
/// Returns the number of bytes that a tensor occupies, including the padding of its layout.
int64_t storageBytes(mlir::RankedTensorType type);

/// Returns the value outside of a fusion that corresponds to a value of the fusion's body: the
/// fusion's operand, or the constant itself.
mlir::Value getOuterValue(FusionOp fusion, mlir::Value inner);
/// Returns the constant operation that defines the value; null if the value is not constant.
ConstantOp constantOf(mlir::Value value);
/// Returns an argument for a buffer of `bytes` constant weights, which `pack` writes during
/// lowering.
CallArgument makePackedArgument(int64_t bytes, std::string layout,
                                std::function<void(void *)> pack);

} // namespace dlc
#endif

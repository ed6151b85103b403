//===- LibraryCall.h - an operation or fusion as one call of a library ----===//
#ifndef DLC_CODEGEN_PROVIDERS_LIBRARYCALL_H
#define DLC_CODEGEN_PROVIDERS_LIBRARYCALL_H

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
  std::string library;        ///< a row of the runtime's table of libraries
  std::string implementation; ///< for people
  /// The library's own last resort: right, and slower than anything else by orders of magnitude.
  bool isReference = false;
  nlohmann::json desc;
  std::vector<CallArgument> arguments;
  /// Arguments that may be one buffer: (written, read).
  std::vector<std::pair<unsigned, unsigned>> inplace;
  /// The result starts as a copy of this value's bytes where they are not one buffer already: the
  /// call adds to what is there.
  std::optional<CallArgument> accumulates;
  double flops = 0, bytes = 0;
  double effort = 1;     ///< of its kind of work, how much longer this one takes than others
  int64_t workspace = 0; ///< bytes that the library takes beside its arguments
  /// The description shall say how buffers are aligned, which only lowering knows.
  bool wantsAlignment = false;

  void add(CallArgument argument, double bytes);
  /// An operand from outside of any fusion.
  void addValue(mlir::Value value);
  void addResult(unsigned number, mlir::RankedTensorType type);
};

/// As descriptions want it.
std::vector<int64_t> list(llvm::ArrayRef<int64_t> values);
/// The name of an element type in programs: f32, u8, bool ...
std::string elementName(mlir::Type element);
/// Bytes of a tensor in memory, the padding of its layout included.
int64_t storageBytes(mlir::RankedTensorType type);

/// The value outside of a fusion that one of its body stands for: an operand, or a constant's own
/// value.
mlir::Value outside(FusionOp fusion, mlir::Value inner);
/// The constant behind a value, if it is one.
ConstantOp constantOf(mlir::Value value);
/// Constant weights in `bytes` that `pack` fills when lowering.
CallArgument packedWeights(int64_t bytes, std::string layout, std::function<void(void *)> pack);

} // namespace dlc
#endif

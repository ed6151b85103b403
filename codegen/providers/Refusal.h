//===- Refusal.h - reports why a kernel cannot implement an operation -----===//
#ifndef DLC_CODEGEN_PROVIDERS_REFUSAL_H
#define DLC_CODEGEN_PROVIDERS_REFUSAL_H

#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace dlc {

/// Callback that stores the reason why a provider cannot implement an operation and returns
/// std::nullopt. Use: `return refuse("..")` in functions that return an optional.
struct Refusal {
  std::string *why;

  std::nullopt_t operator()(const llvm::Twine &reason) const {
    if (why)
      *why = reason.str();
    return std::nullopt;
  }
};

} // namespace dlc
#endif

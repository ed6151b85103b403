//===- Refusal.h - says why a kernel cannot do an operation ---------------===//
#ifndef DLC_CODEGEN_PROVIDERS_REFUSAL_H
#define DLC_CODEGEN_PROVIDERS_REFUSAL_H

#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace dlc {

/// `return no("..")` where a candidate was to be returned.
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

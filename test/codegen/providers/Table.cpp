//===- Table.cpp - table of kernel providers with one additional row -------===//
#include "codegen/providers/Provider.h"

namespace dlc {

namespace provide {
const Provider &relu();
}

llvm::ArrayRef<const Provider *> providers() {
  static const Provider *const rows[] = {
#define PROVIDER(name) &provide::name(),
      PROVIDER(relu)
#include "codegen/providers/Providers.def"
#undef PROVIDER
  };
  return rows;
}

} // namespace dlc

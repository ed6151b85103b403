//===- Table.cpp - table of kernel providers ------------------------------===//
#include "codegen/providers/Provider.h"

namespace dlc {

llvm::ArrayRef<const Provider *> providers() {
  static const Provider *const rows[] = {
#define PROVIDER(name) &provide::name(),
#include "codegen/providers/Providers.def"
#undef PROVIDER
  };
  return rows;
}

} // namespace dlc

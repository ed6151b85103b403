//===- FrontEnds.h - the table of front ends ----------------------------------===//
#ifndef DLC_FRONTEND_TABLE_FRONTENDS_H
#define DLC_FRONTEND_TABLE_FRONTENDS_H

#include "frontend/FrontEnd.h"

#include <string>
#include <vector>

namespace dlc {

/// One row for each form of models that files may have.
const std::vector<FrontEnd> &frontEnds();

/// By the file's extension; null where none takes it.
const FrontEnd *frontEndOf(llvm::StringRef path);

/// ".onnx or .mlir", with `last` as one more where it is not empty.
std::string extensionsText(llvm::StringRef last = "");

} // namespace dlc

#endif // DLC_FRONTEND_TABLE_FRONTENDS_H

//===- FrontEnds.h - the table of front ends ----------------------------------===//
#ifndef DLC_FRONTEND_TABLE_FRONTENDS_H
#define DLC_FRONTEND_TABLE_FRONTENDS_H

#include "frontend/FrontEnd.h"

#include <string>
#include <vector>

namespace dlc {

/// Returns the table of front ends, with one row for each supported model file format.
const std::vector<FrontEnd> &frontEnds();

/// Returns the front end for the extension of a file name; null if there is none.
const FrontEnd *findFrontEnd(llvm::StringRef path);

/// Lists the supported file extensions, for example ".onnx or .mlir". `last` is appended to the
/// list if it is not empty.
std::string formatExtensions(llvm::StringRef last = "");

} // namespace dlc

#endif // DLC_FRONTEND_TABLE_FRONTENDS_H

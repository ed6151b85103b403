//===- FrontEnds.cpp - the table of front ends --------------------------------===//
#include "frontend/table/FrontEnds.h"

#include "frontend/aten/Import.h"
#include "frontend/gguf/Import.h"
#include "frontend/mlir/Import.h"
#include "frontend/onnx/Import.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace dlc {

const std::vector<FrontEnd> &frontEnds() {
  static const std::vector<FrontEnd> table = {
      {"onnx", {".onnx"}, inspectOnnx, importOnnx},
      {"mlir", {".mlir"}, inspectMlir, importMlir},
      {"aten", {".aten"}, inspectAten, importAten},
      {"gguf", {".gguf"}, inspectGguf, importGguf},
  };
  return table;
}

const FrontEnd *findFrontEnd(llvm::StringRef path) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  for (const FrontEnd &row : frontEnds())
    if (llvm::is_contained(row.extensions, extension))
      return &row;
  return nullptr;
}

std::string formatExtensions(llvm::StringRef last) {
  std::vector<llvm::StringRef> all;
  for (const FrontEnd &row : frontEnds())
    all.insert(all.end(), row.extensions.begin(), row.extensions.end());
  if (!last.empty())
    all.push_back(last);
  std::string text;
  for (size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i].str();
  return text;
}

} // namespace dlc

//===- Sizes.cpp - reference semantics of dlc.size ---------------------------===//
#include "ir/dlc/Sizes.h"
#include "ir/reference/Rows.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::ref;

LogicalResult SizeOp::evaluate(Inputs, Outputs outputs) {
  std::optional<int64_t> number = getSize().getSize().constant();
  if (!number)
    return emitOpError() << "has no value before its symbols have values; found \""
                         << getSize().getText() << "\"; replace the symbols by numbers first";
  Tensor y = Tensor::empty(getType());
  y.setInt(0, *number);
  outputs.push_back(y);
  return success();
}

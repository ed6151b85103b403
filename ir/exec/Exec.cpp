//===- Exec.cpp - the exec dialect and its verifiers ----------------------===//
#include "ir/exec/Exec.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/exec/Dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/exec/Types.cpp.inc"
#define GET_OP_CLASSES
#include "ir/exec/Ops.cpp.inc"

namespace dlc::exec {

void ExecDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/exec/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/exec/Ops.cpp.inc"
      >();
}

LogicalResult ViewOp::verify() {
  int64_t whole = getSource().getType().getBytes(), part = getBuffer().getType().getBytes();
  int64_t offset = int64_t(getOffset());
  if (offset < 0 || offset > whole || part > whole - offset)
    return emitOpError("C1: the part must lie inside the buffer; found bytes ")
           << offset << " to " << offset + part << " of " << whole;
  return success();
}

template <typename Op> static LogicalResult verifyPositions(Op op) {
  for (ArrayRef<int64_t> list : {op.getWrites(), op.getInplace()})
    for (int64_t position : list)
      if (position < 0 || position >= int64_t(op.getBuffers().size()))
        return op.emitOpError("C1: positions must name buffers; found ")
               << position << " of " << op.getBuffers().size();
  return success();
}

LogicalResult LaunchOp::verify() { return verifyPositions(*this); }
LogicalResult LibraryOp::verify() { return verifyPositions(*this); }

LogicalResult CopyOp::verify() {
  int64_t bytes = int64_t(getBytes());
  if (bytes < 0 || bytes > int64_t(getFrom().getType().getBytes()) ||
      bytes > int64_t(getTo().getType().getBytes()))
    return emitOpError("C1: both buffers must hold the bytes copied; found ")
           << bytes << " of " << getFrom().getType().getBytes() << " and "
           << getTo().getType().getBytes();
  return success();
}

} // namespace dlc::exec

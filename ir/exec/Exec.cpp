//===- Exec.cpp - the exec dialect and its verifiers ----------------------===//
#include "ir/exec/Exec.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/exec/Dialect.cpp.inc"
#include "ir/exec/Interfaces.cpp.inc"
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

Type BufferType::parse(AsmParser &parser) {
  SMLoc where = parser.getCurrentLocation();
  int64_t bytes = 0;
  std::string device = kHost.str();
  if (parser.parseLess() || parser.parseInteger(bytes) ||
      (succeeded(parser.parseOptionalKeyword("on")) && parser.parseString(&device)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(where, parser.getContext(), bytes, StringRef(device));
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<' << getBytes();
  if (getDevice() != kHost)
    printer << " on \"" << getDevice() << '"';
  printer << '>';
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bytes,
                                 StringRef device) {
  if (isDeviceName(device))
    return success();
  return emitError() << "C1: the device must be one such as cpu, cpu:N or cuda:N; found '" << device
                     << "'; correct the name";
}

LogicalResult ViewOp::verify() {
  if (getSource().getType().getDevice() != getBuffer().getType().getDevice())
    return emitOpError("C1: the part must be inside the buffer; found devices ")
           << getSource().getType().getDevice() << " and " << getBuffer().getType().getDevice();
  int64_t whole = getSource().getType().getBytes(), part = getBuffer().getType().getBytes();
  int64_t offset = int64_t(getOffset());
  if (offset < 0 || offset > whole || part > whole - offset)
    return emitOpError("C1: the part must be inside the buffer; found bytes ")
           << offset << " to " << offset + part << " of " << whole;
  return success();
}

template <typename Op> static LogicalResult verifyBufferPositions(Op op) {
  for (ArrayRef<int64_t> list : {op.getWrites(), op.getInplace()})
    for (int64_t position : list)
      if (position < 0 || position >= int64_t(op.getBuffers().size()))
        return op.emitOpError("C1: positions must be indices of buffers; found ")
               << position << " of " << op.getBuffers().size();
  return success();
}

LogicalResult LaunchOp::verify() {
  if (failed(verifyBufferPositions(*this)))
    return failure();
  auto sizes = [](std::optional<ArrayRef<int32_t>> list) {
    return list && list->size() == 3 && llvm::all_of(*list, [](int32_t size) { return size > 0; });
  };
  if ((getGrid() || getBlock()) && !(sizes(getGrid()) && sizes(getBlock())))
    return emitOpError("C2: grid and block must be given together, with three positive sizes each");
  return success();
}
LogicalResult LibraryOp::verify() { return verifyBufferPositions(*this); }

LogicalResult CopyOp::verify() {
  int64_t bytes = getBytes();
  if (bytes < 0 || bytes > getFrom().getType().getBytes() || bytes > getTo().getType().getBytes())
    return emitOpError("C1: both buffers must contain the copied bytes; found ")
           << bytes << " of " << getFrom().getType().getBytes() << " and "
           << getTo().getType().getBytes();
  return success();
}

} // namespace dlc::exec

//===- SizeDialect.h - attributes for sizes over symbols ---------------------===//
#ifndef DLC_IR_SIZE_SIZEDIALECT_H
#define DLC_IR_SIZE_SIZEDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "runtime/size/Size.h"

#include "ir/size/Dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/size/Attrs.h.inc"

#endif // DLC_IR_SIZE_SIZEDIALECT_H

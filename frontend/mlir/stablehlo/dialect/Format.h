//===- Format.h - custom directives of the stablehlo dialect's syntax ---------===//
// Parsers and printers of the custom directives in assembly formats: ODS calls parseNAME and
// printNAME for `custom<NAME>(..)`.
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_FORMAT_H
#define DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_FORMAT_H

#include "frontend/mlir/stablehlo/dialect/Attributes.h"

#include "mlir/IR/OpImplementation.h"

namespace dlc::stablehlo {

using mlir::ArrayAttr;
using mlir::DenseBoolArrayAttr;
using mlir::DenseI64ArrayAttr;
using mlir::DenseIntElementsAttr;
using mlir::IntegerAttr;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;
using mlir::StringAttr;
using mlir::Type;
using Unresolved = OpAsmParser::UnresolvedOperand;

/// Types of an elementwise operation: `T` if all operands and the result have the type T; otherwise
/// a function type such as `(A, B) -> R`.
ParseResult parseSameTypes(OpAsmParser &parser, Type &operand, Type &result);
ParseResult parseSameTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
ParseResult parseSameTypes(OpAsmParser &parser, Type &a, Type &b, Type &c, Type &result);
void printSameTypes(OpAsmPrinter &printer, Operation *op, Type operand, Type result);
void printSameTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);
void printSameTypes(OpAsmPrinter &printer, Operation *op, Type a, Type b, Type c, Type result);

/// Types of the operands, such as `A, B`. The results have the same types.
ParseResult parseSameTypeLists(OpAsmParser &parser, llvm::SmallVectorImpl<Type> &operands,
                               llvm::SmallVectorImpl<Type> &results);
void printSameTypeLists(OpAsmPrinter &printer, Operation *op, mlir::TypeRange operands,
                        mlir::TypeRange results);

/// Types of a select: `P, T` for a predicate of type P if both values and the result have the type
/// T; otherwise `(P, A, B) -> R`.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &a, Type &b, Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type pred, Type a, Type b, Type result);

/// Operands that are each followed by a comma, such as `%a, %b,`.
ParseResult parseOperandsThenComma(OpAsmParser &parser,
                                   llvm::SmallVectorImpl<Unresolved> &operands);
void printOperandsThenComma(OpAsmPrinter &printer, Operation *op, mlir::OperandRange operands);

/// Numbers of exponent and mantissa bits of a float format, such as `e5m10`.
ParseResult parseFloatFormat(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa);
void printFloatFormat(OpAsmPrinter &printer, Operation *op, IntegerAttr exponent,
                      IntegerAttr mantissa);

/// Ranges start:limit or start:limit:stride of a slice, such as `[0:2, 0:10:2]`.
ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &start,
                             DenseI64ArrayAttr &limit, DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr start,
                      DenseI64ArrayAttr limit, DenseI64ArrayAttr strides);

/// Right operand and attributes of a dot, such as `%rhs, batching_dims = [0] x [0],
/// contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT]`.
ParseResult parseDotOperand(OpAsmParser &parser, Unresolved &rhs, DotAttr &dims,
                            ArrayAttr &precision, DotAlgorithmAttr &algorithm);
void printDotOperand(OpAsmPrinter &printer, Operation *op, mlir::Value rhs, DotAttr dims,
                     ArrayAttr precision, DotAlgorithmAttr algorithm);
ParseResult parseDotOperand(OpAsmParser &parser, Unresolved &rhs, ArrayAttr &precision);
void printDotOperand(OpAsmPrinter &printer, Operation *op, mlir::Value rhs, ArrayAttr precision);

/// Dimension numbers of a convolution (input x kernel -> output), such as `[b, 0, 1, f]x[0, 1, i,
/// o]->[b, 0, 1, f]`.
ParseResult parseConvDimensions(OpAsmParser &parser, ConvDimensionsAttr &dimensions);
void printConvDimensions(OpAsmPrinter &printer, Operation *op, ConvDimensionsAttr dimensions);

/// Window attributes of a convolution, such as `{stride = [1, 1], pad = [[0, 1], [0, 1]],
/// lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]}`.
ParseResult parseWindow(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                        DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                        DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal);
void printWindow(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr strides,
                 DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                 DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal);

/// Call target of a custom_call, such as `@name`.
ParseResult parseTarget(OpAsmParser &parser, StringAttr &name);
void printTarget(OpAsmPrinter &printer, Operation *op, StringAttr name);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_FORMAT_H

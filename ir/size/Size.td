//===- Size.td - attributes for sizes over symbols -------------------------===//
#ifndef DLC_IR_SIZE_SIZE_TD
#define DLC_IR_SIZE_SIZE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def Size_Dialect : Dialect {
  let name = "size";
  let cppNamespace = "::dlc::size";
  let summary = "sizes of dimensions that are known when a program runs";
  let useDefaultAttributePrinterParser = 1;
}

def Size_SymbolAttr : AttrDef<Size_Dialect, "Symbol"> {
  let mnemonic = "symbol";
  let summary = "a named size with a range, a divisor and a nominal value";
  let description = [{
    `#size.symbol<"length", "1..512:8@128">` is a multiple of 8 from 8 to 512, and programs are optimized for 128. The attribute is printed as
    the alias `#length`.
    - (C1) the range is MINIMUM..[MAXIMUM][:DIVISOR][@NOMINAL] and contains a multiple of the divisor.
  }];
  let parameters = (ins StringRefParameter<"name">:$name, StringRefParameter<"range, in the form of formatRange">:$range);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static SymbolAttr fromSymbol(mlir::MLIRContext *context, const Symbol &symbol);
    SymbolRef getSymbol() const;
  }];
}

def Size_ExprAttr : AttrDef<Size_Dialect, "Expr"> {
  let mnemonic = "expr";
  let summary = "a size: an expression over symbols, in normal form";
  let description = [{
    `#size.expr<"2*batch + 1", [#batch]>`. Two sizes are equal if their attributes are identical.
    - (C1) the text is an expression over the symbols that follow it.
    - (C2) the symbols have different names.
  }];
  let parameters = (ins StringRefParameter<"the normal form, as text">:$text, ArrayRefParameter<"SymbolAttr">:$symbols);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The size must be valid.
    static ExprAttr fromSize(mlir::MLIRContext *context, const Size &size);
    Size getSize() const;
  }];
}

def Size_DimsAttr : AttrDef<Size_Dialect, "Dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "dims";
  let summary = "encoding of a tensor with dimensions that are not numbers";
  let description = [{
    `tensor<?x3x?xf32, #size.dims<[#batch, #size.expr<"2*length", [#length]>], #dlc.on<cpu>>>` has the sizes of the dimensions that are `?`,
    in order, and then the device and layout, if the tensor has any.
    - (C1) there is one size for each `?`.
    - (C2) each size has a symbol. Constant sizes are written in the type.
  }];
  let parameters = (ins ArrayRefParameter<"ExprAttr">:$sizes, "mlir::Attribute":$place);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // DLC_IR_SIZE_SIZE_TD

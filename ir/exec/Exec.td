//===- Exec.td - the exec dialect: ordered commands of the runtime --------===//
#ifndef DLC_IR_EXEC_TD
#define DLC_IR_EXEC_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::dlc::exec";
  let summary = "commands on buffers, in the order in which the runtime executes them";
  let useDefaultTypePrinterParser = 1;
}

/// The operation names a buffer. The runtime executes nothing for it.
def Exec_NamesMemory : NativeOpTrait<"NamesMemory"> { let cppNamespace = "::dlc::exec"; }

/// Command that the runtime executes on a stream.
def Exec_CommandInterface : OpInterface<"CommandInterface"> {
  let cppNamespace = "::dlc::exec";
  let methods = [
    InterfaceMethod<"Returns the number of the command's stream.", "uint64_t", "getStream">,
    InterfaceMethod<"Sets the number of the command's stream.", "void", "setStream", (ins "uint64_t":$stream)>,
    InterfaceMethod<"Returns the indices of the operands whose buffers the command itself writes.",
                    "llvm::SmallVector<unsigned>", "getWrittenOperands", (ins), "", [{ return {}; }]>];
}

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

def Exec_Buffer : TypeDef<Exec_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "contiguous bytes on a device: `!exec.buffer<4096>` on cpu, `!exec.buffer<4096 on \"cuda:0\">` on another device";
  let description = "- (C1) the device is `cpu`, `cpu:N` or `cuda:N`.";
  let parameters = (ins "int64_t":$bytes, StringRefParameter<"device name such as cuda:0">:$device);
  let builders = [TypeBuilder<(ins "int64_t":$bytes), [{ return $_get($_ctxt, bytes, "cpu"); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}


def Exec_ProgramOp : Exec_Op<"program", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a command list; `inputs` and `outputs` are dictionaries with name, type and optionally a required value";
  let description = [{
    `states` are dictionaries that describe the memory kept between runs: name, type, `parameter` for a trained parameter, and `init`, the
    initial elements (default: zeros).

    `streams` has the device of each stream; by default there is one stream on cpu. Commands of one stream run in order. Commands of
    different streams are ordered only by events; the order of the list is one that the events allow. Commands in an `if` or `loop` run on its stream.
    `arena` is the size of the arena on cpu in bytes, `arenas` has those of the other devices.
    - (C1) streams are on devices: `cpu`, `cpu:N` or `cuda:N`.
    - (C2) each command's stream is one of them; a command in a body has the stream of the enclosing command.
    - (C3) a command's buffers are on its stream's device; for a copy, at least one of them.
    - (C4) an event is recorded once and waited for later in the list, on another stream; both are outside of bodies.
    - (C5) the command before a `concurrent` loop is a loop on the same stream, and both are outside of bodies.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, ArrayAttr:$outputs, OptionalAttr<ArrayAttr>:$states, OptionalAttr<I64Attr>:$arena,
                       OptionalAttr<StrArrayAttr>:$streams, OptionalAttr<DictionaryAttr>:$arenas);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the devices of all streams; by default one stream on cpu.
    llvm::SmallVector<llvm::StringRef> getStreamDevices();
  }];
  let assemblyFormat = "$sym_name `inputs` $inputs `outputs` $outputs (`states` $states^)? (`streams` $streams^)? (`arena` $arena^)? (`arenas` $arenas^)? attr-dict-with-keyword $body";
}

def Exec_KernelOp : Exec_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a generated kernel; the dlc.fusion in its region defines its semantics";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Exec_InputOp : Exec_Op<"input", [Pure, Exec_NamesMemory]> {
  let summary = "the caller's buffer of one input";
  let arguments = (ins I64Attr:$index);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$index attr-dict `:` type($buffer)";
}
def Exec_OutputOp : Exec_Op<"output", [Exec_NamesMemory]> {
  let summary = "the caller's buffer of one output";
  let arguments = (ins I64Attr:$index);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$index attr-dict `:` type($buffer)";
}
def Exec_StateOp : Exec_Op<"state", [Exec_NamesMemory]> {
  let summary = "the memory of one state: the value before the run or, with `new`, the value after the run";
  let description = [{
    Both are the same memory, which is kept between runs. A command that reads the old value must precede the command that writes the new
    one, or be that command, which then works in place.
  }];
  let arguments = (ins I64Attr:$index, UnitAttr:$fresh);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$index (`new` $fresh^)? attr-dict `:` type($buffer)";
}
def Exec_ConstantOp : Exec_Op<"constant", [Pure, Exec_NamesMemory]> {
  let summary = "bytes known at compile time; `layout` is the layout in which a library packed them";
  let arguments = (ins ElementsAttr:$value, OptionalAttr<StrAttr>:$layout);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$value (`layout` $layout^)? attr-dict `:` type($buffer)";
}
def Exec_AllocOp : Exec_Op<"alloc", [Exec_NamesMemory]> {
  let summary = "bytes of the arena; `offset` is fixed by the memory phase";
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($buffer)";
}
def Exec_ViewOp : Exec_Op<"view", [Pure, Exec_NamesMemory]> {
  let summary = "part of a buffer; with a step, the address advances by the step in each iteration of the innermost loop around the using command";
  let description = "- (C1) the part is inside the buffer in the first iteration.";
  let arguments = (ins Exec_Buffer:$source, I64Attr:$offset, DefaultValuedAttr<I64Attr, "0">:$step);
  let results = (outs Exec_Buffer:$buffer);
  let hasVerifier = 1;
  let assemblyFormat = "$source `at` $offset attr-dict `:` type($source) `->` type($buffer)";
}
def Exec_LaunchOp : Exec_Op<"launch", [DeclareOpInterfaceMethods<Exec_CommandInterface, ["getWrittenOperands"]>]> {
  let summary = "a generated kernel over [0, extent), in parallel, at least `grain` units at a time";
  let description = [{
    `writes` are the positions of written buffers; all others are read only. `inplace` lists pairs (written, read) of
    positions that may be one buffer. On a GPU, `grid` and `block` are the launch dimensions and `shared` the bytes of shared memory;
    extent, grain and scratch are not used there.
    - (C1) positions in `writes` and `inplace` are indices of buffers.
    - (C2) grid and block are given together, with three positive sizes each.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$buffers, DenseI64ArrayAttr:$writes, DenseI64ArrayAttr:$inplace,
                       I64Attr:$extent, I64Attr:$grain, I64Attr:$scratch, F64Attr:$flops, F64Attr:$traffic,
                       DefaultValuedAttr<I64Attr, "0">:$stream, OptionalAttr<DenseI32ArrayAttr>:$grid, OptionalAttr<DenseI32ArrayAttr>:$block,
                       DefaultValuedAttr<I64Attr, "0">:$shared);
  let hasVerifier = 1;
  let assemblyFormat = [{$kernel `(` $buffers `)` `writes` $writes `inplace` $inplace `extent` $extent `grain` $grain `scratch` $scratch
    `flops` $flops `bytes` $traffic attr-dict `:` type($buffers)}];
}
def Exec_LibraryOp : Exec_Op<"library", [DeclareOpInterfaceMethods<Exec_CommandInterface, ["getWrittenOperands"]>]> {
  let summary = "a library kernel; `desc` is JSON in the format that the library's folder in runtime/library documents";
  let description = "- (C1) positions in `writes` and `inplace` are indices of buffers.";
  let arguments = (ins StrAttr:$library, StrAttr:$desc, Variadic<Exec_Buffer>:$buffers, DenseI64ArrayAttr:$writes, DenseI64ArrayAttr:$inplace,
                       F64Attr:$flops, F64Attr:$traffic, DefaultValuedAttr<I64Attr, "0">:$stream);
  let hasVerifier = 1;
  let assemblyFormat = [{$library `(` $buffers `)` `writes` $writes `inplace` $inplace `flops` $flops `bytes` $traffic `desc` $desc
    attr-dict `:` type($buffers)}];
}
def Exec_CopyOp : Exec_Op<"copy", [DeclareOpInterfaceMethods<Exec_CommandInterface, ["getWrittenOperands"]>]> {
  let summary = "copies bytes, also between devices";
  let description = "- (C1) both buffers have at least `bytes` bytes.";
  let arguments = (ins Exec_Buffer:$from, Exec_Buffer:$to, I64Attr:$bytes, DefaultValuedAttr<I64Attr, "0">:$stream);
  let hasVerifier = 1;
  let assemblyFormat = "$from `to` $to `bytes` $bytes attr-dict `:` type($from) `,` type($to)";
}
def Exec_FillOp : Exec_Op<"fill", [DeclareOpInterfaceMethods<Exec_CommandInterface, ["getWrittenOperands"]>]> {
  let summary = "sets every byte";
  let arguments = (ins Exec_Buffer:$to, I64Attr:$byte, DefaultValuedAttr<I64Attr, "0">:$stream);
  let assemblyFormat = "$to `with` $byte attr-dict `:` type($to)";
}
def Exec_IfOp : Exec_Op<"if", [Exec_CommandInterface, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "runs one of two command lists, depending on the buffer's first byte";
  let arguments = (ins Exec_Buffer:$condition, DefaultValuedAttr<I64Attr, "0">:$stream);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = "$condition `:` type($condition) $thenRegion `else` $elseRegion attr-dict";
}
def Exec_LoopOp : Exec_Op<"loop", [DeclareOpInterfaceMethods<Exec_CommandInterface, ["getWrittenOperands"]>, SingleBlock, NoTerminator,
    NoRegionArguments, AttrSizedOperandSegments]> {
  let summary = "repeats a command list while iteration < trip and the condition's byte is not 0; writes the iteration to `index`";
  let description = [{
    A `concurrent` loop is independent of the loop before it, and of the loops that this one is concurrent with: none of them writes bytes
    that another one reads or writes. Adjacent loops of this kind form a group, whose loops a CPU may run at the same time.
  }];
  let arguments = (ins Optional<Exec_Buffer>:$trip, Optional<Exec_Buffer>:$condition, Optional<Exec_Buffer>:$index, UnitAttr:$concurrent,
                       DefaultValuedAttr<I64Attr, "0">:$stream);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{(`trip` $trip^ `:` type($trip))? (`while` $condition^ `:` type($condition))? (`index` $index^ `:` type($index))?
    (`concurrent` $concurrent^)? $body attr-dict}];
}
def Exec_RecordOp : Exec_Op<"record", [Exec_CommandInterface]> {
  let summary = "records an event, which occurs when all earlier commands of its stream are finished";
  let arguments = (ins I64Attr:$event, DefaultValuedAttr<I64Attr, "0">:$stream);
  let assemblyFormat = "$event attr-dict";
}
def Exec_WaitOp : Exec_Op<"wait", [Exec_CommandInterface]> {
  let summary = "makes later commands of its stream wait until the event has occurred";
  let arguments = (ins I64Attr:$event, DefaultValuedAttr<I64Attr, "0">:$stream);
  let assemblyFormat = "$event attr-dict";
}
#endif

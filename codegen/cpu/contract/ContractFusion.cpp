//===- ContractFusion.cpp - fusions with one matmul, emitted as a blocked kernel ---===//
#include "codegen/cpu/contract/ContractFusion.h"

#include "ir/dlc/Contraction.h"
#include "passes/fuse/analysis/StridedView.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Whether a value depends on the matmul. Yes: only through elementwise operations on values of its
/// shape. Wrongly: in a way that an epilogue cannot compute.
enum class MatmulDependence { No, Yes, Wrongly };

MatmulDependence findMatmulDependence(Value value, MatmulOp matmul,
                                      llvm::DenseMap<Value, MatmulDependence> &known) {
  if (value == matmul.getY())
    return MatmulDependence::Yes;
  Operation *op = value.getDefiningOp();
  if (!op)
    return MatmulDependence::No;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  MatmulDependence result = MatmulDependence::No;
  for (Value operand : op->getOperands()) {
    MatmulDependence one = findMatmulDependence(operand, matmul, known);
    if (one == MatmulDependence::Wrongly)
      result = one;
    else if (one == MatmulDependence::Yes && result == MatmulDependence::No)
      result = op->hasTrait<Elementwise>() && shapeOf(operand) == shapeOf(value)
                   ? MatmulDependence::Yes
                   : MatmulDependence::Wrongly;
  }
  // A reduction or contraction is not fused as an operand of the epilogue, because the kernel would
  // recompute it for each element.
  if (result == MatmulDependence::No && op->hasTrait<ElementLoop>())
    result = MatmulDependence::Wrongly;
  return known[value] = result;
}

bool isCastFusedIntoLoad(CastOp cast) {
  Type from = typeOf(cast.getX()).getElementType();
  return typeOf(cast.getY()).getElementType().isF32() && layoutOf(cast.getX().getType()).empty() &&
         (from.isBF16() || from.isF16() || from.isSignlessInteger(8));
}

struct MatmulOperandView : StridedView {
  Value zero; ///< zero point that is subtracted from the operand's elements; null: none
};

/// Returns a matmul's operand as a strided view of an argument of the body, with the rank of the
/// matmul. Returns nothing if the operand is not such a view.
std::optional<MatmulOperandView> matchOperandView(Value value, bool transposed, size_t rank) {
  auto strided = matchStridedView(value, [](Operation *) { return true; });
  if (!strided)
    return std::nullopt;
  std::optional<MatmulOperandView> view = MatmulOperandView{*strided, Value()};
  // Weights in f16, bf16 or i8 are not converted beforehand: the kernel converts them to f32 when
  // it loads them.
  if (auto cast = view->base.getDefiningOp<CastOp>(); cast && isCastFusedIntoLoad(cast))
    view->base = cast.getX();
  if (!isa<BlockArgument>(view->base))
    return std::nullopt;
  if (transposed)
    view->swapLastTwo();
  view->shape.insert(view->shape.begin(), rank - view->shape.size(), 1);
  view->strides.insert(view->strides.begin(), rank - view->strides.size(), 0);
  for (size_t d = 0; d + 2 < rank; ++d)
    if (view->shape[d] == 1)
      view->strides[d] = 0;
  return view;
}

/// Sets the arguments, offsets, strides and zero points of both operands. `packed` is the index of
/// an argument that is stored in the packed layout, if there is one.
void setOperands(ContractFusion &contract, const MatmulOperandView &a, const MatmulOperandView &b,
                 std::optional<unsigned> packed) {
  ContractSpec &spec = contract.spec;
  size_t rank = a.shape.size();
  spec.strideAm = a.strides[rank - 2], spec.strideAk = a.strides[rank - 1];
  spec.strideBk = b.strides[rank - 2], spec.strideBn = b.strides[rank - 1];
  spec.elementA = typeOf(a.base).getElementType();
  spec.elementB = typeOf(b.base).getElementType();
  contract.argumentA = cast<BlockArgument>(a.base).getArgNumber();
  contract.argumentB = cast<BlockArgument>(b.base).getArgNumber();
  contract.offsetA = a.offset, contract.offsetB = b.offset;
  contract.zeroA = a.zero, contract.zeroB = b.zero;
  spec.packedB = packed == contract.argumentB;
  spec.packedA = packed == contract.argumentA && !spec.packedB;
}

/// Merges each batch dimension into the rows if possible, and adds the others to the batch. The
/// strides are those of both operands and of the result.
void addBatchDims(ContractFusion &contract, ArrayRef<int64_t> shape, ArrayRef<int64_t> stridesA,
                  ArrayRef<int64_t> stridesB, ArrayRef<int64_t> stridesC) {
  ContractSpec &spec = contract.spec;
  bool folding = true;
  for (int64_t d = int64_t(shape.size()) - 3; d >= 0; --d) {
    if (shape[d] == 1)
      continue;
    // Merges a batch dimension into the rows of A if all of its elements use the same B and its
    // strides continue those of the rows.
    bool first = spec.m == 1;
    folding &=
        stridesB[d] == 0 &&
        (first || (stridesA[d] == spec.strideAm * spec.m && stridesC[d] == spec.strideCm * spec.m));
    if (folding) {
      if (first)
        spec.strideAm = stridesA[d], spec.strideCm = stridesC[d];
      spec.m *= shape[d];
      contract.rowDims.insert(contract.rowDims.begin(), d);
      continue;
    }
    contract.batchDims.insert(contract.batchDims.begin(), d);
    spec.batch.insert(spec.batch.begin(), {shape[d], stridesA[d], stridesB[d], stridesC[d]});
  }
}

bool isMatmulFloatType(Type element) {
  return element.isF32() || element.isBF16() || element.isF16() || element.isF64();
}

} // namespace

std::optional<ContractFusion> matchContract(FusionOp fusion, const Target &target,
                                            std::optional<unsigned> packed, std::string *why) {
  auto no = [&](const char *reason) {
    if (why)
      *why = reason;
    return std::nullopt;
  };
  Block &body = fusion.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  ContractFusion contract;
  for (auto matmul : body.getOps<MatmulOp>()) {
    if (contract.matmul)
      return no("more than one product");
    contract.matmul = matmul;
  }
  if (!contract.matmul || yield.getNumOperands() != 1)
    return no("not one product with one result");
  MatmulOp matmul = contract.matmul;
  Type element = typeOf(matmul.getA()).getElementType();
  const bool sums =
      isIntegerContraction(matmul) && hasSingleZeroPoints(matmul) && supportsIntegerMatmul(target);
  if (!sums && !isMatmulFloatType(element))
    return no("a product of other than floating point numbers or integers of 8 bits");
  for (Value v : {Value(matmul.getA()), Value(matmul.getB()), yield.getOperand(0)})
    if (!layoutOf(v.getType()).empty())
      return no("a blocked layout");

  Value result = yield.getOperand(0);
  Value inner = result;
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(inner.getDefiningOp()))
    inner = inner.getDefiningOp()->getOperand(0);
  llvm::DenseMap<Value, MatmulDependence> known;
  if (findMatmulDependence(inner, matmul, known) != MatmulDependence::Yes)
    return no("what follows the product is not elementwise");
  contract.hasEpilogue = inner != matmul.getY() || element.isBF16() || element.isF16();

  ArrayRef<int64_t> shape = shapeOf(matmul.getY());
  size_t rank = shape.size();
  auto a = matchOperandView(matmul.getA(), matmul.getTransposeA(), rank);
  auto b = matchOperandView(matmul.getB(), matmul.getTransposeB(), rank);
  auto c = matchStridedDestination(inner, result);
  if (a && b)
    a->zero = matmul.getAZeroPoint(), b->zero = matmul.getBZeroPoint();
  if (!a || !b || !c)
    return no("an operand or the result is no strided view of a buffer");
  int64_t k = a->shape[rank - 1];
  if (k == 0 || typeOf(matmul.getY()).getNumElements() == 0)
    return no("an empty product");

  // Vectors run along the contiguous dimension of the result. A result with a single column is
  // treated as a row.
  size_t row = rank - 2, column = rank - 1;
  bool straight = shape[column] == 1 || c->strides[column] == 1;
  bool crossed = shape[row] == 1 || c->strides[row] == 1;
  if (!straight && !crossed)
    return no("the result is contiguous neither along its rows nor along its columns");
  contract.swapped = !straight || (crossed && shape[column] == 1 && shape[row] > 1);
  if (contract.swapped) {
    std::swap(a, b);
    a->swapLastTwo();
    b->swapLastTwo();
    std::swap(row, column);
  }
  contract.rowDims.push_back(row);
  ContractSpec &spec = contract.spec;
  spec.m = shape[row], spec.n = shape[column], spec.k = k;
  spec.strideCm = c->strides[row];
  setOperands(contract, *a, *b, packed);
  addBatchDims(contract, shape, a->strides, b->strides, c->strides);
  contract.plan = planContract(spec, target, contract.hasEpilogue);
  return contract;
}

std::optional<unsigned> findPackableArgument(FusionOp fusion, const ContractFusion &contract) {
  auto canPack = [&](unsigned argument, Type element) {
    auto constant = fusion.getInputs()[argument].getDefiningOp<ConstantOp>();
    if (!constant)
      return false;
    // A packed argument has another layout, so that no other operation may use the argument or the
    // views between it and the matmul.
    Value value = fusion.getBody().getArgument(argument);
    while (value.hasOneUse()) {
      Operation *user = *value.getUsers().begin();
      if (isa<MatmulOp>(user))
        return true;
      if (user->getNumResults() != 1)
        return false;
      value = user->getResult(0);
    }
    return false;
  };
  const ContractSpec &spec = contract.spec;
  if (canPack(contract.argumentB, spec.elementB))
    return contract.argumentB;
  if (spec.sumsIntegers() && spec.isShared(&BatchDim::strideA) && !contract.zeroA &&
      canPack(contract.argumentA, spec.elementA))
    return contract.argumentA;
  return std::nullopt;
}

KernelPlan planContractKernel(FusionOp fusion, const ContractFusion &contract) {
  KernelPlan plan;
  plan.extent = contract.plan.extent;
  plan.grain = contract.plan.grain;
  plan.scratch = contract.plan.scratchBytes;
  const ContractSpec &spec = contract.spec;
  plan.flops = 2.0 * double(spec.batchSize()) * double(spec.m) * double(spec.n) * double(spec.k);
  auto operand = [&](int64_t BatchDim::*stride, int64_t rows, int64_t columns, int64_t down,
                     int64_t along, Type element) {
    double matrices = 1;
    for (const BatchDim &dim : spec.batch)
      matrices *= dim.*stride == 0 ? 1.0 : double(dim.size);
    if (along != 1)
      std::swap(rows, columns), std::swap(down, along);
    return estimateCacheLineBytes(matrices * double(rows), double(columns), down,
                                  double(ref::elementBytes(element)));
  };
  plan.bytes +=
      operand(&BatchDim::strideA, spec.m, spec.k, spec.strideAm, spec.strideAk, spec.elementA) +
      operand(&BatchDim::strideB, spec.k, spec.n, spec.strideBk, spec.strideBn, spec.elementB);
  for (BlockArgument argument : fusion.getBody().getArguments())
    if (argument.getArgNumber() != contract.argumentA &&
        argument.getArgNumber() != contract.argumentB)
      plan.bytes += estimateBytesRead(argument);
  plan.bytes += estimateCacheLineBytes(
      double(spec.batchSize() * spec.m), double(spec.n), spec.strideCm,
      double(ref::elementBytes(typeOf(fusion.getResult(0)).getElementType())));
  return plan;
}

namespace {

/// Emits the epilogue: computes the elements of the kernel's result from a vector of accumulators.
class EpilogueEmitter {
public:
  EpilogueEmitter(Emitter &e, const ContractFusion &contract, Value inner)
      : e(e), contract(contract), product(MatmulOp(contract.matmul).getY()), inner(inner) {}

  Value operator()(Value sums, Value batch, Value row, Value column) {
    OpBuilder &b = e.b;
    Location loc = e.loc;
    int64_t lanes = cast<VectorType>(sums.getType()).getNumElements();
    ArrayRef<int64_t> shape = shapeOf(product);
    Indices at;
    for (size_t d = 0; d < shape.size(); ++d)
      at.push_back(e.constant(0));
    split(at, contract.batchDims, batch);
    split(at, contract.rowDims, row);
    size_t last = shape.size() - (contract.swapped ? 2 : 1);
    at[last] = {column, lanes > 1 ? 1 : 0, nullptr, false};
    // The Emitter represents a vector of one lane as a scalar.
    Value bound =
        lanes > 1 ? sums : vector::ExtractOp::create(b, loc, sums, int64_t(0)).getResult();
    e.pushScope();
    e.bindElement(product, e.rounded(product, bound));
    Value x = e.eval(inner, at, lanes > 1 ? lanes : 0);
    e.popScope();
    return convertToStorageType(b, loc, e.splat(x, lanes), typeOf(inner).getElementType());
  }

private:
  void split(Indices &at, ArrayRef<int64_t> dims, Value linear) {
    for (size_t i = dims.size(); i-- > 0;) {
      int64_t size = shapeOf(product)[dims[i]];
      at[dims[i]].base = i == 0 ? linear : e.binary("rem", linear, e.i64(size));
      if (i > 0)
        linear = e.binary("div", linear, e.i64(size));
    }
  }

  Emitter &e;
  const ContractFusion &contract;
  Value product, inner;
};

} // namespace

LogicalResult emitContractKernel(OpBuilder &b, FusionOp fusion, StringRef name,
                                 const Target &target, std::optional<unsigned> packed) {
  std::string why;
  auto contract = matchContract(fusion, target, packed, &why);
  if (!contract || !canEmitKernel(fusion, &why))
    return fusion.emitError("the operation cannot be compiled as a blocked matmul: ") << why;
  Location loc = fusion.getLoc();
  MLIRContext *context = b.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  Block *entry = function.addEntryBlock(b);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Emitter e(b, loc, entry->getArgument(4), target);
  SmallVector<Value> buffers;
  for (size_t i = 0; i <= fusion.getInputs().size(); ++i) {
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    auto load = LLVM::LoadOp::create(b, loc, pointer, slot, 8);
    load.setInvariant(true);
    buffers.push_back(load);
  }
  for (Value argument : fusion.getBody().getArguments())
    e.bindBuffer(argument, buffers[cast<BlockArgument>(argument).getArgNumber()]);
  auto start = [&](unsigned argument, int64_t offset) {
    Value base = buffers[argument];
    Type element = getStorageType(typeOf(fusion.getBody().getArgument(argument)).getElementType());
    return offset == 0 ? base
                       : LLVM::GEPOp::create(b, loc, pointer, element, base,
                                             ArrayRef<LLVM::GEPArg>{e.i64(offset)})
                             .getResult();
  };
  auto zeroOf = [&](Value zero) {
    return zero ? castElement(b, loc, e.eval(zero, Indices(shapeOf(zero).size(), e.constant(0)), 0),
                              typeOf(zero).getElementType(), b.getI32Type())
                : Value();
  };
  const ContractSpec &spec = contract->spec;
  ContractOperands operands{
      spec.packedA ? buffers[contract->argumentA] : start(contract->argumentA, contract->offsetA),
      spec.packedB ? buffers[contract->argumentB] : start(contract->argumentB, contract->offsetB),
      buffers.back(),
      entry->getArgument(1),
      entry->getArgument(2),
      entry->getArgument(3),
      zeroOf(contract->zeroA),
      zeroOf(contract->zeroB)};
  Value inner = fusion.getBody().front().getTerminator()->getOperand(0);
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(inner.getDefiningOp()))
    inner = inner.getDefiningOp()->getOperand(0);
  EpilogueEmitter finish(e, *contract, inner);
  Epilogue epilogue;
  if (contract->hasEpilogue)
    epilogue = [&](OpBuilder &, Location, Value sums, Value batch, Value row, Value column) {
      return finish(sums, batch, row, column);
    };
  emitContract(b, loc, operands, contract->spec, contract->plan, epilogue);
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return success();
}

} // namespace dlc::cpu

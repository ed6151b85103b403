//===- CublasLt.cpp - matmuls as cuBLASLt calls ---------------------------===//
#include "codegen/providers/gpu/GpuLibrary.h"
#include "ir/dlc/Attributes.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/epilogue/Epilogue.h"
#include "runtime/device/cuda/Loader.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dlc {

namespace {

/// Batch dimension of a tensor [.., rows, columns]: number of matrices and the stride between them.
struct BatchLayout {
  int64_t batch = 1, stride = 0;
};

/// Merges all leading dimensions of the view into one batch dimension; std::nullopt if a single
/// stride cannot describe it.
std::optional<BatchLayout> mergeBatchDims(const StridedView &view, ArrayRef<int64_t> whole) {
  BatchLayout result;
  for (size_t d = whole.size() - 2; d-- > 0;) {
    int64_t size = whole[d];
    if (size == 1)
      continue;
    // A size-1 dimension that is broadcast has stride 0.
    int64_t stride = view.shape[d] == 1 ? 0 : view.strides[d];
    if (result.batch > 1 && stride != result.stride * result.batch)
      return std::nullopt;
    if (result.batch == 1)
      result.stride = stride;
    result.batch *= size;
  }
  return result;
}

void prependUnitDims(StridedView &view, size_t rank) {
  view.shape.insert(view.shape.begin(), rank - view.shape.size(), 1);
  view.strides.insert(view.strides.begin(), rank - view.strides.size(), 0);
}

/// Returns the strides of rows and columns of a matrix. Strides of dimensions of size 1 are set to
/// values that the library's checks accept.
std::optional<std::pair<int64_t, int64_t>> matrixStrides(const StridedView &view,
                                                         bool mayTranspose) {
  size_t rank = view.shape.size();
  int64_t rows = view.shape[rank - 2], columns = view.shape[rank - 1], row = view.strides[rank - 2],
          column = view.strides[rank - 1];
  if (columns == 1)
    column = 1;
  if (rows == 1)
    row = std::max(row, column == 1 ? columns : 1);
  if (column == 1 && row >= columns)
    return std::pair(row, column);
  if (rows == 1 && mayTranspose)
    row = 1;
  if (mayTranspose && row == 1 && column >= rows)
    return std::pair(row, column);
  return std::nullopt;
}

bool isRelu(const EpilogueOp &epilogueOp) {
  return epilogueOp.is(Activation::Relu) && epilogueOp.alpha == 0;
}

std::optional<LibraryCall> makeMatmulCall(Operation *op, std::string *why) {
  auto refuse = [&](const Twine &reason) {
    if (why)
      *why = reason.str();
    return std::nullopt;
  };
  auto fusion = dyn_cast<FusionOp>(op);
  std::optional<Epilogue> epilogue = fusion ? matchEpilogue(fusion) : std::nullopt;
  if (!epilogue || !isa<MatmulOp>(epilogue->anchor))
    return refuse("the operation is not a single matmul with an epilogue that cuBLASLt supports");
  Epilogue &e = *epilogue;
  Type element = typeOf(e.lhs.base).getElementType(),
       result = typeOf(fusion.getResult(0)).getElementType();
  bool narrow = element.isF16() || element.isBF16();
  bool bytes = element.isSignlessInteger(8) && isInt32(fusion.getResult(0).getType());
  if (!(narrow || bytes || element.isF32() || element.isF64()) ||
      typeOf(e.rhs.base).getElementType() != element ||
      !(result == element || bytes || (narrow && result.isF32())))
    return refuse("cuBLASLt has no matmul of " + elementName(element) + " that gives " +
                  elementName(result));
  if (typeOf(fusion.getResult(0)).getNumElements() == 0 || typeOf(e.lhs.base).getNumElements() == 0)
    return refuse("empty");
  if (e.epilogueOps.size() > 1 || (e.epilogueOps.size() == 1 && !isRelu(e.epilogueOps.front())))
    return refuse("the epilogue has operations other than a bias and relu");
  size_t rank = std::max({e.lhs.shape.size(), e.rhs.shape.size(), e.destination.shape.size()});
  for (StridedView *view : {&e.lhs, &e.rhs, &e.destination})
    prependUnitDims(*view, rank);
  int64_t m = e.lhs.shape[rank - 2], k = e.lhs.shape[rank - 1], n = e.rhs.shape[rank - 1];
  auto a = matrixStrides(e.lhs, true), b = matrixStrides(e.rhs, true),
       y = matrixStrides(e.destination, false);
  auto batchA = mergeBatchDims(e.lhs, e.destination.shape),
       batchB = mergeBatchDims(e.rhs, e.destination.shape),
       batchY = mergeBatchDims(e.destination, e.destination.shape);
  if (!a || !b || !y || !batchA || !batchB || !batchY)
    return refuse("the strides of an operand do not describe a batch of matrices");
  int64_t batch = batchY->batch;
  // If all matrices of the batch share the right operand, the batch becomes one matmul with more
  // rows.
  if (batch > 1 && batchB->stride == 0 && a->second == 1 && batchA->stride == m * a->first &&
      batchY->stride == m * y->first) {
    m *= batch;
    batch = 1;
  }
  // The library supports only one kind of integer matmul: both operands are contiguous along the
  // reduction dimension, and sizes and strides are multiples of 4.
  auto inUnits = [](int64_t stride) { return stride % 4 == 0; };
  if (bytes &&
      (e.lhsZeroPoint || e.rhsZeroPoint || e.bias || !e.epilogueOps.empty() || a->second != 1 ||
       b->first != 1 || !llvm::all_of(ArrayRef({n, k, a->first, b->second, y->first}), inUnits)))
    return refuse("cuBLASLt does not support this matmul of integers");
  schema::GpuMatmul fields;
  fields.dtype = *parseDType(elementName(element));
  fields.result = *parseDType(elementName(result));
  fields.m = m, fields.n = n, fields.k = k, fields.batch = batch;
  fields.a = {batch > 1 ? batchA->stride : 0, a->first, a->second};
  fields.b = {batch > 1 ? batchB->stride : 0, b->first, b->second};
  fields.y = {batch > 1 ? batchY->stride : 0, y->first, y->second};
  if (auto math = e.anchor->getAttrOfType<StringAttr>(kMathAttr); math && element.isF32())
    fields.math = schema::GpuMath::Tf32;
  LibraryCall call;
  auto addValue = [&](Value inner, int64_t offset) {
    Value value = getOuterValue(fusion, inner);
    CallArgument argument{CallArgument::Kind::Value, value};
    argument.offset = offset * ref::elementBytes(typeOf(value).getElementType());
    call.bytes += double(storageBytes(typeOf(value)));
    call.arguments.push_back(argument);
  };
  addValue(e.lhs.base, e.lhs.offset);
  addValue(e.rhs.base, e.rhs.offset);
  if (e.bias) {
    auto type = typeOf(e.bias);
    if (type.getNumElements() != n ||
        !(type.getElementType() == result || type.getElementType() == element))
      return refuse("the bias does not have one value for each column");
    fields.bias = *parseDType(elementName(type.getElementType()));
    addValue(e.bias, 0);
  }
  fields.relu = !e.epilogueOps.empty();
  CallArgument to{CallArgument::Kind::Result};
  to.offset = e.destination.offset * ref::elementBytes(result);
  call.arguments.push_back(to);
  call.bytes += double(storageBytes(typeOf(fusion.getResult(0))));
  call.flops = 2.0 * double(batch) * double(m) * double(n) * double(k);
  call.library = "cublaslt";
  call.implementation = "cublaslt";
  call.wantsAlignment = true;
  call.desc = fields.toJson();
  return call;
}

class CublasLtProvider : public GpuLibrary {
public:
  CublasLtProvider()
      : GpuLibrary(
            {.name = "cublaslt", .description = "cuBLASLt: products on a GPU", .onGpu = true},
            "algorithm", &schema::GpuChoice::algorithm, cuda::Library::CublasLt) {}

  std::optional<LibraryCall> describe(Operation *op, std::string *why) const override {
    return makeMatmulCall(op, why);
  }
  GpuMatmulSizes getMatmulSizes(const LibraryCall &call,
                                const GpuCostParameters &gpu) const override {
    const auto fields = schema::GpuMatmul::read(call.desc, call.library);
    double rate = fields.dtype == DType::I8
                      ? gpu.tensor8
                      : getArithmeticRate(gpu, dtypeName(fields.dtype), fields.math.has_value());
    return {double(fields.batch), double(fields.m), double(fields.n), double(fields.k),
            rate * GpuEfficiencies().library};
  }
};

} // namespace

const Provider &provide::cublaslt() {
  static const CublasLtProvider provider;
  return provider;
}

} // namespace dlc

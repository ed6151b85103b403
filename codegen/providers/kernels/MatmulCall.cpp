//===- MatmulCall.cpp - f32 matmuls by dlc's own kernels ------------------===//
#include "codegen/providers/kernels/MatmulCall.h"

#include "codegen/providers/Cost.h"
#include "passes/TensorBuilder.h"
#include "runtime/epilogue/EpilogueTable.h"
#include "runtime/library/products/Product.h"

using namespace mlir;

namespace dlc {

bool supportsEpilogue(ArrayRef<EpilogueStep> steps, int64_t k, const Refusal &refuse) {
  for (const EpilogueStep &step : steps) {
    bool isKnown = step.kind == EpilogueStep::Kind::Activation ||
                   (step.kind == EpilogueStep::Kind::Binary && infoOf(step.binary).isOwn) ||
                   (step.kind == EpilogueStep::Kind::Sum &&
                    (k <= products::kSummedDepth || (steps.size() == 1 && step.scale == 1)));
    if (!isKnown)
      return refuse("unsupported epilogue op " + step.name()), false;
  }
  if (steps.size() > size_t(products::kMaxPosts))
    return refuse("too many epilogue ops"), false;
  return true;
}

CallArgument packedMatrix(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n,
                          uint64_t bytes, StringRef layout, int64_t format,
                          std::function<void(const float *, int64_t, int64_t, void *)> pack) {
  std::string name = layout.str() + ":" + std::to_string(k) + "x" + std::to_string(n) + "x" +
                     std::to_string(format);
  return makePackedArgument(int64_t(bytes), name, [=](void *to) {
    pack(reinterpret_cast<const float *>(plain.data()), transposed ? 1 : n, transposed ? k : 1, to);
  });
}

CallArgument packRowMajor(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n) {
  return packedMatrix(plain, transposed, k, n, uint64_t(k * n) * sizeof(float), "rows", 0,
                      [=](const float *from, int64_t row, int64_t column, void *to) {
                        for (int64_t i = 0; i < k; ++i)
                          for (int64_t j = 0; j < n; ++j)
                            static_cast<float *>(to)[i * n + j] = from[i * row + j * column];
                      });
}

double countBatches(const schema::Product &product) {
  return multiplySizes(std::vector<int64_t>(product.batch));
}

double countPackedRightElements(const schema::Product &product) {
  if (product.b.isPacked)
    return 0;
  bool isBroadcast = llvm::all_of(ArrayRef<int64_t>(product.b.strides).drop_back(2),
                                  [](int64_t stride) { return stride == 0; });
  return (isBroadcast ? 1 : countBatches(product)) * double(product.k) * double(product.n);
}

namespace {

using Strides = SmallVector<int64_t>;

std::vector<int64_t> listOf(const Strides &strides) { return {strides.begin(), strides.end()}; }

/// Returns the operand's strides with 0 for dimensions of size 1, along which it is broadcast.
std::optional<Strides> getBroadcastStrides(const TensorDesc &operand) {
  auto strides = operand.anyStrides();
  if (!strides || !operand.isF32())
    return std::nullopt;
  for (size_t d = 0; d < operand.dims.size(); ++d)
    if (operand.dims[d] == 1)
      (*strides)[d] = 0;
  return strides;
}

void turn(Strides &strides) { std::swap(strides[strides.size() - 2], strides.back()); }

/// Number of bytes in all cache lines that contain the tensor's rows.
double countCacheLineBytes(const TensorDesc &tensor) {
  constexpr double kElement = 4;
  auto strides = tensor.anyStrides();
  size_t rank = tensor.dims.size();
  if (!strides || rank < 2)
    return kElement * double(tensor.size());
  size_t along = strides->back() == 1 ? rank - 1 : rank - 2, down = 2 * rank - 3 - along;
  return cpu::estimateCacheLineBytes(double(tensor.size()) /
                                         std::max(1.0, double(tensor.dims[along])),
                                     double(tensor.dims[along]), (*strides)[down], kElement);
}

/// Describes an epilogue op in the kernels' schema; std::nullopt if an operand is not
/// row-major. `transposed`: the kernel computes the transposed matmul.
std::optional<schema::PostOp> describeEpilogueStep(const EpilogueStep &step, bool transposed) {
  auto op = describeStep<schema::PostOp>(step);
  if (step.kind != EpilogueStep::Kind::Binary)
    return op;
  auto strides = getBroadcastStrides(step.operand);
  if (strides && transposed)
    turn(*strides);
  if (!strides || strides->back() > 1)
    return std::nullopt;
  op.strides = listOf(*strides);
  return op;
}

/// Adds the prologue to the call. Returns false unless the rows of the operand that it computes are
/// contiguous in memory.
bool addPrologue(const MatmulDescription &product, schema::Product &fields, LibraryCall &call) {
  const Prologue &prologue = *product.prologue;
  bool isLeft = product.madeIsLeft;
  int64_t row = shapeOf(prologue.x).back();
  if (!isLeft && fields.b.isPacked)
    return false;
  const std::vector<int64_t> &strides = isLeft ? fields.a : fields.b.strides;
  size_t rank = strides.size();
  int64_t lane = strides[isLeft ? rank - 2 : rank - 1],
          depth = strides[isLeft ? rank - 1 : rank - 2];
  bool across = lane == 1 && depth == row;
  if (!across && !(depth == 1 && lane == row))
    return false;
  for (size_t d = 0; d + 2 < rank; ++d)
    if (strides[d] % row != 0)
      return false;
  int64_t columns = !across ? fields.k : isLeft ? fields.m : fields.n;
  if (columns != row || (prologue.sums && (!across || rank > 2)))
    return false;
  schema::Prologue &made = fields.prologue.emplace();
  made.of = isLeft ? schema::Side::Left : schema::Side::Right;
  made.row = row;
  made.exponential = prologue.exponential;
  auto add = [&](Value value, double bytes) -> schema::Maybe<schema::Size> {
    if (!value)
      return std::nullopt;
    int64_t elements = typeOf(value).getNumElements();
    call.add(makeSourceArgument(product.fusion, value), bytes * double(elements));
    return elements > 1 ? 1 : 0;
  };
  made.shift = add(prologue.shift, 4);
  made.factor = add(prologue.factor, 4);
  if (add(prologue.hot, 8))
    made.hot = prologue.value;
  if (prologue.sums) {
    made.sums = true;
    CallArgument sums{CallArgument::Kind::Result};
    sums.result = 1;
    call.add(sums, 4.0 * double(row));
  }
  return true;
}

} // namespace

std::optional<LibraryCall> matmulCall(const MatmulDescription &p, const MatmulKernel &kernel,
                                      llvm::function_ref<bool(const MatmulSizes &)> supports,
                                      const Refusal &refuse) {
  if (p.prologue && p.prologue->changes() && !kernel.fusesPrologue)
    return refuse("only AMX kernels support a prologue");
  if (!p.src.isF32() || !p.weights.isF32() || !p.dst.isF32() || (p.bias && !p.bias->isF32()))
    return refuse("not an f32 matmul");
  size_t rank = p.dst.dims.size();
  int64_t m = p.dst.dims[rank - 2], n = p.dst.dims[rank - 1], k = p.src.dims.back();
  auto a = getBroadcastStrides(p.src), y = p.dst.anyStrides();
  // A column-major result is computed as the transposed matmul of the transposed operands, whose
  // result is row-major.
  bool transposed = a && y && y->back() != 1 && (*y)[rank - 2] == 1;
  if (transposed)
    turn(*a), turn(*y), std::swap(m, n);
  if (!a || !y || y->back() != 1)
    return refuse("the result is neither row-major nor column-major");
  if (!supports({m, n, k, transposed, rank > 2}))
    return std::nullopt;
  LibraryCall call;
  call.library = kernel.library;
  call.implementation = kernel.implementation;
  call.flops = p.flops;
  call.accumulates = p.accumulates;
  schema::Product fields;
  fields.m = m, fields.n = n, fields.k = k;
  fields.dst = listOf(*y);
  (transposed ? fields.b.strides : fields.a) = listOf(*a);
  if (rank > 2)
    fields.batch = listOf(Strides(ArrayRef(p.dst.dims).drop_back(2)));
  fields.scale = p.scale;
  auto addSrc = [&] { call.add(p.srcSource, countCacheLineBytes(p.src)); };
  if (!transposed)
    addSrc();
  if (p.constant) {
    // In a transposed matmul the weights are the left operand, which the kernels read unpacked.
    bool isPacked = kernel.pack && !transposed;
    CallArgument packed = isPacked ? kernel.pack(p.constant->plain, p.constant->transposed, k, n)
                          : transposed
                              ? packRowMajor(p.constant->plain, !p.constant->transposed, m, k)
                              : packRowMajor(p.constant->plain, p.constant->transposed, k, n);
    fields.b.isPacked = isPacked;
    if (!isPacked)
      (transposed ? fields.a : fields.b.strides) = {transposed ? k : n, 1};
    double bytes = double(packed.bytes);
    call.add(std::move(packed), bytes);
  } else {
    auto b = getBroadcastStrides(p.weights);
    if (!b)
      return refuse("the right operand has a blocked layout");
    if (transposed)
      turn(*b);
    (transposed ? fields.a : fields.b.strides) = listOf(*b);
    call.add(p.weightsSource, countCacheLineBytes(p.weights));
  }
  if (transposed)
    addSrc();
  // With a transposed result, the bias has one element per row and is expressed as an epilogue op.
  bool rowBias = p.bias && transposed;
  if (p.bias && !rowBias) {
    fields.bias = true;
    call.add(p.biasSource, countCacheLineBytes(*p.bias));
  }
  call.add(p.dstSource, countCacheLineBytes(p.dst));
  std::vector<EpilogueStep> steps = p.steps;
  if (rowBias)
    steps.insert(steps.begin(),
                 {.kind = EpilogueStep::Kind::Binary, .operand = *p.bias, .source = p.biasSource});
  std::vector<schema::PostOp> list;
  for (const EpilogueStep &step : steps) {
    auto made = describeEpilogueStep(step, transposed);
    if (!made)
      return refuse("an operand of the epilogue has other strides than the result");
    list.push_back(*made);
    if (step.kind == EpilogueStep::Kind::Binary)
      call.add(step.source, countCacheLineBytes(step.operand));
  }
  if (!supportsEpilogue(steps, k, refuse))
    return std::nullopt;
  if (!list.empty())
    fields.postOps = std::move(list);
  if (p.prologue && (transposed || !addPrologue(p, fields, call)))
    return refuse("an operand of the prologue is not row-major");
  call.desc = fields.toJson();
  call.desc.update(kernel.parameters);
  return call;
}

} // namespace dlc

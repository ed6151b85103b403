//===- Product.cpp - describes matmuls in fusions -------------------------===//
#include "codegen/providers/Product.h"

#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/simplify/Constants.h"
#include "runtime/epilogue/EpilogueTable.h"

using namespace mlir;

namespace dlc {

TensorDesc TensorDesc::of(Value value) {
  auto type = typeOf(value);
  return {SmallVector<int64_t>(type.getShape()), type.getElementType(), {}, layoutOf(type).str()};
}

int64_t TensorDesc::size() const { return ShapedType::getNumElements(dims); }

std::optional<SmallVector<int64_t>> TensorDesc::anyStrides() const {
  if (!strides.empty())
    return strides;
  if (!layout.empty())
    return std::nullopt;
  auto dense = ref::rowMajorStrides(dims);
  return SmallVector<int64_t>(dense.begin(), dense.end());
}

CallArgument makeSourceArgument(FusionOp fusion, Value inner, int64_t offset) {
  Value value = getOuterValue(fusion, inner);
  CallArgument argument{CallArgument::Kind::Value, value};
  argument.offset = offset * ref::elementBytes(typeOf(value).getElementType());
  return argument;
}

CallArgument makeResultArgument(FusionOp fusion, int64_t offset) {
  CallArgument argument{CallArgument::Kind::Result};
  argument.offset = offset * ref::elementBytes(typeOf(fusion.getResult(0)).getElementType());
  return argument;
}

namespace {

/// Returns true if `step` is the last epilogue op and adds to the state that the result replaces.
/// The sum is then computed in place.
bool updatesStateInPlace(FusionOp fusion, const Epilogue &epilogue, const EpilogueOp &step) {
  auto updates = fusion->getAttrOfType<IntegerAttr>(kUpdatesAttr);
  return updates && &step == &epilogue.epilogueOps.back() &&
         getOuterValue(fusion, step.operand) == fusion.getInputs()[updates.getInt()];
}

/// Removes a multiplication by a constant that precedes the addition of the old value, and returns
/// its factor as the matmul's scale. All libraries' matmuls support a scale, but not all support
/// other epilogue ops before a sum.
std::optional<double> extractScale(FusionOp fusion, Epilogue &epilogue) {
  SmallVector<EpilogueOp> &steps = epilogue.epilogueOps;
  if (steps.size() != 2 || !steps[0].is(Activation::Linear) || steps[0].beta != 0 ||
      !updatesStateInPlace(fusion, epilogue, steps[1]) ||
      !typeOf(epilogue.lhs.base).getElementType().isF32())
    return std::nullopt;
  // The scale is rounded to f32, the type that all libraries accept.
  double scale = double(float(steps[0].alpha));
  steps.erase(steps.begin());
  return scale;
}

bool isDense(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  auto dense = ref::rowMajorStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != dense[d])
      return false;
  return true;
}

/// Returns the strides with those of size-1 dimensions, which are arbitrary, set as in a dense
/// tensor. The checks of libraries require this.
SmallVector<int64_t> normalizeStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> result(strides);
  int64_t next = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1)
      result[d] = next;
    next = std::max(next, result[d] * shape[d]);
  }
  return result;
}

TensorDesc makeStridedDesc(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, Type element) {
  return {SmallVector<int64_t>(shape), element, normalizeStrides(shape, strides)};
}

/// Matches the epilogue of a fusion, ignoring the ops in `made`, which compute an operand of the
/// matmul.
std::optional<Epilogue> matchEpilogueIgnoring(ArrayRef<Operation *> made, FusionOp fusion) {
  Block &body = fusion.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (!isa<ConstantOp>(op) && !llvm::is_contained(made, &op))
      ops.push_back(&op);
  return matchEpilogue(ops, body.getTerminator()->getOperand(0), /*gradients=*/true);
}

/// Matches the epilogue of a fusion whose prologue computes exactly one operand of the matmul.
/// Views (reshapes, transposes) of that operand apply equally to the prologue's input.
std::optional<Epilogue> matchEpilogueAfterPrologue(const Prologue &prologue, FusionOp fusion) {
  auto epilogue = matchEpilogueIgnoring(prologue.ops, fusion);
  if (!epilogue || (epilogue->lhs.base == prologue.made) == (epilogue->rhs.base == prologue.made))
    return std::nullopt;
  return epilogue;
}

/// Describes the sizes, operands and result of a fusion's matmul.
std::optional<MatmulDescription> describeOperands(FusionOp fusion, Epilogue &e,
                                                  const Refusal &refuse) {
  MatmulDescription p;
  p.fusion = fusion;
  Type element = typeOf(e.lhs.base).getElementType(), right = typeOf(e.rhs.base).getElementType();
  Type result = typeOf(fusion.getResult(0)).getElementType();
  size_t rank = std::max(e.lhs.shape.size(), e.rhs.shape.size());
  auto align = [&](StridedView &v) {
    v.shape.insert(v.shape.begin(), rank - v.shape.size(), 1);
    v.strides.insert(v.strides.begin(), rank - v.strides.size(), 0);
  };
  align(e.lhs), align(e.rhs), align(e.destination);
  int64_t m = e.lhs.shape[rank - 2], k = e.lhs.shape[rank - 1], n = e.rhs.shape[rank - 1],
          batch = 1;
  if (k == 0)
    return refuse("the contracted dimension has size 0");
  bool sharedRhs = true, rows = isDense(e.lhs.shape, e.lhs.strides) &&
                                isDense(e.destination.shape, e.destination.strides);
  for (size_t d = 0; d + 2 < rank; ++d) {
    batch *= e.destination.shape[d];
    sharedRhs &= e.rhs.shape[d] == 1;
    rows &= e.lhs.shape[d] == e.destination.shape[d];
  }
  p.flops = 2.0 * double(batch) * double(m) * double(k) * double(n);
  p.srcSource = makeSourceArgument(fusion, e.lhs.base, e.lhs.offset);
  p.dstSource = makeResultArgument(fusion, e.destination.offset);
  p.weightsSource = makeSourceArgument(fusion, e.rhs.base, e.rhs.offset);
  // Batches are merged into one matmul with more rows only if all of them share the right operand.
  if (rank > 2 && !(sharedRhs && rows)) {
    p.src = makeStridedDesc(e.lhs.shape, e.lhs.strides, element);
    p.weights = makeStridedDesc(e.rhs.shape, e.rhs.strides, right);
    p.dst = makeStridedDesc(e.destination.shape, e.destination.strides, result);
    return p;
  }
  if (rank > 2) {
    p.src = {{batch * m, k}, element};
    p.dst = {{batch * m, n}, result};
  } else {
    p.src = makeStridedDesc({m, k}, e.lhs.strides, element);
    p.dst = makeStridedDesc({m, n}, e.destination.strides, result);
  }
  SmallVector<int64_t> strides(e.rhs.strides.end() - 2, e.rhs.strides.end());
  p.weights = makeStridedDesc({k, n}, strides, right);
  bool straight = isDense({k, n}, strides), crossed = isDense({n, k}, {strides[1], strides[0]});
  ConstantOp weights = constantOf(p.weightsSource.value);
  if (weights && (straight || crossed) && e.rhs.offset == 0 &&
      typeOf(weights.getY()).getNumElements() == k * n) {
    auto plain = ref::Tensor::fromAttr(weights.getValue());
    if (failed(plain))
      return refuse(ref::kMissingData);
    p.constant = {*plain, !straight};
  }
  return p;
}

} // namespace

bool describeSteps(FusionOp fusion, const Epilogue &epilogue,
                   function_ref<std::optional<TensorDesc>(const EpilogueOp &)> operandOf,
                   std::vector<EpilogueStep> &steps, std::optional<CallArgument> &accumulates) {
  for (const EpilogueOp &epilogueOp : epilogue.epilogueOps) {
    if (epilogueOp.kind == EpilogueOp::Kind::Activation) {
      steps.push_back({.kind = EpilogueStep::Kind::Activation,
                       .activation = epilogueOp.activation,
                       .alpha = epilogueOp.alpha,
                       .beta = epilogueOp.beta});
    } else if (updatesStateInPlace(fusion, epilogue, epilogueOp)) {
      steps.push_back({.kind = EpilogueStep::Kind::Sum, .scale = epilogueOp.scale});
      accumulates = makeSourceArgument(fusion, epilogueOp.operand);
    } else {
      auto operand = epilogueOp.scale == 1 ? operandOf(epilogueOp) : std::nullopt;
      if (!operand)
        return false;
      steps.push_back({.kind = EpilogueStep::Kind::Binary,
                       .binary = epilogueOp.binary,
                       .operand = std::move(*operand),
                       .source = makeSourceArgument(fusion, epilogueOp.operand)});
    }
  }
  return true;
}

StringRef EpilogueStep::name() const {
  return kind == Kind::Activation ? infoOf(activation).name
         : kind == Kind::Binary   ? infoOf(binary).name
                                  : "sum";
}

bool hasMatmul(FusionOp fusion) {
  return llvm::any_of(fusion.getBody().front(), [](Operation &op) { return isa<MatmulOp>(op); });
}

/// Adds the fusion's epilogue to the description of a matmul whose operands are already described.
static std::optional<MatmulDescription> withSteps(MatmulDescription p, FusionOp fusion, Epilogue &e,
                                                  const Refusal &refuse) {
  // The `dlc.math` attribute is set by `--matmul-precision medium`.
  if (auto math = e.anchor->getAttrOfType<StringAttr>(kMathAttr); math && math == "bf16")
    p.math = math.str();
  SmallVector<int64_t> dims(p.dst.dims.size(), 1);
  auto perColumn = dims;
  int64_t n = perColumn.back() = p.dst.dims.back();
  if (e.bias) {
    p.bias = TensorDesc{perColumn, typeOf(e.bias).getElementType()};
    p.biasSource = makeSourceArgument(fusion, e.bias);
  }
  p.scale = extractScale(fusion, e);
  auto operandOf = [&](const EpilogueOp &step) -> std::optional<TensorDesc> {
    auto type = typeOf(step.operand);
    if (type.getNumElements() == 1)
      return TensorDesc{dims, type.getElementType()};
    if (step.isFullSize(e.destination.shape) || type.getNumElements() == p.dst.size())
      return TensorDesc{p.dst.dims, type.getElementType()};
    if (type.getShape().back() != n)
      return std::nullopt;
    return TensorDesc{perColumn, type.getElementType()};
  };
  if (!describeSteps(fusion, e, operandOf, p.steps, p.accumulates))
    return refuse("an epilogue operand has an unsupported shape or factor");
  return p;
}

std::optional<MatmulDescription> describeMatmul(FusionOp fusion, bool own, const Refusal &refuse) {
  auto prologue = own ? matchPrologue(fusion) : std::nullopt;
  auto epilogue =
      prologue ? matchEpilogueAfterPrologue(*prologue, fusion) : matchEpilogue(fusion, own);
  if (!epilogue || !isa<MatmulOp>(epilogue->anchor))
    return refuse("the operation is not a single matmul with an epilogue");
  if (typeOf(fusion.getResult(0)).getNumElements() == 0)
    return refuse("the result is empty");
  if (own && epilogue->isInteger())
    return refuse("integer matmuls are not supported");
  if (!llvm::all_of(ArrayRef{epilogue->lhsZeroPoint, epilogue->rhsZeroPoint},
                    [](Value zero) { return !zero || isInt32(zero.getType()); }))
    return refuse("the zero points do not have the type i32");
  if (fusion->hasAttr(kUpdatesAttr))
    foldStateUpdate(*epilogue);
  Epilogue &e = *epilogue;
  bool madeIsLeft = prologue && e.lhs.base == prologue->made;
  if (prologue)
    (madeIsLeft ? e.lhs : e.rhs).base = prologue->x;
  auto p = describeOperands(fusion, e, refuse);
  if (!p)
    return std::nullopt;
  p->srcZeroPoint = e.lhsZeroPoint;
  p->weightsZeroPoint = e.rhsZeroPoint;
  p->prologue = std::move(prologue);
  p->madeIsLeft = madeIsLeft;
  return withSteps(std::move(*p), fusion, e, refuse);
}

std::optional<QuantizedWeights> readQuantizedWeights(FusionOp fusion) {
  MatmulOp product = findQuantizedMatmul(fusion);
  if (!product)
    return std::nullopt;
  return QuantizedWeights::read(
      product, [&](Value inner) { return constantTensor(getOuterValue(fusion, inner)); });
}

std::optional<MatmulDescription> describeQuantizedMatmul(FusionOp fusion, const Refusal &refuse) {
  MatmulOp product = findQuantizedMatmul(fusion);
  DequantizeOp weights = getQuantizedWeights(product);
  auto e = weights ? matchEpilogueIgnoring(weights.getOperation(), fusion) : std::nullopt;
  auto numbers = weights ? constantTensor(getOuterValue(fusion, weights.getX())) : std::nullopt;
  if (!e || !numbers || e->rhs.base != Value(weights.getY()))
    return refuse(
        "the operation is not a single matmul by constant quantized weights with an epilogue");
  if (typeOf(fusion.getResult(0)).getNumElements() == 0)
    return refuse("the result is empty");
  if (fusion->hasAttr(kUpdatesAttr))
    foldStateUpdate(*e);
  auto p = describeOperands(fusion, *e, refuse);
  if (!p)
    return std::nullopt;
  p->constant = {*numbers, product.getTransposeB()};
  return withSteps(std::move(*p), fusion, *e, refuse);
}

} // namespace dlc

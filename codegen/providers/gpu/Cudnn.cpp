//===- Cudnn.cpp - convolutions and attention as cuDNN calls --------------===//
#include "codegen/cuda/contract/Attention.h"
#include "codegen/providers/gpu/GpuLibrary.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/StridedView.h"
#include "passes/fuse/epilogue/Epilogue.h"
#include "passes/layout/Tag.h"
#include "passes/place/Cost.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/Loader.h"
#include "runtime/epilogue/EpilogueTable.h"

#include "llvm/ADT/STLExtras.h"

#include <cfloat>

using namespace mlir;

namespace dlc {

namespace {

/// Adds a leading dimension of size `with` to 1-D sizes, since cuDNN's convolutions have two or
/// three spatial dimensions.
void extendTo2D(std::vector<int64_t> &sizes, int64_t with) {
  if (sizes.size() == 1)
    sizes.insert(sizes.begin(), with);
}

schema::GpuTensor describeTensor(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  std::vector<int64_t> dims = list(shape), steps = list(strides);
  if (dims.size() == 3) {
    dims.insert(dims.begin() + 2, 1);
    steps.insert(steps.begin() + 2, dims[3] * steps[2]);
  }
  schema::GpuTensor tensor;
  tensor.dims = dims;
  tensor.strides = steps;
  return tensor;
}

schema::GpuTensor plainTensor(ArrayRef<int64_t> shape) {
  return describeTensor(shape, ref::rowMajorStrides(shape));
}

bool isChannelsLast(RankedTensorType type) {
  return layoutOf(type) == getChannelsLastTag(type.getRank());
}

/// Returns the strides of a tensor whose channels are stored last (NHWC).
SmallVector<int64_t> getChannelsLastStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t step = shape[1];
  for (size_t d = shape.size() - 1; d > 1; --d) {
    strides[d] = step;
    step *= shape[d];
  }
  strides[1] = 1;
  strides[0] = step;
  return strides;
}

schema::GpuTensor lastTensor(ArrayRef<int64_t> shape) {
  return describeTensor(shape, getChannelsLastStrides(shape));
}

/// Describes the activation that cuDNN can fuse after a convolution with bias; std::nullopt if the
/// epilogue op is not such an activation. At most one can be fused.
std::optional<schema::GpuStep> describeActivation(const EpilogueOp &op) {
  const bool isActivation = op.kind == EpilogueOp::Kind::Activation;
  auto name = schema::parse<schema::GpuStepOp>(isActivation ? infoOf(op.activation).cudnn : "");
  bool isBounded = op.is(Activation::Clip);
  if (!name || ((isBounded || op.is(Activation::Relu)) && op.alpha != 0))
    return std::nullopt;
  schema::GpuStep step;
  step.op = *name;
  if (isBounded && op.beta < FLT_MAX)
    step.upper = op.beta;
  return step;
}

bool isUnscaledAdd(const EpilogueOp &epilogueOp) {
  return epilogueOp.is(EpilogueBinary::Add) && epilogueOp.scale == 1;
}
bool isResidual(const EpilogueOp &epilogueOp, ArrayRef<int64_t> shape) {
  return isUnscaledAdd(epilogueOp) && epilogueOp.isFullSize(shape);
}
bool isBias(const EpilogueOp &epilogueOp, ArrayRef<int64_t> shape) {
  return isUnscaledAdd(epilogueOp) && !epilogueOp.isFullSize(shape) &&
         typeOf(epilogueOp.operand).getNumElements() == shape[1];
}

/// Returns true for a convolution with one input channel per group. cuDNN's specialized kernels for
/// such convolutions support no epilogue.
bool hasSingleChannelGroups(const schema::GpuConvolution &fields) { return fields.w.dims[1] == 1; }

/// Returns true if the call is a convolution that may use tensor cores.
bool mayUseTensorCores(const schema::GpuConvolution &fields) {
  return fields.w.dims[1] > 1 &&
         (fields.dtype == DType::F16 || fields.dtype == DType::BF16 || fields.math);
}

/// Returns the description of a call, or nullopt if the call is not a convolution.
std::optional<schema::GpuConvolution> convolutionOf(const LibraryCall &call) {
  auto kind = schema::GpuGraph::read(call.desc, call.library).kind;
  if (kind == schema::GpuGraphKind::Attention)
    return std::nullopt;
  return schema::GpuConvolution::read(call.desc, call.library);
}

class CudnnCallBuilder {
public:
  CudnnCallBuilder(Operation *op, std::string *why) : op(op), why(why) {}

  std::optional<LibraryCall> make() {
    auto fusion = dyn_cast<FusionOp>(op);
    if (!fusion)
      return refuse("the operation is not a convolution");
    Block &body = fusion.getBody().front();
    if (Operation *whole = cuda::findAttention(fusion))
      return attention(fusion, whole);
    if (auto gradient = dyn_cast<ConvWeightGradOp>(body.front()))
      return body.front().getNextNode() == body.getTerminator()
                 ? weightGradient(fusion, gradient)
                 : refuse("weight gradients support no epilogue");
    auto epilogue = matchEpilogue(fusion);
    if (!epilogue || !isa<ConvOp, ConvTransposeOp>(epilogue->anchor))
      return refuse(
          "the operation is not a single convolution with an epilogue that the library supports");
    auto conv = dyn_cast<ConvOp>(epilogue->anchor);
    return conv ? convolution(fusion, *epilogue, conv)
                : dataGradient(fusion, *epilogue, cast<ConvTransposeOp>(epilogue->anchor));
  }

private:
  std::nullopt_t refuse(const Twine &reason) {
    if (why)
      *why = reason.str();
    return std::nullopt;
  }

  template <typename Conv> bool begin(schema::GpuGraphKind kind, Conv conv, ValueRange values) {
    Type element = typeOf(values[0]).getElementType();
    if (!element.isF32() && !element.isF64() && !element.isF16() && !element.isBF16())
      return refuse("convolutions are not supported for " + elementName(element)), false;
    last = llvm::any_of(values, [](Value value) { return isChannelsLast(typeOf(value)); });
    for (Value value : values)
      if (typeOf(value).getElementType() != element || !fits(value) ||
          typeOf(value).getNumElements() == 0)
        return refuse("the operands have different types or layouts, a blocked layout, or no "
                      "elements"),
               false;
    fields.kind = kind;
    fields.dtype = *parseDType(elementName(element));
    if (element.isF32() && conv->template getAttrOfType<StringAttr>(kMathAttr))
      fields.math = schema::GpuMath::Tf32;
    auto put = [&](schema::Integers &to, std::vector<int64_t> numbers, int64_t with) {
      extendTo2D(numbers, with);
      to = numbers;
    };
    put(fields.strides, list(conv.getStrides()), 1);
    put(fields.dilations, list(conv.getDilations()), 1);
    put(fields.low, list(conv.getLow()), 0);
    put(fields.high, list(conv.getHigh()), 0);
    if (llvm::any_of(conv.getLow(), [](int64_t pad) { return pad < 0; }) ||
        llvm::any_of(conv.getHigh(), [](int64_t pad) { return pad < 0; }))
      return refuse("negative padding is not supported"), false;
    return true;
  }

  /// Returns true if the value has the layout of this call's images and weights: all row-major, or
  /// all with channels last.
  bool fits(Value value) const {
    RankedTensorType type = typeOf(value);
    if (type.getRank() < 3 || type.getRank() > 5)
      return false;
    return last ? isSameInMemory(type, withLayout(type, getChannelsLastTag(type.getRank())))
                : layoutOf(type).empty();
  }

  schema::GpuTensor tensor(ArrayRef<int64_t> shape) const {
    return last ? lastTensor(shape) : plainTensor(shape);
  }

  /// Describes the result, or the slice of a larger tensor that the result is written to. With
  /// channels last, returns std::nullopt for such a slice.
  std::optional<schema::GpuTensor> destination(const Epilogue &e) const {
    const StridedView &to = e.destination;
    if (!last)
      return describeTensor(to.shape, to.strides);
    bool isWhole = to.offset == 0;
    for (auto [size, stride, own] : llvm::zip(to.shape, to.strides, ref::rowMajorStrides(to.shape)))
      isWhole &= size == 1 || stride == own;
    return isWhole ? std::optional(lastTensor(to.shape)) : std::nullopt;
  }

  void reads(FusionOp fusion, Value inner) {
    Value value = getOuterValue(fusion, inner);
    call.arguments.push_back({CallArgument::Kind::Value, value});
    call.bytes += double(storageBytes(typeOf(value)));
  }

  std::optional<LibraryCall> end(FusionOp fusion, int64_t offset, Value meets, Value weights) {
    auto type = typeOf(fusion.getResult(0));
    CallArgument to{CallArgument::Kind::Result};
    to.offset = offset * ref::elementBytes(type.getElementType());
    call.arguments.push_back(to);
    call.bytes += double(storageBytes(type));
    // Each element of `meets` (the output, or the operand of a transposed convolution) is
    // multiplied by the weights of one of its channels.
    call.flops = 2.0 * double(typeOf(meets).getNumElements()) *
                 double(typeOf(weights).getNumElements()) / double(typeOf(weights).getDimSize(0));
    call.library = "cudnn";
    call.implementation = "cudnn";
    call.wantsAlignment = true;
    // cuDNN engines copy operands to the workspace in their own layout or padded to more channels.
    // The limit of the workspace is the bytes of all operands plus kSpace.
    constexpr int64_t kSpace = int64_t{64} << 20;
    fields.workspace = kSpace + int64_t(call.bytes);
    call.desc = fields.toJson();
    return std::move(call);
  }

  std::optional<LibraryCall> convolution(FusionOp fusion, const Epilogue &e, ConvOp conv) {
    if (!begin(schema::GpuGraphKind::Convolution, conv, {conv.getX(), conv.getW(), conv.getY()}))
      return std::nullopt;
    Type element = typeOf(conv.getY()).getElementType();
    if (typeOf(fusion.getResult(0)).getElementType() != element)
      return refuse("the result has another element type than the operands");
    ArrayRef<int64_t> shape = e.destination.shape;
    auto y = destination(e);
    if (!y)
      return refuse("the result is reshaped or transposed");
    fields.x = tensor(typeOf(conv.getX()).getShape());
    fields.w = tensor(typeOf(conv.getW()).getShape());
    fields.y = *y;
    reads(fusion, conv.getX());
    reads(fusion, conv.getW());
    auto add = [&](Value value, schema::GpuTensor tensor) {
      bool isImage = shapeOf(value) == shape;
      if (typeOf(value).getElementType() != element ||
          !(isImage ? fits(value) : layoutOf(value.getType()).empty()))
        return false;
      schema::GpuStep step;
      step.op = schema::GpuStepOp::Add;
      step.dtype = fields.dtype;
      step.dims = tensor.dims;
      step.strides = tensor.strides;
      fields.post.push_back(step);
      reads(fusion, value);
      return true;
    };
    SmallVector<int64_t> channels(shape.size(), 1);
    channels[1] = shape[1];
    // cuDNN's precompiled kernels support only a residual, then the bias, then an activation.
    // Kernels that cuDNN compiles at run time (for tensor cores with channels last) support more
    // ops in any order.
    bool isCompiled = last && mayUseTensorCores(fields);
    bool hasResidual = false, isActivated = false;
    for (const EpilogueOp &epilogueOp : e.epilogueOps) {
      bool isSum = isResidual(epilogueOp, shape) || (isCompiled && isBias(epilogueOp, shape));
      if ((!isSum && !describeActivation(epilogueOp)) ||
          (!isCompiled && (isActivated || (isSum && hasResidual))))
        return refuse("unsupported epilogue op, or order of epilogue ops");
      (isSum ? hasResidual : isActivated) = true;
    }
    if (!isCompiled && !e.bias && !e.epilogueOps.empty())
      return refuse("an epilogue without bias is not supported");
    ArrayRef<EpilogueOp> steps = e.epilogueOps;
    bool isBefore = e.bias && !steps.empty() && isResidual(steps.front(), shape);
    if ((isBefore && !add(steps.front().operand, tensor(shape))) ||
        (e.bias && !add(e.bias, tensor(channels))))
      return refuse("the operand that is added has another element type");
    for (const EpilogueOp &epilogueOp : steps.drop_front(isBefore)) {
      if (auto step = describeActivation(epilogueOp))
        fields.post.push_back(*step);
      else if (!add(epilogueOp.operand,
                    tensor(isBias(epilogueOp, shape) ? ArrayRef(channels) : shape)))
        return refuse("the operand that is added has another element type");
    }
    return end(fusion, e.destination.offset, conv.getY(), conv.getW());
  }

  std::optional<LibraryCall> dataGradient(FusionOp fusion, const Epilogue &e,
                                          ConvTransposeOp conv) {
    if (!begin(schema::GpuGraphKind::DataGradient, conv, {conv.getX(), conv.getW(), conv.getY()}))
      return std::nullopt;
    if (e.bias || !e.epilogueOps.empty() ||
        typeOf(fusion.getResult(0)).getElementType() != typeOf(conv.getY()).getElementType())
      return refuse("transposed convolutions support no epilogue");
    // High padding of the corresponding forward convolution. Output padding (`extra`) reduces it
    // only if it is not smaller than the stride.
    std::vector<int64_t> high;
    for (auto [pad, extra, stride] : llvm::zip(conv.getHigh(), conv.getExtra(), conv.getStrides()))
      high.push_back(extra < stride ? pad : pad - extra);
    if (llvm::any_of(high, [](int64_t pad) { return pad < 0; }))
      return refuse("the result is larger than the operand of the corresponding convolution");
    extendTo2D(high, 0);
    fields.high = high;
    auto x = destination(e);
    if (!x)
      return refuse("the result is reshaped or transposed");
    fields.x = *x;
    fields.w = tensor(typeOf(conv.getW()).getShape());
    fields.y = tensor(typeOf(conv.getX()).getShape());
    reads(fusion, conv.getX());
    reads(fusion, conv.getW());
    return end(fusion, e.destination.offset, conv.getX(), conv.getW());
  }

  std::optional<LibraryCall> weightGradient(FusionOp fusion, ConvWeightGradOp gradient) {
    if (!begin(schema::GpuGraphKind::WeightGradient, gradient,
               {gradient.getX(), gradient.getDy(), gradient.getDw()}))
      return std::nullopt;
    // cuDNN 9.19 accepts f32 weight gradients with asymmetric padding but computes wrong results;
    // on tensor cores they are correct.
    if (fields.low != fields.high && !fields.math &&
        typeOf(gradient.getDw()).getElementType().isF32())
      return refuse("f32 weight gradients with asymmetric padding are wrong in cuDNN");
    fields.x = tensor(typeOf(gradient.getX()).getShape());
    fields.w = tensor(typeOf(gradient.getDw()).getShape());
    fields.y = tensor(typeOf(gradient.getDy()).getShape());
    reads(fusion, gradient.getX());
    reads(fusion, gradient.getDy());
    return end(fusion, 0, gradient.getDy(), gradient.getDw());
  }

  /// Describes an attention operand or result as [batch, heads, rows, elements].
  static schema::GpuTensor headsOf(const StridedView &view) {
    std::vector<int64_t> dims(view.shape.begin(), view.shape.end()),
        strides(view.strides.begin(), view.strides.end());
    for (auto [size, stride] : llvm::zip(dims, strides))
      stride = size == 1 && stride == 0 ? 1 : stride;
    if (dims.size() == 3) {
      dims.insert(dims.begin() + 1, 1);
      strides.insert(strides.begin() + 1, strides.front());
    }
    schema::GpuTensor tensor;
    tensor.dims = dims;
    tensor.strides = strides;
    return tensor;
  }

  std::optional<LibraryCall> attention(FusionOp fusion, Operation *whole) {
    if (isa<AttentionGradOp>(whole))
      return refuse("attention gradients are not supported");
    if (whole->getNumOperands() > 3 || whole->hasAttr("causal"))
      return refuse("masked or causal attention is not supported");
    Type element = typeOf(whole->getOperand(0)).getElementType();
    if (!element.isF16() && !element.isBF16())
      return refuse("required: attention of f16 or bf16; found: " + elementName(element));
    if (typeOf(whole->getOperand(0)).getRank() > 4)
      return refuse("the attention has more than one dimension between batch and rows");
    schema::GpuAttention heads;
    heads.kind = schema::GpuGraphKind::Attention;
    heads.dtype = *parseDType(elementName(element));
    heads.scale = whole->getAttrOfType<FloatAttr>("scale").getValueAsDouble();
    auto add = [&](schema::GpuTensor &to, const StridedView &view, CallArgument argument,
                   Value value) {
      to = headsOf(view);
      argument.offset = view.offset * ref::elementBytes(element);
      call.arguments.push_back(argument);
      call.bytes += double(storageBytes(typeOf(value)));
    };
    for (auto [tensor, operand] :
         llvm::zip(std::array{&heads.q, &heads.k, &heads.v}, whole->getOperands())) {
      auto view = matchStridedView(operand);
      if (!view)
        return refuse("an operand has a layout that strides cannot describe");
      add(*tensor, *view, {CallArgument::Kind::Value, getOuterValue(fusion, view->base)}, operand);
    }
    ValueRange yielded = fusion.getBody().front().getTerminator()->getOperands();
    bool writesY = false;
    for (auto [i, last] : llvm::enumerate(yielded)) {
      auto view = last == whole->getResults().back() && whole->getNumResults() == 2
                      ? std::nullopt
                      : matchStridedDestination(whole->getResult(0), last);
      if (!view)
        continue;
      CallArgument to{CallArgument::Kind::Result};
      to.result = i;
      add(heads.y, *view, to, last);
      writesY = true;
    }
    if (!writesY)
      return refuse("the result of the attention is not used");
    for (auto [i, last] : llvm::enumerate(yielded)) {
      if (whole->getNumResults() < 2 || last != whole->getResult(1))
        continue;
      std::vector<int64_t> dims(list(typeOf(last).getShape()));
      if (dims.size() == 2)
        dims.insert(dims.begin() + 1, 1);
      dims.push_back(1);
      heads.lse = plainTensor(dims);
      CallArgument to{CallArgument::Kind::Result};
      to.result = i;
      call.arguments.push_back(to);
    }
    call.desc = heads.toJson();
    call.flops = estimateFlops(whole);
    call.library = call.implementation = "cudnn";
    call.wantsAlignment = true;
    return std::move(call);
  }

  Operation *op;
  std::string *why;
  LibraryCall call;
  schema::GpuConvolution fields;
  bool last = false; ///< whether images and weights are stored with channels last
};

/// Returns true if cuDNN has an engine for the call on this machine's device with the name
/// `device`.
bool deviceSupportsCall(const std::string &device, const LibraryCall &call, std::string *why) {
  std::vector<uint64_t> bytes(call.arguments.size(), uint64_t{1} << 60);
  std::vector<uint8_t> writable(call.arguments.size(), 1);
  void *made = nullptr;
  uint64_t workspace = 0;
  try {
    runtime::Device &there = runtime::openDevice(*runtime::parseDeviceName(device));
    there.call(there.table.library_make, call.library.c_str(), call.desc.dump().c_str(),
               static_cast<const uint64_t *>(bytes.data()),
               static_cast<const uint8_t *>(writable.data()), bytes.size(), &made, &workspace);
    there.table.library_destroy(there.handle, made);
    return true;
  } catch (const std::exception &error) {
    if (why)
      *why = error.what();
    return false;
  }
}

class CudnnProvider : public GpuLibrary {
public:
  CudnnProvider()
      : GpuLibrary({.name = "cudnn",
                    .description = "cuDNN: convolutions and attention on a GPU",
                    .onGpu = true},
                   "engine", &schema::GpuChoice::engine, cuda::Library::Cudnn) {}

  std::optional<LibraryCall> describe(Operation *op, std::string *why) const override {
    return CudnnCallBuilder(op, why).make();
  }
  GpuMatmulSizes getMatmulSizes(const LibraryCall &call,
                                const GpuCostParameters &gpu) const override {
    auto doubles = [](const schema::GpuTensor &tensor) {
      return std::vector<double>(tensor.dims.begin(), tensor.dims.end());
    };
    const auto common = schema::GpuGraph::read(call.desc, call.library);
    GpuEfficiencies shares;
    bool tf32 = common.math.has_value();
    double rate = getArithmeticRate(gpu, dtypeName(common.dtype), tf32);
    if (common.kind == schema::GpuGraphKind::Attention) {
      const auto heads = schema::GpuAttention::read(call.desc, call.library);
      std::vector<double> q = doubles(heads.q), k = doubles(heads.k);
      return {q[0] * q[1], q[2], k[2], 2 * q[3], rate * shares.libraryAttention};
    }
    const auto conv = schema::GpuConvolution::read(call.desc, call.library);
    std::vector<double> x = doubles(conv.x), w = doubles(conv.w), y = doubles(conv.y);
    bool plain = conv.x.strides[1] != 1 && x[1] > 1 && rate > gpu.f32;
    double places = y[0], window = 1, groups = x[1] / w[1];
    for (size_t d = 2; d < y.size(); ++d) {
      places *= y[d];
      window *= w[d];
    }
    double channels = w[0] / groups, taken = w[1] * window;
    // Bytes of a vector load, which kernels for few channels do not fill.
    constexpr double kVector = 16;
    bool few = rate > gpu.f32 && w[1] > 1 && w[1] * (tf32 ? 4 : 2) < kVector;
    rate *= plain ? shares.libraryPlain : shares.libraryConvolution;
    if (few)
      rate *= shares.libraryFewChannels;
    if (common.kind == schema::GpuGraphKind::WeightGradient)
      return {groups, channels, taken, places, rate};
    if (common.kind == schema::GpuGraphKind::DataGradient)
      return {groups, places, w[1], channels * window, rate};
    return {groups, places, channels, taken, rate};
  }
  /// Queries the GPU, because only cuDNN on the device can determine whether it has an engine for a
  /// graph.
  bool supports(const std::string &device, LibraryCall &call, std::string *why) const override {
    // Slowdown of cuDNN's fallback engines, without tensor cores or specialized kernels: about an
    // order of magnitude.
    constexpr double kWithout = 8;
    auto fields = convolutionOf(call);
    if (fields && mayUseTensorCores(*fields)) {
      LibraryCall fast = call;
      fields->tensorCores = true;
      fast.desc = fields->toJson();
      if (deviceSupportsCall(device, fast, nullptr))
        return true;
      call.costFactor *= kWithout;
    } else if (fields && hasSingleChannelGroups(*fields) && !fields->post.empty()) {
      call.costFactor *= kWithout;
    }
    return deviceSupportsCall(device, call, why);
  }
};

} // namespace

const Provider &provide::cudnn() {
  static const CudnnProvider provider;
  return provider;
}

} // namespace dlc

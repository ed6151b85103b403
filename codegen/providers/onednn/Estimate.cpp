//===- Estimate.cpp - analytical cost model of oneDNN ---------------------===//
#include "codegen/providers/onednn/Describe.h"

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

using onednn::Implementation;
using schema::OnednnKind;
using Argument = schema::Maybe<schema::Layout>;

/// Description of a call, parsed from its text form.
struct CallFields {
  schema::OnednnCall call;
  schema::OnednnArguments arguments;
  schema::Integers strides; ///< of the window; empty if the call has none

  explicit CallFields(const LibraryCall &described)
      : call(schema::OnednnCall::read(described.desc, described.library)),
        arguments(schema::OnednnArguments::read(described.desc, described.library)),
        strides(schema::StepFields::read(described.desc, described.library).strides) {}

  const Argument &weights() const {
    return arguments.weights ? arguments.weights : arguments.diffWeights;
  }
  const Argument &image() const { return arguments.src ? arguments.src : arguments.diffSrc; }
};

std::vector<int64_t> getDims(const Argument &argument) {
  return argument ? argument->dims : schema::Integers();
}

/// Returns the strides in the description, which are empty if it has a layout tag.
std::vector<int64_t> getStrides(const Argument &argument) {
  return argument ? argument->strides.value_or(schema::Integers()) : std::vector<int64_t>();
}

bool isPlainLayout(const Argument &argument) {
  return !argument || argument->strides ||
         StringRef("abcdefghijkl").starts_with(argument->tag.value_or(""));
}

/// Returns true if the argument has a blocked layout.
bool isBlocked(const Argument &argument) {
  return argument && llvm::any_of(argument->tag.value_or(""), llvm::isUpper);
}

/// Returns true if the matrix argument is column-major.
bool isTransposed(const Argument &argument) {
  std::vector<int64_t> strides = getStrides(argument);
  return strides.size() > 1 && strides.back() != 1;
}

/// Returns true if successive matrices of a batched argument are not adjacent in memory.
bool hasGapsBetweenMatrices(const Argument &argument) {
  std::vector<int64_t> dims = getDims(argument), strides = getStrides(argument);
  if (strides.empty())
    return false;
  for (size_t d = 0; d + 2 < dims.size(); ++d)
    if (dims[d] > 1 && strides[d] != dims[d + 1] * strides[d + 1])
      return true;
  return false;
}

/// Number of weight elements that are packed or unpacked in each call.
double countRepackedWeights(const schema::OnednnArguments &arguments) {
  double elements = 0;
  for (const Argument *argument : {&arguments.weights, &arguments.diffWeights})
    if (*argument && (*argument)->outside && (*argument)->outside != (*argument)->tag)
      elements += multiplySizes((*argument)->dims);
  return elements;
}

/// Output channels per group of a convolution, which are the rows of the matmul after im2col.
double getChannelsPerGroup(const CallFields &fields) {
  auto weights = getDims(fields.weights()), src = getDims(fields.image());
  bool isGrouped = weights.size() > src.size();
  return weights.empty() ? 1 : double(weights[isGrouped ? 1 : 0]);
}

/// Returns the vector lanes of an implementation.
double getVectorLanes(const Implementation &implementation, const CostModel &cost) {
  using Isa = Implementation::Isa;
  return implementation.isa == Isa::Avx2 ? 8 : implementation.isa == Isa::Sse ? 4 : cost.lanes;
}

/// Returns true if the convolution is depthwise: each channel has its own window.
bool isDepthwise(const CallFields &fields) {
  auto weights = getDims(fields.weights()), src = getDims(fields.image());
  return weights.size() > src.size() && weights[1] == 1 && weights[2] == 1;
}

/// Fraction of the machine's rate that a convolution reaches in vectors of output channels. Few
/// channels leave vector lanes unused, and strided transposed convolutions scatter. Specialized
/// depthwise kernels use all lanes, unless they scatter.
double estimateConvolutionEfficiency(const CallFields &fields, const Implementation &implementation,
                                     const CostModel &cost) {
  const OnednnKind kind = fields.call.kind;
  bool hasOwnCode = isDepthwise(fields) && implementation.isDepthwise;
  double lanes = laneShare(getChannelsPerGroup(fields), cost.lanes);
  if (kind == OnednnKind::Convolution)
    return !hasOwnCode ? lanes
           : implementation.isBrdgmm
               ? cost.machine.depthwisePart * cost.machine.depthwiseProductsPart
               : cost.machine.depthwisePart;
  if (kind == OnednnKind::ConvolutionBackwardWeights)
    return hasOwnCode ? cost.machine.libraryDepthwiseGradients / cost.machine.convolutionGflops
                      : lanes;
  if ((kind == OnednnKind::Deconvolution || kind == OnednnKind::ConvolutionBackwardData) &&
      llvm::any_of(fields.strides, [](int64_t stride) { return stride > 1; }))
    return cost.machine.transposedPart * (isDepthwise(fields) ? lanes : 1);
  return 1;
}

/// Number of epilogue ops that oneDNN applies element by element after an im2col matmul.
double countUnfusedOps(const schema::OnednnCall &call) {
  return double(llvm::count_if(call.postOps, [](const schema::OnednnPostOp &op) {
    return op.alg != schema::OnednnAlgorithm::Relu;
  }));
}

/// Number of im2col elements that a transposed convolution adds to its results (col2im).
double countCol2imAdditions(const CallFields &fields) {
  const schema::OnednnArguments &arguments = fields.arguments;
  bool isGradient = fields.call.kind == OnednnKind::ConvolutionBackwardData;
  if (!isGradient && fields.call.kind != OnednnKind::Deconvolution)
    return 0;
  auto from = getDims(isGradient ? arguments.diffDst : arguments.src),
       to = getDims(isGradient ? arguments.diffSrc : arguments.dst),
       weights = getDims(arguments.weights);
  if (from.size() < 3 || to.size() != from.size() || weights.size() < from.size())
    return 0;
  size_t spatial = from.size() - 2;
  double taps = multiplySizes(ArrayRef(weights).take_back(spatial)),
         positions = multiplySizes(ArrayRef(from).take_back(spatial));
  return double(to[0] * to[1]) * taps * positions;
}

/// Number of source elements that a strided 1x1 convolution reads; 0 if it is not strided.
double countStridedSourceElements(const CallFields &fields) {
  auto src = getDims(fields.arguments.src), dst = getDims(fields.arguments.dst);
  bool isStrided = llvm::any_of(fields.strides, [](int64_t stride) { return stride > 1; });
  return isStrided && src.size() > 1 && dst.size() > 1
             ? multiplySizes(dst) / double(dst[1]) * double(src[1])
             : 0;
}

/// Number of additional bytes that im2col moves. With channels last and few channels per group,
/// each group's elements of a pixel are in a separate cache line.
double countExtraIm2colBytes(const schema::OnednnArguments &arguments) {
  constexpr double kLine = 64, kElement = 4;
  auto src = getDims(arguments.src), dst = getDims(arguments.dst),
       weights = getDims(arguments.weights);
  if (weights.size() <= src.size() || src.size() < 3 || dst.size() != src.size())
    return 0;
  const std::string tag = arguments.src->tag.value_or("");
  if (tag.size() != src.size() || tag.back() != 'b')
    return 0;
  double together = std::min(double(weights[2]) * kElement, kLine);
  double elements = double(src[0] * src[1]) * multiplySizes(ArrayRef(dst).drop_front(2)) *
                    multiplySizes(ArrayRef(weights).drop_front(3));
  return elements * (kLine / together - 1) * kElement;
}

/// Number of element runs of a reorder that are contiguous both in the source and in the
/// destination.
double countReorderRuns(const schema::OnednnArguments &arguments) {
  auto dims = getDims(arguments.dst);
  auto stridesOf = [&](const Argument &argument) {
    auto strides = getStrides(argument);
    return strides.size() == dims.size() ? strides : ref::rowMajorStrides(dims);
  };
  auto from = stridesOf(arguments.src), to = stridesOf(arguments.dst);
  int64_t run = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1)
      continue;
    if (from[d] != run || to[d] != run)
      break;
    run *= dims[d];
  }
  return multiplySizes(dims) / double(run);
}

/// Estimated nanoseconds of a oneDNN matmul.
double estimateMatmulTime(const LibraryCall &call, const CallFields &fields,
                          const Implementation &implementation, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const schema::OnednnArguments &arguments = fields.arguments;
  auto src = getDims(arguments.src), weights = getDims(arguments.weights),
       dst = getDims(arguments.dst);
  if (src.size() < 2 || weights.size() != src.size() || dst.size() != src.size())
    return call.flops / (machine.libraryGflops * cost.threads);
  double m = double(dst[dst.size() - 2]), batches = multiplySizes(dst, 2);
  double cores = cost.coresFor(call.flops);
  double rate = machine.libraryGflops * laneShare(double(dst.back()), cost.lanes);
  if (arguments.src->dtype == "bf16")
    rate *= machine.libraryBf16Gain;
  double nanoseconds =
      call.flops / (rate * cores * std::min(1.0, machine.oneRow + machine.eachRow * m));
  if (m <= 16)
    nanoseconds *= machine.libraryShortProduct;
  bool packed = !arguments.weights->strides;
  double moved = cost.traffic(call.bytes, cores) * (m == 1 ? machine.libraryOneRow : 1);
  if (implementation.isGemm) {
    double packing =
        multiplySizes(weights) /
        ((isTransposed(arguments.weights) ? machine.gemmTransposed : machine.gemmPacked) * cores);
    // Epilogue ops after a GEMM are a separate pass over the results.
    if (arguments.bias || !fields.call.postOps.empty())
      packing += cost.traffic(8 * multiplySizes(dst), cores);
    if (isTransposed(arguments.src))
      packing += batches * m * double(src.back()) / (machine.gemmAcross * cores);
    double part = double(src.back()) > machine.gemmInner ? machine.gemmLongPart : machine.gemmPart;
    // The matmuls of the batch share one right operand, but cannot be merged into one matmul,
    // because the matrices of the left operand or of the result are not adjacent in memory.
    if (multiplySizes(weights, 2) == 1 &&
        (hasGapsBetweenMatrices(arguments.src) || hasGapsBetweenMatrices(arguments.dst)))
      part *= machine.gemmApartPart;
    return std::max(nanoseconds / part + batches * machine.gemmBatchNanoseconds / cores + packing,
                    moved);
  }
  if (packed) {
    nanoseconds /= machine.libraryPackedPart;
    nanoseconds += cost.streamedWeights(call, nanoseconds, machine.libraryBesideGigabytes, cores);
  }
  nanoseconds += batches * machine.libraryBatchNanoseconds / cores +
                 (packed ? 0 : multiplySizes(weights) / (machine.libraryPacked * cores));
  return std::max(nanoseconds, moved) *
         (double(src.back()) <= machine.shortInner ? machine.shortInnerPart : 1);
}

} // namespace

double estimate(const LibraryCall &call, const Implementation &implementation,
                const CostModel &cost) {
  const Machine &machine = cost.machine;
  const CallFields fields(call);
  const schema::OnednnArguments &arguments = fields.arguments;
  const OnednnKind kind = fields.call.kind;
  double cores = cost.coresFor(call.flops + call.bytes);
  double nanoseconds = cost.traffic(call.bytes, cores);
  if (call.isReference) {
    nanoseconds = std::max(nanoseconds, call.flops / (machine.referenceGflops * cores));
  } else if (kind == OnednnKind::Matmul) {
    nanoseconds = estimateMatmulTime(call, fields, implementation, cost);
  } else if (kind == OnednnKind::Reorder) {
    auto dst = getDims(arguments.dst), strides = getStrides(arguments.src);
    bool wholeRows = !strides.empty() && strides.back() == 1;
    double rate = isBlocked(arguments.src) || isBlocked(arguments.dst) ? machine.libraryBlocked
                                                                       : machine.libraryTransposed;
    double own = wholeRows ? countReorderRuns(arguments) * machine.rowNanoseconds
                           : multiplySizes(dst) / rate;
    nanoseconds = std::max(nanoseconds, own / cores);
  } else if (kind == OnednnKind::Pooling) {
    double own = isPlainLayout(arguments.src)
                     ? multiplySizes(getDims(arguments.dst)) / machine.libraryPoolOutputs
                     : call.flops / machine.libraryPoolTaps;
    nanoseconds = std::max(nanoseconds, own / cores);
  } else {
    bool recurrent = kind == OnednnKind::Lstm || kind == OnednnKind::Gru;
    double rate = recurrent ? machine.recurrentGflops : machine.convolutionGflops;
    if (implementation.isGemm)
      rate *= machine.unfoldedPart * std::min(1.0, getChannelsPerGroup(fields) / (2 * cost.lanes));
    else if (implementation.isAmx)
      rate = machine.tileGflops * (kind == OnednnKind::ConvolutionBackwardWeights
                                       ? machine.libraryTilesGradientPart
                                       : machine.libraryTilesPart);
    else if (implementation.isBf16)
      rate *= machine.libraryBf16Convolutions;
    else if (!recurrent)
      rate *= estimateConvolutionEfficiency(fields, implementation, cost) *
              cost.laneRate(getVectorLanes(implementation, cost));
    nanoseconds = std::max(nanoseconds, call.flops / (rate * cores)) +
                  countRepackedWeights(arguments) / machine.libraryPacked;
    if (implementation.isGemm)
      nanoseconds +=
          multiplySizes(getDims(arguments.dst)) * countUnfusedOps(fields.call) /
              (machine.unfoldedSteps * cores) +
          countCol2imAdditions(fields) / (machine.unfoldedSummed * cores) +
          cost.streamed(countExtraIm2colBytes(arguments), machine.streamedGigabytes, cores);
    if (!recurrent)
      nanoseconds +=
          cost.streamed(sumPackedBytes(call) - machine.libraryStreamedBytes,
                        machine.libraryStreamedGigabytes, cores) *
          (implementation.isBrgemm || implementation.isPointwise ? machine.libraryFetchedPart : 1);
    if (machine.libraryStrided > 0 && implementation.isPointwise && kind == OnednnKind::Convolution)
      nanoseconds += countStridedSourceElements(fields) / (machine.libraryStrided * cores);
  }
  return cost.ended(call, nanoseconds);
}

} // namespace dlc::onednn_desc

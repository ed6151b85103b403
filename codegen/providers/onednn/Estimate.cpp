//===- Estimate.cpp - analytical cost model of oneDNN ---------------------===//
#include "codegen/providers/onednn/Describe.h"
#include "runtime/library/onednn/Describe.h"

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

using onednn::Implementation;
using onednn::parseImplementation;

std::vector<int64_t> getDims(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  return found == desc.end() ? std::vector<int64_t>()
                             : found->value("dims", std::vector<int64_t>());
}

bool isPlainLayout(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  return found == desc.end() || found->contains("strides") ||
         StringRef("abcdefghijkl").starts_with(found->value("tag", std::string()));
}

/// Returns true if the argument has a blocked layout.
bool isBlocked(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  return found != desc.end() &&
         llvm::any_of(StringRef(found->value("tag", std::string())), llvm::isUpper);
}

/// Returns true if the matrix argument is column-major.
bool isTransposed(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  auto strides = found == desc.end() ? std::vector<int64_t>()
                                     : found->value("strides", std::vector<int64_t>());
  return strides.size() > 1 && strides.back() != 1;
}

/// Returns true if successive matrices of a batched argument are not adjacent in memory.
bool hasGapsBetweenMatrices(const json &desc, const char *argument) {
  auto dims = getDims(desc, argument), strides = desc[argument].value("strides", dims);
  if (!desc[argument].contains("strides"))
    return false;
  for (size_t d = 0; d + 2 < dims.size(); ++d)
    if (dims[d] > 1 && strides[d] != dims[d + 1] * strides[d + 1])
      return true;
  return false;
}

/// Number of weight elements that are packed or unpacked in each call.
double countRepackedWeights(const json &desc) {
  double elements = 0;
  for (const char *argument : {"weights", "diff_weights"})
    if (auto found = desc.find(argument); found != desc.end() && found->contains("outside") &&
                                          (*found)["outside"] != found->value("tag", ""))
      elements += multiplySizes(getDims(desc, argument));
  return elements;
}

/// Output channels per group of a convolution, which are the rows of the matmul after im2col.
double getChannelsPerGroup(const json &desc) {
  auto weights = getDims(desc, desc.contains("weights") ? "weights" : "diff_weights"),
       src = getDims(desc, desc.contains("src") ? "src" : "diff_src");
  bool isGrouped = weights.size() > src.size();
  return weights.empty() ? 1 : double(weights[isGrouped ? 1 : 0]);
}

/// Returns the vector lanes of an implementation.
double getVectorLanes(const Implementation &implementation, const CostModel &cost) {
  using Isa = Implementation::Isa;
  return implementation.isa == Isa::Avx2 ? 8 : implementation.isa == Isa::Sse ? 4 : cost.lanes;
}

/// Returns true if the convolution is depthwise: each channel has its own window.
bool isDepthwise(const json &desc) {
  auto weights = getDims(desc, desc.contains("weights") ? "weights" : "diff_weights"),
       src = getDims(desc, desc.contains("src") ? "src" : "diff_src");
  return weights.size() > src.size() && weights[1] == 1 && weights[2] == 1;
}

/// Fraction of the machine's rate that a convolution reaches in vectors of output channels. Few
/// channels leave vector lanes unused, and strided transposed convolutions scatter. Specialized
/// depthwise kernels use all lanes, unless they scatter.
double estimateConvolutionEfficiency(const LibraryCall &call, const Implementation &implementation,
                                     const CostModel &cost) {
  const json &desc = call.desc;
  std::string kind = desc.value("kind", "");
  bool hasOwnCode = isDepthwise(desc) && implementation.isDepthwise;
  double lanes = laneShare(getChannelsPerGroup(desc), cost.lanes);
  if (kind == "convolution")
    return !hasOwnCode ? lanes
           : implementation.isBrdgmm
               ? cost.machine.depthwisePart * cost.machine.depthwiseProductsPart
               : cost.machine.depthwisePart;
  if (kind == "convolution_backward_weights")
    return hasOwnCode ? cost.machine.libraryDepthwiseGradients / cost.machine.convolutionGflops
                      : lanes;
  auto strides = desc.value("strides", std::vector<int64_t>());
  if ((kind == "deconvolution" || kind == "convolution_backward_data") &&
      llvm::any_of(strides, [](int64_t stride) { return stride > 1; }))
    return cost.machine.transposedPart * (isDepthwise(desc) ? lanes : 1);
  return 1;
}

/// Number of epilogue ops that oneDNN applies element by element after an im2col matmul.
double countUnfusedOps(const json &desc) {
  return double(llvm::count_if(desc.value("post_ops", json::array()),
                               [](const json &op) { return op.value("alg", "") != "relu"; }));
}

/// Number of im2col elements that a transposed convolution adds to its results (col2im).
double countCol2imAdditions(const json &desc) {
  bool isGradient = desc.value("kind", "") == "convolution_backward_data";
  if (!isGradient && desc.value("kind", "") != "deconvolution")
    return 0;
  auto from = getDims(desc, isGradient ? "diff_dst" : "src"),
       to = getDims(desc, isGradient ? "diff_src" : "dst"), weights = getDims(desc, "weights");
  if (from.size() < 3 || to.size() != from.size() || weights.size() < from.size())
    return 0;
  size_t spatial = from.size() - 2;
  double taps = multiplySizes(ArrayRef(weights).take_back(spatial)),
         positions = multiplySizes(ArrayRef(from).take_back(spatial));
  return double(to[0] * to[1]) * taps * positions;
}

/// Number of source elements that a strided 1x1 convolution reads; 0 if it is not strided.
double countStridedSourceElements(const json &desc) {
  auto src = getDims(desc, "src"), dst = getDims(desc, "dst"),
       strides = desc.value("strides", std::vector<int64_t>());
  bool isStrided = llvm::any_of(strides, [](int64_t stride) { return stride > 1; });
  return isStrided && src.size() > 1 && dst.size() > 1
             ? multiplySizes(dst) / double(dst[1]) * double(src[1])
             : 0;
}

/// Number of additional bytes that im2col moves. With channels last and few channels per group,
/// each group's elements of a pixel are in a separate cache line.
double countExtraIm2colBytes(const json &desc) {
  constexpr double kLine = 64, kElement = 4;
  auto src = getDims(desc, "src"), dst = getDims(desc, "dst"), weights = getDims(desc, "weights");
  auto found = desc.find("src");
  if (weights.size() <= src.size() || src.size() < 3 || dst.size() != src.size())
    return 0;
  auto tag = found->value("tag", std::string());
  if (tag.size() != src.size() || tag.back() != 'b')
    return 0;
  double together = std::min(double(weights[2]) * kElement, kLine);
  double elements = double(src[0] * src[1]) * multiplySizes(ArrayRef(dst).drop_front(2)) *
                    multiplySizes(ArrayRef(weights).drop_front(3));
  return elements * (kLine / together - 1) * kElement;
}

/// Number of element runs of a reorder that are contiguous both in the source and in the
/// destination.
double countReorderRuns(const json &desc) {
  auto dims = getDims(desc, "dst");
  auto stridesOf = [&](const char *name) {
    auto strides = desc[name].value("strides", std::vector<int64_t>());
    return strides.size() == dims.size() ? strides : ref::rowMajorStrides(dims);
  };
  auto from = stridesOf("src"), to = stridesOf("dst");
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
double estimateMatmulTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  auto src = getDims(call.desc, "src"), weights = getDims(call.desc, "weights"),
       dst = getDims(call.desc, "dst");
  if (src.size() < 2 || weights.size() != src.size() || dst.size() != src.size())
    return call.flops / (machine.libraryGflops * cost.threads);
  double m = double(dst[dst.size() - 2]), batches = multiplySizes(dst, 2);
  double cores = cost.coresFor(call.flops);
  double rate = machine.libraryGflops * laneShare(double(dst.back()), cost.lanes);
  if (call.desc["src"].value("dtype", "") == "bf16")
    rate *= machine.libraryBf16Gain;
  double nanoseconds =
      call.flops / (rate * cores * std::min(1.0, machine.oneRow + machine.eachRow * m));
  if (m <= 16)
    nanoseconds *= machine.libraryShortProduct;
  bool packed = !call.desc["weights"].contains("strides");
  double moved = cost.traffic(call.bytes, cores) * (m == 1 ? machine.libraryOneRow : 1);
  if (parseImplementation(call.implementation).isGemm) {
    double packing =
        multiplySizes(weights) /
        ((isTransposed(call.desc, "weights") ? machine.gemmTransposed : machine.gemmPacked) *
         cores);
    // Epilogue ops after a GEMM are a separate pass over the results.
    if (call.desc.contains("bias") || call.desc.contains("post_ops"))
      packing += cost.traffic(8 * multiplySizes(dst), cores);
    if (isTransposed(call.desc, "src"))
      packing += batches * m * double(src.back()) / (machine.gemmAcross * cores);
    double part = double(src.back()) > machine.gemmInner ? machine.gemmLongPart : machine.gemmPart;
    // The matmuls of the batch share one right operand, but cannot be merged into one matmul,
    // because the matrices of the left operand or of the result are not adjacent in memory.
    if (multiplySizes(weights, 2) == 1 &&
        (hasGapsBetweenMatrices(call.desc, "src") || hasGapsBetweenMatrices(call.desc, "dst")))
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

double estimate(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const Implementation implementation = parseImplementation(call.implementation);
  std::string kind = call.desc.value("kind", "");
  double cores = cost.coresFor(call.flops + call.bytes);
  double nanoseconds = cost.traffic(call.bytes, cores);
  if (call.isReference) {
    nanoseconds = std::max(nanoseconds, call.flops / (machine.referenceGflops * cores));
  } else if (kind == "matmul") {
    nanoseconds = estimateMatmulTime(call, cost);
  } else if (kind == "reorder") {
    auto dst = getDims(call.desc, "dst");
    auto strides = call.desc["src"].value("strides", std::vector<int64_t>());
    bool wholeRows = !strides.empty() && strides.back() == 1;
    double rate = isBlocked(call.desc, "src") || isBlocked(call.desc, "dst")
                      ? machine.libraryBlocked
                      : machine.libraryTransposed;
    double own = wholeRows ? countReorderRuns(call.desc) * machine.rowNanoseconds
                           : multiplySizes(dst) / rate;
    nanoseconds = std::max(nanoseconds, own / cores);
  } else if (kind == "pooling") {
    double own = isPlainLayout(call.desc, "src")
                     ? multiplySizes(getDims(call.desc, "dst")) / machine.libraryPoolOutputs
                     : call.flops / machine.libraryPoolTaps;
    nanoseconds = std::max(nanoseconds, own / cores);
  } else {
    bool recurrent = kind == "lstm" || kind == "gru" || kind == "rnn";
    double rate = recurrent ? machine.recurrentGflops : machine.convolutionGflops;
    if (implementation.isGemm)
      rate *=
          machine.unfoldedPart * std::min(1.0, getChannelsPerGroup(call.desc) / (2 * cost.lanes));
    else if (implementation.isAmx)
      rate = machine.tileGflops * (kind == "convolution_backward_weights"
                                       ? machine.libraryTilesGradientPart
                                       : machine.libraryTilesPart);
    else if (implementation.isBf16)
      rate *= machine.libraryBf16Convolutions;
    else if (!recurrent)
      rate *= estimateConvolutionEfficiency(call, implementation, cost) *
              cost.laneRate(getVectorLanes(implementation, cost));
    nanoseconds = std::max(nanoseconds, call.flops / (rate * cores)) +
                  countRepackedWeights(call.desc) / machine.libraryPacked;
    if (implementation.isGemm)
      nanoseconds +=
          multiplySizes(getDims(call.desc, "dst")) * countUnfusedOps(call.desc) /
              (machine.unfoldedSteps * cores) +
          countCol2imAdditions(call.desc) / (machine.unfoldedSummed * cores) +
          cost.streamed(countExtraIm2colBytes(call.desc), machine.streamedGigabytes, cores);
    if (!recurrent)
      nanoseconds +=
          cost.streamed(sumPackedBytes(call) - machine.libraryStreamedBytes,
                        machine.libraryStreamedGigabytes, cores) *
          (implementation.isBrgemm || implementation.isPointwise ? machine.libraryFetchedPart : 1);
    if (machine.libraryStrided > 0 && implementation.isPointwise && kind == "convolution")
      nanoseconds += countStridedSourceElements(call.desc) / (machine.libraryStrided * cores);
  }
  return cost.ended(call, nanoseconds);
}

} // namespace dlc::onednn_desc

//===- Cost.cpp - how long kernels may take, by arithmetic alone ----------===//
#include "codegen/select/Cost.h"
#include "runtime/library/direct/Describe.h"
#include "runtime/library/vectors/Describe.h"

#include <cmath>

using namespace mlir;
using nlohmann::json;

namespace dlc {

namespace {

std::vector<int64_t> dimsOf(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  return found == desc.end() ? std::vector<int64_t>()
                             : found->value("dims", std::vector<int64_t>());
}

double productOf(const std::vector<int64_t> &dims, size_t drop = 0) {
  double n = 1;
  for (size_t i = 0; i + drop < dims.size(); ++i)
    n *= double(dims[i]);
  return n;
}

bool isPlainLayout(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  return found == desc.end() || found->contains("strides") ||
         StringRef("abcdefghijkl").starts_with(found->value("tag", std::string()));
}

/// Whether a matrix lies column by column.
bool isTransposed(const json &desc, const char *argument) {
  auto found = desc.find(argument);
  auto strides = found == desc.end() ? std::vector<int64_t>()
                                     : found->value("strides", std::vector<int64_t>());
  return strides.size() > 1 && strides.back() != 1;
}

/// Elements that a call packs or unpacks each time.
double packedInside(const json &desc) {
  double elements = 0;
  for (const char *argument : {"weights", "diff_weights"})
    if (auto found = desc.find(argument); found != desc.end() && found->contains("outside") &&
                                          (*found)["outside"] != found->value("tag", ""))
      elements += productOf(dimsOf(desc, argument));
  return elements;
}

bool isLibraryImplementation(const LibraryCall &call, StringRef word) {
  return StringRef(call.implementation).contains(word);
}

/// Of vectors over n columns, the part that is not behind the last one.
double laneShare(double n, double lanes) { return n / (std::ceil(n / lanes) * lanes); }

/// Channels of a convolution's result in each group: the rows of the product over its unfolded
/// images.
double resultsPerGroup(const json &desc) {
  auto weights = dimsOf(desc, "weights"),
       src = dimsOf(desc, desc.contains("src") ? "src" : "diff_src");
  bool isGrouped = weights.size() > src.size();
  return weights.empty() ? 1 : double(weights[isGrouped ? 1 : 0]);
}

/// Steps after a product over unfolded images that the library does number by number.
double slowSteps(const json &desc) {
  return double(llvm::count_if(desc.value("post_ops", json::array()),
                               [](const json &op) { return op.value("alg", "") != "relu"; }));
}

/// Elements of a convolution's source that a window of one pixel reads where strides leave others
/// out.
double pixelsLeft(const json &desc) {
  auto src = dimsOf(desc, "src"), dst = dimsOf(desc, "dst"),
       strides = desc.value("strides", std::vector<int64_t>());
  bool isStrided = llvm::any_of(strides, [](int64_t stride) { return stride > 1; });
  return isStrided && src.size() > 1 && dst.size() > 1
             ? productOf(dst) / double(dst[1]) * double(src[1])
             : 0;
}

/// Weights that were packed before.
double packedBytes(const LibraryCall &call) {
  double bytes = 0;
  for (const CallArgument &argument : call.arguments)
    bytes += argument.kind == CallArgument::Kind::Packed ? double(argument.bytes) : 0;
  return bytes;
}

double elementsOf(Value v) { return double(cast<RankedTensorType>(v.getType()).getNumElements()); }

} // namespace

Machine Machine::inVectors() {
  Machine machine;
  machine.libraryGflops = 158;
  machine.libraryPackedPart = 1.16;
  machine.vectorsGflops = 178;
  machine.convolutionGflops = 160;
  machine.directGflops = 168;
  machine.streamedGigabytes = 10;
  machine.libraryStreamedGigabytes = 15;
  machine.libraryBesideGigabytes = 9.4;
  machine.vectorsBesideGigabytes = 22;
  machine.libraryStrided = 0.9;
  machine.contractGflops = 140;
  machine.contractLargeGflops = 118;
  machine.gemmPart = 1.15;
  machine.gemmInner = 8192;
  machine.gemmLongPart = 0.97;
  machine.gemmPacked = machine.gemmTransposed = 2;
  machine.gemmAcross = 1.4;
  machine.contractAcross = 0.2;
  machine.nearBytes = 4e6;
  machine.cacheGigabytes = 16;
  return machine;
}

Machine Machine::withTiles() {
  Machine machine;
  machine.libraryGflops = 105;
  machine.convolutionGflops = 100;
  machine.directGflops = 95;
  // Vectors multiply bf16 slowly where there are tiles.
  machine.libraryBf16Convolutions = 0.6;
  machine.winogradGigabytes = 20;
  machine.vectorsGflops = 115;
  machine.contractGflops = 95;
  machine.contractLargeGflops = 90;
  // Its gemm is ahead for sums of few products, where packing costs little: of a right operand that
  // many rows share.
  machine.gemmPart = 1.12;
  machine.gemmInner = 512;
  machine.gemmTransposed = 1.15;
  machine.shortRuns = 5;
  machine.shortInner = 32;
  machine.shortInnerPart = 1.35;
  machine.attentionGflops = 75;
  machine.attentionScores = 1.5;
  return machine;
}

CostModel::CostModel(const cpu::Target &target, int threads)
    : threads(std::max(1, threads)), lanes(double(target.lanes32())) {
  if (StringRef(target.features).contains("+amx-tile"))
    machine = Machine::withTiles();
  else if (target.vectorBits >= 512 && !StringRef(target.cpu).starts_with("znver"))
    machine = Machine::inVectors();
  if (target.vectorBits < 512)
    for (double *figure :
         {&machine.libraryGflops, &machine.vectorsGflops, &machine.contractGflops,
          &machine.contractLargeGflops, &machine.convolutionGflops, &machine.directGflops,
          &machine.recurrentGflops, &machine.innerProductGflops})
      *figure /= 2;
  if (!StringRef(target.features).contains("+avx512bf16"))
    machine.libraryBf16Gain = machine.libraryBf16Convolutions = 1;
}

/// Nanoseconds for bytes that pass once.
double CostModel::traffic(double bytes, double cores) const {
  if (bytes > machine.cacheBytes)
    return bytes / machine.memoryGigabytes;
  return bytes /
         ((bytes > machine.nearBytes ? machine.cacheGigabytes : machine.nearGigabytes) * cores);
}

double CostModel::streamed(double bytes, double rate, double cores) const {
  return rate > 0 ? std::max(0.0, bytes) / std::min(machine.memoryGigabytes, rate * cores) : 0;
}

double CostModel::coresFor(const cpu::KernelPlan &plan) const {
  return std::clamp(double(plan.extent) / double(std::max<int64_t>(1, plan.grain)), 1.0, threads);
}

double CostModel::beside(const LibraryCall &call, double nanoseconds, double rate,
                         double cores) const {
  return std::min(nanoseconds, streamed(packedBytes(call), rate, cores));
}

double CostModel::ended(double nanoseconds, double overhead, double cores) const {
  return nanoseconds / 1000 + overhead + (cores > 1 ? machine.wake : 0);
}

double CostModel::product(const LibraryCall &call) const {
  auto src = dimsOf(call.desc, "src"), weights = dimsOf(call.desc, "weights"),
       dst = dimsOf(call.desc, "dst");
  if (src.size() < 2 || weights.size() != src.size() || dst.size() != src.size())
    return call.flops / (machine.libraryGflops * threads);
  double m = double(dst[dst.size() - 2]), batches = productOf(dst, 2);
  double cores = call.flops > machine.wakeFlops ? threads : 1;
  double rate = machine.libraryGflops * laneShare(double(dst.back()), lanes);
  if (call.desc["src"].value("dtype", "") == "bf16")
    rate *= machine.libraryBf16Gain;
  double nanoseconds =
      call.flops / (rate * cores * std::min(1.0, machine.oneRow + machine.eachRow * m));
  if (m <= 16)
    nanoseconds *= machine.libraryShortProduct;
  bool packed = !call.desc["weights"].contains("strides");
  double moved = traffic(call.bytes, cores) * (m == 1 ? machine.libraryOneRow : 1);
  if (isLibraryImplementation(call, "gemm:")) {
    double packing =
        productOf(weights) /
        ((isTransposed(call.desc, "weights") ? machine.gemmTransposed : machine.gemmPacked) *
         cores);
    // What comes after the sums is another pass over them.
    if (call.desc.contains("bias") || call.desc.contains("post_ops"))
      packing += traffic(8 * productOf(dst), cores);
    if (isTransposed(call.desc, "src"))
      packing += batches * m * double(src.back()) / (machine.gemmAcross * cores);
    double part = double(src.back()) > machine.gemmInner ? machine.gemmLongPart : machine.gemmPart;
    return std::max(nanoseconds / part + batches * machine.gemmBatchNanoseconds / cores + packing,
                    moved);
  }
  if (packed) {
    nanoseconds /= machine.libraryPackedPart;
    nanoseconds += beside(call, nanoseconds, machine.libraryBesideGigabytes, cores);
  }
  nanoseconds += batches * machine.libraryBatchNanoseconds / cores +
                 (packed ? 0 : productOf(weights) / (machine.libraryPacked * cores));
  return std::max(nanoseconds, moved) *
         (double(src.back()) <= machine.shortInner ? machine.shortInnerPart : 1);
}

double CostModel::tilesWindow(const LibraryCall &call) const {
  auto src = call.desc["src"].get<std::vector<int64_t>>(),
       dst = call.desc["dst"].get<std::vector<int64_t>>();
  double parts = call.desc["parts"], cores = call.flops > machine.wakeFlops ? threads : 1;
  // Few channels stand beside those of a row's next pixels, as far as a step of a sum reaches.
  double channels = double(src[1]),
         rate = machine.tileGflops * laneShare(double(dst[1]), machine.tileColumns);
  rate *= channels < machine.tileDepth / 2 ? 0.45 : laneShare(channels, machine.tileDepth);
  double products = call.flops * parts * (parts + 1) / 2 / (rate * cores) +
                    productOf(dst) / (machine.tileResults * cores);
  double weights =
      call.desc["weights"] == "packed" ? 0 : call.flops / (2 * productOf(dst)) * double(dst[1]);
  double split = (productOf(src) + weights) * parts / 2 / (machine.splitParts * cores);
  return std::max(products + split, traffic(call.bytes, cores));
}

double CostModel::tilesGradient(const LibraryCall &call) const {
  auto src = call.desc["src"].get<std::vector<int64_t>>(),
       dst = call.desc["diff_dst"].get<std::vector<int64_t>>();
  auto window = call.desc["window"].get<std::vector<int64_t>>();
  double taps = productOf(window), cores = call.flops > machine.wakeFlops ? threads : 1;
  // Sums stand on tiles of 16 channels by 16; rows end with room for the window.
  double rate =
      machine.tileGflops * machine.tileGradientPart * laneShare(double(src[1]), machine.tileRows) *
      laneShare(double(dst[1]), machine.tileRows) * double(dst[3]) / double(dst[3] + window[1] - 1);
  double weights = taps * double(src[1]) * double(dst[1]);
  // Pixels stand there twice where a window has more than one column.
  double packed = productOf(src) * (window[1] > 1 ? 2 : 1) + productOf(dst);
  return std::max(call.flops / (rate * cores) + packed / (machine.turnedPixels * cores) +
                      weights / (machine.tileResults * cores),
                  traffic(call.bytes, cores));
}

double CostModel::tiles(const LibraryCall &call) const {
  if (call.desc["kind"] == "convolution")
    return tilesWindow(call);
  if (call.desc["kind"] == "weight_gradient")
    return tilesGradient(call);
  double m = call.desc["m"], n = call.desc["n"], k = call.desc["k"], parts = call.desc["parts"];
  double batches = productOf(call.desc.value("batch", std::vector<int64_t>()));
  double cores = call.flops > machine.wakeFlops ? threads : 1;
  double rate = machine.tileGflops * laneShare(m, machine.tileRows) *
                laneShare(n, machine.tileColumns) * laneShare(k, machine.tileDepth);
  double products = call.flops * parts * (parts + 1) / 2 / (rate * cores) +
                    batches * m * n / (machine.tileResults * cores);
  // The right operand is split once where the whole batch shares it.
  const json &b = call.desc["b"];
  double rights = b == "packed" ? 0
                  : llvm::all_of(ArrayRef(b.get<std::vector<int64_t>>()).drop_back(2),
                                 [](int64_t stride) { return stride == 0; })
                      ? 1
                      : batches;
  double split = k * (batches * m + rights * n) * parts / 2 / (machine.splitParts * cores);
  return std::max(products + split, traffic(call.bytes, cores));
}

double CostModel::vectors(const LibraryCall &call) const {
  double m = call.desc["m"], n = call.desc["n"], k = call.desc["k"];
  double batches = productOf(call.desc.value("batch", std::vector<int64_t>()));
  double cores = call.flops > machine.wakeFlops ? threads : 1;
  double rate = machine.vectorsGflops * laneShare(n, lanes) *
                std::min(1.0, machine.oneRow + machine.eachRow * m);
  const json &a = call.desc["a"], &b = call.desc["b"];
  bool isAcross = a.back() != 1;
  // By quarters, a left operand is always packed by all threads before anything is multiplied.
  bool isStrassen = call.desc.value("strassen", false);
  bool ownRows =
      !isStrassen &&
      n <= products::panelColumns(vectors::formOf(call.desc["lanes"], int64_t(m)), int64_t(k));
  double packing = ownRows    ? machine.vectorsOwn
                   : isAcross ? machine.vectorsAcross
                              : machine.vectorsPacked;
  double packed =
      !isAcross && n <= vectors::kFewColumns && !isStrassen ? 0 : batches * m * k / packing;
  if (b != "packed") {
    bool isShared = llvm::all_of(ArrayRef(b.get<std::vector<int64_t>>()).drop_back(2),
                                 [](int64_t stride) { return stride == 0; });
    packed += (isShared ? 1 : batches) * k * n / machine.vectorsPacked;
  }
  if (isStrassen) {
    // Each half has whole blocks of columns.
    rate *= machine.strassenGain * laneShare(n, 4 * lanes) / laneShare(n, lanes);
    packed = packed * machine.strassenPacking +
             m * n * std::ceil(k / machine.strassenDepth) / machine.strassenResults;
  }
  double nanoseconds = (call.flops / rate + packed) / cores;
  return std::max(nanoseconds + beside(call, nanoseconds, machine.vectorsBesideGigabytes, cores),
                  traffic(call.bytes, cores));
}

double CostModel::prologue(double elements, bool exponential) const {
  return elements / ((exponential ? machine.changedByExponential : machine.changed) * threads) /
         1000;
}

double CostModel::sums(double elements) const {
  return elements / (machine.summedPacked * lanes / 16 * threads) / 1000;
}

double CostModel::statistics(double elements) const {
  return elements / (machine.summed * lanes / 16 * threads) / 1000;
}

double CostModel::direct(const LibraryCall &call) const {
  auto src = call.desc["src"].get<std::vector<int64_t>>(),
       dst = call.desc["dst"].get<std::vector<int64_t>>();
  double results = productOf(dst), depth = call.flops / (2 * results),
         cores = call.flops > machine.wakeFlops ? threads : 1;
  direct::Reading reading = direct::readingOf(call.desc, int(threads));
  double weights = streamed(packedBytes(call), machine.streamedGigabytes, cores);
  double nanoseconds = std::max(call.flops / (machine.directGflops * cores), weights) +
                       results / (machine.directResults * cores);
  // Where each thread reads all, much of that lies in the others' caches.
  double parts = reading.whole ? 1 : cores;
  if (!reading.inPlace)
    nanoseconds += results / double(dst[1]) * depth / (machine.directCopied * parts);
  return nanoseconds + 4 * productOf(src) /
                           (reading.whole ? machine.directShared : machine.cacheGigabytes * parts);
}

double CostModel::winograd(const LibraryCall &call) const {
  auto src = call.desc["src"].get<std::vector<int64_t>>(),
       dst = call.desc["dst"].get<std::vector<int64_t>>();
  double side = call.desc["tile"], window = call.desc["window"],
         points = std::pow(side + window - 1, 2);
  double tiles =
      double(dst[0]) * std::ceil(double(dst[2]) / side) * std::ceil(double(dst[3]) / side);
  double from = double(src[1]), to = double(dst[1]);
  double products = 2 * points * tiles * from * to;
  // Data and results by point go to memory and come back; so do weights, but those that are packed
  // come only.
  double cores = call.flops > machine.wakeFlops ? threads : 1;
  double asked = streamed(packedBytes(call), machine.streamedGigabytes, cores);
  double weights =
      asked > 0 ? 0 : 4 * points * from * to * (call.desc.value("packed", false) ? 1 : 2);
  double moved =
      4 * points * 2 * tiles * (from + to) + weights + 4 * (productOf(src) + productOf(dst));
  return std::max(products / (machine.convolutionGflops * cores), asked) +
         moved / (machine.winogradGigabytes * cores);
}

double CostModel::attention(const LibraryCall &call) const {
  const json &desc = call.desc;
  bool isGradient = desc["kind"] == "attention_grad";
  double heads = productOf(desc["batch"].get<std::vector<int64_t>>()), queries = desc["queries"],
         keys = desc["keys"];
  double depth = desc["depth"], width = desc["width"], parts = desc["parts"];
  // On tiles rows and columns are filled up. Causally, blocks behind the diagonal are not made.
  double filled =
      parts > 0 ? laneShare(queries, machine.tileRows) * laneShare(keys, machine.tileColumns) : 1;
  double scores = heads * queries * keys / filled *
                  (desc["causal"] == true && keys > machine.attentionBlock ? 0.6 : 1);
  double flops = 2 * scores * (isGradient ? 3 * depth + 2 * width : depth + width);
  double elements = heads * (queries + keys) * (depth + width) * (isGradient ? 2 : 1);
  double cores = flops > machine.wakeFlops ? threads : 1;
  double nanoseconds =
      scores * (isGradient ? 1.5 : 1) / (machine.attentionScores * lanes / 16 * cores);
  if (parts > 0) {
    double split = (elements + scores * (isGradient ? 3 : 1)) * (parts > 1 ? parts / 2 : 0.7);
    nanoseconds += flops * parts * (parts + 1) / 2 / (machine.attentionTileGflops * cores) +
                   split / (machine.splitParts * 2 * cores);
  } else {
    nanoseconds +=
        flops / (machine.attentionGflops * lanes / 16 * laneShare(width, 2 * lanes) * cores) +
        elements / (machine.splitParts * cores);
  }
  // bf16 is made f32 before it is packed.
  if (desc["dtype"] == "bf16")
    nanoseconds += elements / (machine.splitParts * cores);
  return std::max(nanoseconds, traffic(call.bytes, cores)) +
         (parts > 0 ? 1000 * machine.tileCall : 0);
}

double CostModel::call(const LibraryCall &call) const {
  std::string kind = call.desc.value("kind", "");
  double cores = call.flops + call.bytes > machine.wakeFlops ? threads : 1;
  double nanoseconds = traffic(call.bytes, cores);
  if (call.library == "tiles") {
    nanoseconds = tiles(call) + 1000 * machine.tileCall;
  } else if (call.library == "vectors") {
    nanoseconds = vectors(call);
  } else if (call.library == "direct") {
    nanoseconds = direct(call);
  } else if (call.library == "winograd") {
    nanoseconds = winograd(call);
  } else if (call.library == "attention") {
    nanoseconds = attention(call);
  } else if (call.isReference) {
    nanoseconds = std::max(nanoseconds, call.flops / (machine.referenceGflops * cores));
  } else if (kind == "matmul") {
    nanoseconds = product(call);
  } else if (kind == "reorder") {
    auto dst = dimsOf(call.desc, "dst");
    auto strides = call.desc.contains("src")
                       ? call.desc["src"].value("strides", std::vector<int64_t>())
                       : std::vector<int64_t>();
    bool wholeRows = !strides.empty() && strides.back() == 1;
    if (!wholeRows)
      nanoseconds = std::max(nanoseconds, productOf(dst) / (machine.libraryTransposed * cores));
  } else if (call.library == "builtin" && call.desc.contains("kernel") && kind != "lane_pool") {
    nanoseconds = std::max(nanoseconds, call.flops / (machine.builtinWindows * cores));
  } else if (kind == "pooling") {
    double own = isPlainLayout(call.desc, "src")
                     ? productOf(dimsOf(call.desc, "dst")) / machine.libraryPoolOutputs
                     : call.flops / machine.libraryPoolTaps;
    nanoseconds = std::max(nanoseconds, own / cores);
  } else if (kind != "lane_pool") {
    bool recurrent = kind == "lstm" || kind == "gru" || kind == "rnn";
    double rate = recurrent ? machine.recurrentGflops : machine.convolutionGflops;
    if (isLibraryImplementation(call, "gemm:"))
      rate *= machine.unfoldedPart * std::min(1.0, resultsPerGroup(call.desc) / (2 * lanes));
    else if (isLibraryImplementation(call, "amx"))
      rate = machine.tileGflops * (kind == "convolution_backward_weights"
                                       ? machine.libraryTilesGradientPart
                                       : machine.libraryTilesPart);
    else if (isLibraryImplementation(call, "bf16"))
      rate *= machine.libraryBf16Convolutions;
    nanoseconds = std::max(nanoseconds, call.flops / (rate * cores)) +
                  packedInside(call.desc) / machine.libraryPacked;
    if (isLibraryImplementation(call, "gemm:"))
      nanoseconds += productOf(dimsOf(call.desc, "dst")) * slowSteps(call.desc) /
                     (machine.unfoldedSteps * cores);
    if (!recurrent)
      nanoseconds += streamed(packedBytes(call) - machine.libraryStreamedBytes,
                              machine.libraryStreamedGigabytes, cores);
    if (machine.libraryStrided > 0 && isLibraryImplementation(call, "1x1") && kind == "convolution")
      nanoseconds += pixelsLeft(call.desc) / (machine.libraryStrided * cores);
  }
  return ended(nanoseconds, machine.call, cores);
}

double CostModel::least(double flops, double bytes) const {
  double cores = flops + bytes > machine.wakeFlops ? threads : 1;
  return ended(std::max(flops / (machine.libraryGflops * cores), traffic(bytes, cores)),
               machine.call, cores);
}

double CostModel::rows(FusionOp normal, const cpu::KernelPlan &plan) const {
  double nanoseconds = 0, counted = 0;
  for (Operation &op : normal.getBody().front().without_terminator()) {
    double results = elementsOf(op.getResult(0));
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      auto a = cast<RankedTensorType>(matmul.getA().getType()),
           b = cast<RankedTensorType>(matmul.getB().getType());
      double flops =
          2 * results * double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
      double bytes = double(ref::elementBytes(b.getElementType()) * b.getDimSize(b.getRank() - 1) *
                            b.getDimSize(b.getRank() - 2));
      bool inner = bytes <= machine.firstLevelBytes && !matmul.getTransposeB();
      // A row's lanes run along its columns.
      double filled = std::min(1.0, double(b.getDimSize(b.getRank() - 1)) / lanes);
      nanoseconds +=
          flops / (inner ? machine.innerProductGflops * filled : machine.outerProductGflops);
      counted += flops;
    } else if (isa<ConvOp, ConvTransposeOp>(op)) {
      auto w = cast<RankedTensorType>(op.getOperand(1).getType());
      double flops = 2 * results * double(w.getNumElements()) /
                     double(std::max<int64_t>(1, w.getDimSize(isa<ConvOp>(op) ? 0 : 1)));
      nanoseconds += flops / machine.scalarGflops;
      counted += flops;
    } else if (isa<MaxPoolOp, AvgPoolOp>(op)) {
      auto window =
          isa<MaxPoolOp>(op) ? cast<MaxPoolOp>(op).getWindow() : cast<AvgPoolOp>(op).getWindow();
      double taps = results;
      for (int64_t size : window)
        taps *= double(size);
      nanoseconds +=
          taps / (isa<MaxPoolOp>(op) ? machine.maximumGigataps : machine.averageGigataps);
      counted += taps;
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      // Lanes that are strided in memory are gathered one by one.
      auto permutation = transpose.getPermutation();
      if (!permutation.empty() && permutation.back() != int64_t(permutation.size()) - 1)
        nanoseconds += results / machine.gathered;
    }
  }
  nanoseconds += std::max(0.0, plan.flops - counted) / machine.elementGflops;
  double cores = coresFor(plan);
  return ended(std::max(nanoseconds / cores, traffic(plan.bytes, cores)), machine.launch, cores);
}

double CostModel::contract(const cpu::ContractFusion &contract, const cpu::KernelPlan &plan) const {
  const cpu::ContractSpec &spec = contract.spec;
  const cpu::ContractPlan &schedule = contract.plan;
  double batches = double(spec.batchSize()), m = double(spec.m), n = double(spec.n),
         k = double(spec.k);
  double bytesB = n * k * double(ref::elementBytes(spec.elementB));
  bool large = bytesB > machine.largeBytes;
  double rate = (large && m > 32 ? machine.contractLargeGflops : machine.contractGflops) *
                (spec.elementA.isF64() ? 0.5 : 1);
  // Short blocks leave sums waiting for one another; lanes behind the last column are computed for
  // nothing.
  rate *= std::min(1.0, machine.oneRow + machine.eachRow * double(schedule.blockHeight()));
  rate *= laneShare(n, double(schedule.lanes));
  double cores = coresFor(plan);
  double nanoseconds = 2 * batches * m * n * k / rate;
  if (schedule.packsA)
    nanoseconds += batches * m * k / machine.packed;
  else if (spec.strideAk != 1)
    nanoseconds += batches * m * k / machine.contractAcross;
  if (schedule.packsB)
    nanoseconds += batches * double(schedule.chunks) * n * k /
                   (spec.strideBn == 1 ? machine.packed
                    : large            ? machine.packedTransposedLarge
                                       : machine.packedTransposed);
  double bytes =
      traffic(plan.bytes, cores) * (spec.packedB || schedule.packsB ? 1 : machine.shortRuns);
  return ended(std::max(nanoseconds / cores, bytes), machine.launch, cores);
}

} // namespace dlc

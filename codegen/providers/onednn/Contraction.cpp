//===- Contraction.cpp - products, convolutions and pools as oneDNN calls ===//
#include "codegen/providers/onednn/Words.h"
#include "passes/fuse/StateUpdate.h"

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

std::optional<Answer> matmul(const Product &p, const Query &query) {
  Pending call;
  call.flops = p.flops;
  call.accumulates = p.accumulates;
  call.desc = {{"kind", "matmul"}, {"src", argument(p.src)}, {"dst", argument(p.dst)}};
  if (!p.math.empty())
    call.desc["math"] = p.math;
  if (p.constant) {
    call.desc["weights"] = argument(p.weights.dims, p.weights.element, "any");
    call.packs.push_back({"weights", p.constant->plain, p.constant->turned ? "ba" : "ab"});
  } else {
    call.desc["weights"] = argument(p.weights);
    call.sources.push_back({"weights", p.weightsSource});
  }
  call.sources.push_back({"src", p.srcSource});
  call.sources.push_back({"dst", p.dstSource});
  if (p.bias) {
    call.desc["bias"] = argument(*p.bias);
    call.sources.push_back({"bias", p.biasSource});
  }
  if (p.scale) {
    auto scale = ref::Tensor::empty(
        RankedTensorType::get({1}, Float32Type::get(p.src.element.getContext())));
    scale.setDouble(0, *p.scale);
    call.desc["scales"] = {{"src", 0}};
    call.packs.push_back({"scales.src", scale, "a"});
  }
  addSteps(p.steps, call);
  return finish(std::move(call), query);
}

/// What a convolution or pool becomes, before oneDNN is asked.
struct Builder {
  FusionOp fusion;
  Epilogue epilogue;
  Pending call;
  const Query &query;

  std::nullopt_t no(const Twine &reason) { return query.no(reason); }

  void addSource(StringRef name, Value inner) {
    call.sources.push_back({name.str(), sourceOf(fusion, inner)});
  }
  void addResult() { call.sources.push_back({"dst", resultOf(fusion)}); }
};

/// General code, or products over unfolded images.
bool isSlow(const LibraryCall &call) {
  StringRef name = call.implementation;
  return name.contains("ref:") || name.contains("ref_") || name.contains("gemm:");
}

/// A transposed convolution without bias is a convolution's gradient in its operand; the library
/// has more code for that.
Pending dataGradient(const Pending &call, ConvTransposeOp op, Type element) {
  Pending gradient = call;
  json &desc = gradient.desc;
  desc["kind"] = "convolution_backward_data";
  desc["diff_dst"] = desc["src"];
  desc["diff_src"] = desc["dst"];
  // The convolution's own padding: what does not fill its last stride is no padding taken away.
  std::vector<int64_t> high;
  for (auto [pad, extra, stride] : llvm::zip(op.getHigh(), op.getExtra(), op.getStrides()))
    high.push_back(extra < stride ? pad : pad - extra);
  desc["pads_r"] = high;
  desc.erase("src");
  desc.erase("dst");
  SmallVector<int64_t> dims(typeOf(op.getW()).getShape());
  if (int64_t groups = op.getGroups(); groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  if (StringRef tag = layoutOf(op.getW().getType()); !tag.empty()) {
    desc["weights"] = argument(op.getW());
  } else if (gradient.packs.empty()) {
    desc["weights"] = packedInside(dims, element, plainTag(dims.size()));
  } else {
    desc["weights"] = argument(dims, element, "any");
    gradient.packs.front().tag = plainTag(dims.size());
  }
  for (auto &[name, source] : gradient.sources)
    name = name == "src" ? "diff_dst" : name == "dst" ? "diff_src" : name;
  return gradient;
}

std::optional<Answer> convolution(Builder &b) {
  Epilogue &e = b.epilogue;
  auto conv = dyn_cast<ConvOp>(e.anchor);
  auto transposed = dyn_cast<ConvTransposeOp>(e.anchor);
  Value x = conv ? conv.getX() : transposed.getX(), w = conv ? conv.getW() : transposed.getW();
  Value bias = e.bias ? e.bias : conv ? conv.getBias() : transposed.getBias();
  int64_t groups = conv ? conv.getGroups() : transposed.getGroups();
  auto yType = typeOf(b.fusion.getResult(0));
  Type element = typeOf(x).getElementType();
  json &desc = b.call.desc;
  desc["kind"] = conv ? "convolution" : "deconvolution";
  desc["src"] = argument(x);
  desc["dst"] = argument(b.fusion.getResult(0));
  SmallVector<int64_t> wDims(typeOf(w).getShape());
  int64_t rank = wDims.size();
  std::string wTag;
  if (conv) {
    if (groups > 1) {
      wDims[0] /= groups;
      wDims.insert(wDims.begin(), groups);
    }
    wTag = plainTag(wDims.size());
    addGeometry(desc, conv);
  } else {
    // ONNX keeps [C, O/groups, ..]; the library's dimensions are (g) o i .., its memory what we
    // have.
    int64_t in = wDims[0] / groups;
    SmallVector<int64_t> dims;
    if (groups > 1)
      dims.push_back(groups);
    dims.push_back(wDims[1]);
    dims.push_back(in);
    dims.append(wDims.begin() + 2, wDims.end());
    wDims = dims;
    wTag = plainTag(wDims.size());
    std::swap(wTag[groups > 1 ? 1 : 0], wTag[groups > 1 ? 2 : 1]);
    addGeometry(desc, transposed);
    // What lengthens the result at the end is padding taken away there.
    auto pads = list(transposed.getHigh());
    for (size_t d = 0; d < pads.size(); ++d)
      pads[d] -= transposed.getExtra()[d];
    desc["pads_r"] = pads;
  }
  // Each element of the result, or of a transposed convolution's operand, meets the weights of its
  // channel.
  double meets = double((conv ? yType : typeOf(x)).getNumElements());
  b.call.flops = 2.0 * meets * double(typeOf(w).getNumElements()) / double(typeOf(w).getDimSize(0));
  if (ConstantOp weights = constantOf(outside(b.fusion, w))) {
    auto plain = ref::Tensor::fromAttr(weights.getValue());
    if (failed(plain))
      return b.no("its weights cannot be read");
    desc["weights"] = argument(wDims, element, "any");
    b.call.packs.push_back({"weights", *plain, wTag});
  } else if (StringRef tag = layoutOf(w.getType()); tag.empty()) {
    desc["weights"] = packedInside(wDims, element, wTag);
    b.addSource("weights", w);
  } else {
    // Layouts are of the operation's dimensions: the library's are the same where there are no
    // groups to split off.
    if (groups > 1 || (transposed && bias))
      return b.no("weights in layout '" + tag + "' that have other dimensions in the library");
    desc["weights"] = argument(w);
    b.addSource("weights", w);
  }
  b.addSource("src", x);
  b.addResult();
  if (bias) {
    desc["bias"] = argument({yType.getDimSize(1)}, typeOf(bias).getElementType());
    b.addSource("bias", bias);
  }
  auto operandOf = [&](const PostOp &step) -> std::optional<TensorForm> {
    auto type = typeOf(step.operand);
    TensorForm one{SmallVector<int64_t>(rank, 1), type.getElementType()};
    if (type.getNumElements() == 1)
      return one;
    if (type.getShape() == yType.getShape())
      return TensorForm::of(step.operand);
    if (type.getNumElements() != yType.getDimSize(1))
      return std::nullopt;
    one.dims[1] = yType.getDimSize(1);
    return one;
  };
  std::vector<EpilogueStep> steps;
  if (!describeSteps(b.fusion, e, operandOf, steps, b.call.accumulates))
    return b.no("a step's operand has a shape or factor that oneDNN does not take");
  addSteps(steps, b.call);
  if (!transposed || bias || desc.contains("post_ops"))
    return finish(std::move(b.call), b.query);
  auto asGradient = finish(dataGradient(b.call, transposed, element), b.query);
  if ((asGradient && !isSlow(asGradient->call)) || !layoutOf(w.getType()).empty())
    return asGradient;
  auto direct = finish(b.call, b.query);
  return !direct || (asGradient && isSlow(direct->call)) ? asGradient : direct;
}

std::optional<Answer> pool(Builder &b) {
  Operation *op = b.epilogue.anchor;
  json &desc = b.call.desc;
  desc["kind"] = "pooling";
  desc["src"] = argument(op->getOperand(0));
  desc["dst"] = argument(b.fusion.getResult(0));
  auto max = dyn_cast<MaxPoolOp>(op);
  auto avg = dyn_cast<AvgPoolOp>(op);
  if (!(max ? addPoolGeometry(desc, max) : addPoolGeometry(desc, avg)))
    return b.no("its padding is as wide as the window");
  auto algorithm = max ? std::optional<std::string>("max") : averageOf(avg);
  if (!algorithm)
    return b.no("it counts a part of the padding only");
  desc["alg"] = *algorithm;
  b.call.flops = tapsInside(op);
  b.addSource("src", op->getOperand(0));
  b.addResult();
  return finish(std::move(b.call), b.query);
}

} // namespace

std::optional<Answer> contraction(FusionOp fusion, const Query &query) {
  Type element = typeOf(fusion.getResult(0)).getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isF16())
    return query.no("element type " + elementName(element) + " is none of oneDNN's");
  if (isProduct(fusion)) {
    auto product = describeProduct(fusion, /*own=*/false, Refusal{query.why});
    return product ? matmul(*product, query) : std::nullopt;
  }
  auto epilogue = matchEpilogue(fusion);
  if (!epilogue)
    return query.no("not one contraction with steps after it");
  if (typeOf(fusion.getResult(0)).getNumElements() == 0)
    return query.no("empty result");
  if (fusion->hasAttr(kUpdatesAttr))
    foldUpdate(*epilogue);
  Builder b{fusion, *epilogue, {}, query};
  if (auto math = epilogue->anchor->getAttrOfType<StringAttr>("dlc.math"); math && math == "bf16")
    b.call.desc["math"] = math.str();
  return isa<ConvOp, ConvTransposeOp>(epilogue->anchor) ? convolution(b) : pool(b);
}

} // namespace dlc::onednn_desc

//===- OnednnContraction.cpp - products, convolutions and pools as oneDNN calls ===//
#include "codegen/select/OnednnDesc.h"
#include "codegen/select/Prologue.h"
#include "passes/fuse/StateUpdate.h"

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

/// What a matmul, convolution or pool becomes, before oneDNN is asked.
struct Builder {
  FusionOp fusion;
  Epilogue epilogue;
  Pending call;
  std::string *why;
  ProductForm form;

  std::nullopt_t no(const Twine &reason) {
    if (why)
      *why = reason.str();
    return std::nullopt;
  }

  CallArgument valueArgument(Value inner, int64_t offsetElements = 0) {
    Value value = outside(fusion, inner);
    CallArgument argument{CallArgument::Kind::Value, value};
    argument.offset = offsetElements * ref::elementBytes(typeOf(value).getElementType());
    return argument;
  }

  void addSource(StringRef name, Value inner, int64_t offsetElements = 0) {
    call.sources.push_back({name.str(), valueArgument(inner, offsetElements)});
  }

  void addResult(int64_t offsetElements = 0) {
    CallArgument argument{CallArgument::Kind::Result};
    argument.offset =
        offsetElements * ref::elementBytes(typeOf(fusion.getResult(0)).getElementType());
    call.sources.push_back({"dst", argument});
  }

  /// An operand that is made of another tensor, or summed up, as it is packed.
  void addPrologue(const Prologue &prologue) {
    bool isLeft = epilogue.lhs.base == prologue.made;
    (isLeft ? epilogue.lhs : epilogue.rhs).base = prologue.x;
    json desc = {{"of", isLeft ? "a" : "b"}, {"row", typeOf(prologue.x).getShape().back()}};
    if (prologue.exponential)
      desc["exp"] = true;
    auto add = [&](const char *name, Value row) {
      if (!row)
        return;
      desc[name] = typeOf(row).getNumElements() > 1 ? 1 : 0;
      addSource(name, row);
    };
    add("shift", prologue.shift);
    add("factor", prologue.factor);
    add("hot", prologue.hot);
    if (prologue.hot)
      desc["hot"] = prologue.value;
    if (prologue.sums) {
      desc["sums"] = true;
      CallArgument sums{CallArgument::Kind::Result};
      sums.result = 1;
      call.sources.push_back({"sums", sums});
    }
    call.desc["prologue"] = desc;
  }

  /// Whether the last post-op adds to what the result replaces: then the library adds in place.
  bool isUpdate(const PostOp &postOp) {
    auto updates = fusion->getAttrOfType<IntegerAttr>(kUpdatesAttr);
    return updates && &postOp == &epilogue.postOps.back() &&
           outside(fusion, postOp.operand) == fusion.getInputs()[updates.getInt()];
  }

  /// A factor before the old value is added is a scale of the product: unlike post-ops before a
  /// sum, all of the library's products take it.
  void takeScale() {
    SmallVector<PostOp> &postOps = epilogue.postOps;
    if (postOps.size() != 2 || postOps[0].kind != PostOp::Kind::Eltwise ||
        postOps[0].alg != "linear" || postOps[0].beta != 0 || !isUpdate(postOps[1]) ||
        !typeOf(epilogue.lhs.base).getElementType().isF32())
      return;
    auto scale =
        ref::Tensor::empty(RankedTensorType::get({1}, Float32Type::get(fusion.getContext())));
    scale.setDouble(0, postOps[0].alpha);
    call.desc["scales"] = {{"src", 0}};
    call.packs.push_back({"scales.src", scale, "a"});
    postOps.erase(postOps.begin());
  }

  /// Post-ops against a destination of `dims`; `dimsOf` gives an operand's dimensions there.
  bool addPostOps(function_ref<std::optional<json>(const PostOp &)> operandDesc) {
    json list = json::array();
    size_t index = 0;
    for (const PostOp &postOp : epilogue.postOps) {
      if (postOp.kind == PostOp::Kind::Eltwise) {
        list.push_back({{"kind", "eltwise"},
                        {"alg", postOp.alg},
                        {"alpha", postOp.alpha},
                        {"beta", postOp.beta}});
      } else if (isUpdate(postOp)) {
        list.push_back({{"kind", "sum"}, {"scale", postOp.scale}});
        call.accumulates = valueArgument(postOp.operand);
      } else if (postOp.scale != 1) {
        return false;
      } else {
        auto desc = operandDesc(postOp);
        if (!desc)
          return false;
        (*desc)["kind"] = "binary";
        (*desc)["alg"] = postOp.alg;
        list.push_back(*desc);
        addSource("post" + std::to_string(index), postOp.operand);
      }
      ++index;
    }
    if (!list.empty())
      call.desc["post_ops"] = list;
    return true;
  }
};

bool isDense(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  auto dense = ref::rowMajorStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != dense[d])
      return false;
  return true;
}

/// Strides of size-1 dimensions are free: give them those of a dense tensor, as oneDNN's checks
/// expect.
SmallVector<int64_t> tidyStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> result(strides);
  int64_t next = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1)
      result[d] = next;
    next = std::max(next, result[d] * shape[d]);
  }
  return result;
}

std::optional<LibraryCall> matmul(Builder &b, int threads) {
  Epilogue &e = b.epilogue;
  Type element = typeOf(e.lhs.base).getElementType();
  Type result = typeOf(b.fusion.getResult(0)).getElementType();
  size_t rank = std::max(e.lhs.shape.size(), e.rhs.shape.size());
  auto aligned = [&](StridedView &v) {
    v.shape.insert(v.shape.begin(), rank - v.shape.size(), 1);
    v.strides.insert(v.strides.begin(), rank - v.strides.size(), 0);
  };
  aligned(e.lhs), aligned(e.rhs), aligned(e.destination);
  int64_t m = e.lhs.shape[rank - 2], k = e.lhs.shape[rank - 1], n = e.rhs.shape[rank - 1],
          batch = 1;
  if (k == 0)
    return b.no("an empty sum");
  bool sharedRhs = true, rows = isDense(e.lhs.shape, e.lhs.strides) &&
                                isDense(e.destination.shape, e.destination.strides);
  for (size_t d = 0; d + 2 < rank; ++d) {
    batch *= e.destination.shape[d];
    sharedRhs &= e.rhs.shape[d] == 1;
    rows &= e.lhs.shape[d] == e.destination.shape[d];
  }
  // One tall product where all batches share the right operand.
  bool flat = rank == 2 || (sharedRhs && rows);
  b.call.flops = 2.0 * double(batch) * double(m) * double(k) * double(n);
  ConstantOp weights = constantOf(outside(b.fusion, e.rhs.base));
  json &desc = b.call.desc;
  desc["kind"] = "matmul";
  SmallVector<int64_t> dstDims;
  if (flat) {
    int64_t tall = batch * m;
    if (rank > 2) {
      desc["src"] = argument({tall, k}, element);
      desc["dst"] = argument({tall, n}, result);
    } else {
      desc["src"] = strided({m, k}, tidyStrides({m, k}, e.lhs.strides), element);
      desc["dst"] = strided({m, n}, tidyStrides({m, n}, e.destination.strides), result);
    }
    dstDims = {tall, n};
    SmallVector<int64_t> strides(e.rhs.strides.end() - 2, e.rhs.strides.end());
    bool straight = isDense({k, n}, strides), crossed = isDense({n, k}, {strides[1], strides[0]});
    if (weights && (straight || crossed) && e.rhs.offset == 0 &&
        typeOf(weights.getY()).getNumElements() == k * n) {
      auto plain = ref::Tensor::fromAttr(weights.getValue());
      if (failed(plain))
        return b.no("its weights cannot be read");
      desc["weights"] = argument({k, n}, element, "any");
      b.call.packs.push_back({"weights", *plain, straight ? "ab" : "ba"});
    } else {
      desc["weights"] = strided({k, n}, tidyStrides({k, n}, strides), element);
      b.addSource("weights", e.rhs.base, e.rhs.offset);
    }
  } else {
    desc["src"] = strided(e.lhs.shape, tidyStrides(e.lhs.shape, e.lhs.strides), element);
    desc["weights"] = strided(e.rhs.shape, tidyStrides(e.rhs.shape, e.rhs.strides), element);
    desc["dst"] = strided(e.destination.shape,
                          tidyStrides(e.destination.shape, e.destination.strides), result);
    dstDims = SmallVector<int64_t>(e.destination.shape);
    b.addSource("weights", e.rhs.base, e.rhs.offset);
  }
  b.addSource("src", e.lhs.base, e.lhs.offset);
  b.addResult(e.destination.offset);
  if (e.bias) {
    SmallVector<int64_t> dims(dstDims.size(), 1);
    dims.back() = n;
    desc["bias"] = argument(dims, typeOf(e.bias).getElementType());
    b.addSource("bias", e.bias);
  }
  b.takeScale();
  bool ok = b.addPostOps([&](const PostOp &postOp) -> std::optional<json> {
    auto shape = typeOf(postOp.operand).getShape();
    Type type = typeOf(postOp.operand).getElementType();
    SmallVector<int64_t> dims(dstDims.size(), 1);
    if (typeOf(postOp.operand).getNumElements() == 1)
      return argument(dims, type);
    if (postOp.isFullSize(e.destination.shape) ||
        typeOf(postOp.operand).getNumElements() == batch * m * n) {
      if (!flat && !isDense(e.destination.shape, e.destination.strides))
        return argument(dstDims, type);
      return argument(dstDims, type);
    }
    if (shape.back() != n)
      return std::nullopt;
    dims.back() = n;
    return argument(dims, type);
  });
  if (!ok)
    return b.no("a post-op's operand has a shape or factor that oneDNN does not take");
  return b.form.isOwn() ? ownProduct(std::move(b.call), b.form, b.why)
                        : finish(std::move(b.call), threads, b.why);
}

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

std::optional<LibraryCall> convolution(Builder &b, int threads) {
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
  bool ok = b.addPostOps([&](const PostOp &postOp) -> std::optional<json> {
    auto type = typeOf(postOp.operand);
    SmallVector<int64_t> dims(rank, 1);
    if (type.getNumElements() == 1)
      return argument(dims, type.getElementType());
    if (type.getShape() == yType.getShape())
      return argument(postOp.operand);
    if (type.getNumElements() != yType.getDimSize(1))
      return std::nullopt;
    dims[1] = yType.getDimSize(1);
    return argument(dims, type.getElementType());
  });
  if (!ok)
    return b.no("a post-op's operand has a shape or factor that oneDNN does not take");
  if (!transposed || bias || desc.contains("post_ops"))
    return finish(std::move(b.call), threads, b.why);
  auto asGradient = finish(dataGradient(b.call, transposed, element), threads, b.why);
  if ((asGradient && !isSlow(*asGradient)) || !layoutOf(w.getType()).empty())
    return asGradient;
  auto direct = finish(b.call, threads, b.why);
  return !direct || (asGradient && isSlow(*direct)) ? asGradient : direct;
}

std::optional<LibraryCall> pool(Builder &b, int threads) {
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
  int64_t window = 1;
  for (int64_t size : max ? max.getWindow() : avg.getWindow())
    window *= size;
  b.call.flops = double(typeOf(b.fusion.getResult(0)).getNumElements()) * double(window);
  b.addSource("src", op->getOperand(0));
  b.addResult();
  return finish(std::move(b.call), threads, b.why);
}

} // namespace

/// What stands around the product of a fusion that makes an operand first: views of it are views of
/// what it is made of.
static std::optional<Epilogue> epilogueAfter(const Prologue &prologue, FusionOp fusion) {
  Block &body = fusion.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (!isa<ConstantOp>(op) && !llvm::is_contained(prologue.ops, &op))
      ops.push_back(&op);
  auto epilogue = matchEpilogue(ops, body.getTerminator()->getOperand(0), /*gradients=*/true);
  if (!epilogue || (epilogue->lhs.base == prologue.made) == (epilogue->rhs.base == prologue.made))
    return std::nullopt;
  return epilogue;
}

std::optional<LibraryCall> contraction(FusionOp fusion, int threads, std::string *why,
                                       ProductForm form) {
  auto prologue = form.isOwn() ? matchPrologue(fusion) : std::nullopt;
  auto epilogue = prologue ? epilogueAfter(*prologue, fusion) : matchEpilogue(fusion, form.isOwn());
  if (!epilogue) {
    if (why)
      *why = "not one contraction with post-ops";
    return std::nullopt;
  }
  if (fusion->hasAttr(kUpdatesAttr))
    foldUpdate(*epilogue);
  Builder b{fusion, *epilogue, {}, why, form};
  b.call.op = fusion;
  Type element = typeOf(fusion.getResult(0)).getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isF16())
    return b.no("element type " + elementName(element) + " is none of oneDNN's");
  if (typeOf(fusion.getResult(0)).getNumElements() == 0)
    return b.no("empty result");
  if (prologue && prologue->changes() && !form.parts)
    return b.no("only tiles change operands as they pack them");
  if (form.isOwn() && !isa<MatmulOp>(epilogue->anchor))
    return b.no("no matrix product");
  // What `--matmul-precision medium` allows.
  if (auto math = epilogue->anchor->getAttrOfType<StringAttr>("dlc.math"); math && math == "bf16")
    b.call.desc["math"] = math.str();
  if (prologue)
    b.addPrologue(*prologue);
  if (isa<MatmulOp>(epilogue->anchor))
    return matmul(b, threads);
  if (isa<ConvOp, ConvTransposeOp>(epilogue->anchor))
    return convolution(b, threads);
  return pool(b, threads);
}

} // namespace dlc::onednn_desc

//===- Tiles.cpp - products of f32 by our own kernels, on tiles and in vectors ===//
#include "codegen/select/Enlarged.h"
#include "codegen/select/OnednnDesc.h"
#include "codegen/select/TilesDesc.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/library/vectors/Describe.h"

#include <cstdlib>

using namespace mlir;

namespace dlc {

namespace tiles_desc {

const char *implementationOf(int parts) { return parts == 2 ? "tiles:bf16x3" : "tiles:bf16x6"; }

bool takesSteps(const json &steps, int64_t k) {
  for (const json &step : steps) {
    std::string kind = step["kind"], alg = step.value("alg", "");
    bool known = true;
    if (kind == "sum")
      known = k <= products::kDepthAtOnce || (steps.size() == 1 && step.value("scale", 1.0) == 1);
    else if (kind == "eltwise")
      known = llvm::is_contained(
          {"relu", "clip", "linear", "logistic", "tanh", "gelu_erf", "gelu_tanh", "square"}, alg);
    else
      known = llvm::is_contained(
          {"add", "mul", "sub", "logistic_gradient", "tanh_gradient", "relu_gradient"}, alg);
    if (!known)
      return false;
  }
  return steps.size() <= size_t(products::kMostPosts);
}

/// Constant weights of [k, n] (`crossed`: of [n, k]) in `bytes` that pack(from, row stride, column
/// stride, to) fills.
static CallArgument packedBy(const ref::Tensor &plain, bool crossed, int64_t k, int64_t n,
                             uint64_t bytes, std::string layout,
                             std::function<void(const float *, int64_t, int64_t, void *)> pack) {
  CallArgument packed{CallArgument::Kind::Packed};
  packed.bytes = int64_t(bytes);
  packed.layout = std::move(layout);
  packed.pack = [=](std::string &error) -> std::shared_ptr<void> {
    std::shared_ptr<void> data(std::aligned_alloc(64, (bytes + 63) / 64 * 64), std::free);
    if (data)
      pack(reinterpret_cast<const float *>(plain.data()), crossed ? 1 : n, crossed ? k : 1,
           data.get());
    else
      error = "no memory for packed weights";
    return data;
  };
  return packed;
}

static std::string layoutOf(const char *kind, int64_t k, int64_t n, int64_t form) {
  return kind + (":" + std::to_string(k) + "x" + std::to_string(n) + "x") + std::to_string(form);
}

CallArgument packedWeights(const ref::Tensor &plain, bool crossed, int64_t k, int64_t n,
                           int parts) {
  return packedBy(plain, crossed, k, n, tiles::packedBytes(k, n, parts),
                  layoutOf("tiles", k, n, parts),
                  [=](const float *from, int64_t row, int64_t column, void *to) {
                    tiles::packWeights(from, row, column, k, n, parts, to);
                  });
}

static CallArgument packedForVectors(const ref::Tensor &plain, bool crossed, int64_t k, int64_t n,
                                     int64_t lanes) {
  return packedBy(plain, crossed, k, n, vectors::packedBytes(k, n, lanes),
                  layoutOf("vectors", k, n, lanes),
                  [=](const float *from, int64_t row, int64_t column, void *to) {
                    vectors::packWeights(from, row, column, k, n, lanes, to);
                  });
}

/// As they are, [k, n].
static CallArgument plainWeights(const ref::Tensor &plain, bool crossed, int64_t k, int64_t n) {
  return packedBy(plain, crossed, k, n, uint64_t(k * n) * sizeof(float), layoutOf("rows", k, n, 0),
                  [=](const float *from, int64_t row, int64_t column, void *to) {
                    for (int64_t i = 0; i < k; ++i)
                      for (int64_t j = 0; j < n; ++j)
                        static_cast<float *>(to)[i * n + j] = from[i * row + j * column];
                  });
}

} // namespace tiles_desc

namespace onednn_desc {

namespace {

std::vector<int64_t> dimsOf(const json &argument) {
  return argument["dims"].get<std::vector<int64_t>>();
}

/// Nothing for a layout that is no permutation of its own dimensions.
std::optional<std::vector<int64_t>> stridesOf(const json &argument) {
  if (argument.contains("strides"))
    return argument["strides"].get<std::vector<int64_t>>();
  auto dims = dimsOf(argument);
  if (argument["tag"] != plainTag(dims.size()))
    return std::nullopt;
  return std::vector<int64_t>(ref::rowMajorStrides(dims));
}

bool isF32(const json &argument) { return argument["dtype"] == "f32"; }

/// Strides of an operand that repeats itself where it has one element.
std::optional<std::vector<int64_t>> repeated(const json &operand) {
  auto strides = stridesOf(operand);
  if (!strides || !isF32(operand))
    return std::nullopt;
  auto dims = dimsOf(operand);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == 1)
      (*strides)[d] = 0;
  return strides;
}

void turn(std::vector<int64_t> &strides) { std::swap(strides[strides.size() - 2], strides.back()); }

/// The post-ops in the tiles' words; nothing where an operand does not lie row by row. `turned`: of
/// the product's transposition.
std::optional<json> stepsOf(const json &ops, bool turned) {
  json steps = json::array();
  for (const json &op : ops) {
    if (op["kind"] != "binary") {
      steps.push_back(op);
      continue;
    }
    auto strides = repeated(op);
    if (strides && turned)
      turn(*strides);
    if (!strides || strides->back() > 1)
      return std::nullopt;
    steps.push_back({{"kind", "binary"}, {"alg", op["alg"]}, {"strides", *strides}});
  }
  return steps;
}

/// Where elements of an operand are changed as they are packed, they lie in rows that end where the
/// memory's do.
bool addPrologue(const json &desc, const Pending &pending, LibraryCall &call) {
  bool isLeft = desc["of"] == "a";
  const json &strides = call.desc[isLeft ? "a" : "b"];
  if (!strides.is_array())
    return false;
  size_t rank = strides.size();
  int64_t row = desc["row"], lane = strides[isLeft ? rank - 2 : rank - 1],
          depth = strides[isLeft ? rank - 1 : rank - 2];
  bool across = lane == 1 && depth == row;
  if (!across && !(depth == 1 && lane == row))
    return false;
  for (size_t d = 0; d + 2 < rank; ++d)
    if (strides[d].get<int64_t>() % row != 0)
      return false;
  if (call.desc[!across  ? "k"
                : isLeft ? "m"
                         : "n"]
              .get<int64_t>() != row ||
      (desc.contains("sums") && (!across || rank > 2)))
    return false;
  call.desc["prologue"] = desc;
  for (const char *name : {"shift", "factor", "hot", "sums"})
    for (auto &[given, source] : pending.sources)
      if (given == name) {
        call.arguments.push_back(source);
        double elements =
            source.kind == CallArgument::Kind::Value
                ? double(cast<RankedTensorType>(source.value.getType()).getNumElements())
                : double(row);
        call.bytes += (given == "hot" ? 8.0 : 4.0) * elements;
      }
  return true;
}

} // namespace

std::optional<LibraryCall> ownProduct(Pending pending, ProductForm form, std::string *why) {
  Refusal no{why};
  const json &desc = pending.desc, &src = desc["src"], &weights = desc["weights"],
             &dst = desc["dst"];
  if (!isF32(src) || !isF32(weights) || !isF32(dst) ||
      (desc.contains("bias") && !isF32(desc["bias"])))
    return no("not a product of f32");
  auto dims = dimsOf(dst);
  size_t rank = dims.size();
  int64_t m = dims[rank - 2], n = dims[rank - 1], k = dimsOf(src).back();
  if (k == 0)
    return no("an empty sum");
  auto a = repeated(src), y = stridesOf(dst);
  // What is wanted column by column is the transposed product of the transposed operands, row by
  // row.
  bool turned = a && y && y->back() != 1 && (*y)[rank - 2] == 1;
  if (turned)
    turn(*a), turn(*y), std::swap(m, n);
  if (!a || !y || y->back() != 1)
    return no("the result lies neither row by row nor column by column");
  LibraryCall call;
  call.library = form.parts ? "tiles" : "vectors";
  call.implementation = form.parts ? tiles_desc::implementationOf(form.parts)
                                   : std::string(form.isStrassen ? "strassen" : "vectors") +
                                         (form.lanes == 16 ? ":avx512" : ":avx2");
  call.flops = pending.flops;
  call.accumulates = pending.accumulates;
  call.desc = {{"kind", "product"},      {"m", m},   {"n", n}, {"k", k},
               {turned ? "b" : "a", *a}, {"dst", *y}};
  if (form.parts)
    call.desc["parts"] = form.parts;
  else
    call.desc["lanes"] = form.lanes;
  if (form.isStrassen) {
    if (turned || rank > 2 || m < products::kStrassenRows || n <= 2 * form.lanes || k < 2)
      return no("a batch, column by column, or too small for quarters");
    call.desc["strassen"] = true;
  }
  if (rank > 2)
    call.desc["batch"] = std::vector<int64_t>(dims.begin(), dims.end() - 2);
  auto add = [&](StringRef name, const json &argument) {
    for (auto &[given, source] : pending.sources)
      if (name == given)
        call.arguments.push_back(source);
    call.bytes += 4.0 * double(ShapedType::getNumElements(dimsOf(argument)));
  };
  if (!turned)
    add("src", src);
  const Pending::Pack *constant = nullptr;
  for (const Pending::Pack &pack : pending.packs) {
    if (pack.name == "weights")
      constant = &pack;
    else
      call.desc["scale"] = pack.plain.getDouble(0);
  }
  if (constant && turned) {
    call.desc["a"] = {k, 1};
    call.arguments.push_back(
        tiles_desc::plainWeights(constant->plain, constant->tag != "ba", m, k));
    call.bytes += double(call.arguments.back().bytes);
  } else if (constant) {
    bool crossed = constant->tag == "ba";
    call.desc["b"] = form.isStrassen ? nlohmann::json{n, 1} : nlohmann::json("packed");
    call.arguments.push_back(
        form.parts ? tiles_desc::packedWeights(constant->plain, crossed, k, n, form.parts)
        : form.isStrassen
            ? tiles_desc::plainWeights(constant->plain, crossed, k, n)
            : tiles_desc::packedForVectors(constant->plain, crossed, k, n, form.lanes));
    call.bytes += double(call.arguments.back().bytes);
  } else {
    auto b = repeated(weights);
    if (!b)
      return no("the right operand has a layout");
    if (turned)
      turn(*b);
    call.desc[turned ? "a" : "b"] = *b;
    add("weights", weights);
  }
  if (turned)
    add("src", src);
  // One number for each row is a step.
  bool rowBias = desc.contains("bias") && turned;
  if (desc.contains("bias") && !rowBias) {
    call.desc["bias"] = true;
    add("bias", desc["bias"]);
  }
  add("dst", dst);
  json steps = json::array();
  if (rowBias) {
    auto strides = repeated(desc["bias"]);
    if (!strides)
      return no("its bias has a layout");
    turn(*strides);
    steps.push_back({{"kind", "binary"}, {"alg", "add"}, {"strides", *strides}});
    add("bias", desc["bias"]);
  }
  if (desc.contains("post_ops")) {
    auto later = stepsOf(desc["post_ops"], turned);
    if (!later)
      return no("a post-op's operand that does not lie as the result does");
    steps.insert(steps.end(), later->begin(), later->end());
    for (auto [i, op] : llvm::enumerate(desc["post_ops"]))
      if (op["kind"] == "binary")
        add("post" + std::to_string(i), op);
  }
  if (!tiles_desc::takesSteps(steps, k))
    return no("a post-op that only others have");
  if (!steps.empty())
    call.desc["post_ops"] = steps;
  if (desc.contains("prologue") && (turned || !addPrologue(desc["prologue"], pending, call)))
    return no("an operand that is made first does not lie row by row");
  return call;
}

} // namespace onednn_desc

std::optional<LibraryCall> tilesCall(Operation *op, int parts, std::string *why) {
  Refusal no{why};
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion)
    return no("not a fusion");
  if (!tiles::available())
    return no("no tiles for bf16 (AMX) here");
  if (isProduct(fusion))
    return onednn_desc::contraction(fusion, 1, why, {.parts = parts});
  return tiles_desc::convolution(fusion, parts, no);
}

std::optional<LibraryCall> vectorsCall(Operation *op, int64_t lanes, std::string *why,
                                       bool isStrassen) {
  Refusal no{why};
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion || !isProduct(fusion))
    return no("no matrix product");
  if (vectors::lanes() < lanes)
    return no("this processor's vectors are shorter");
  return onednn_desc::contraction(fusion, 1, why, {.lanes = lanes, .isStrassen = isStrassen});
}

} // namespace dlc

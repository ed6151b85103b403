//===- Parse.cpp - what descriptions of products have in common -----------------===//
#include "runtime/library/products/Parse.h"

#include "runtime/library/products/Product.h"
#include "runtime/program/Message.h"

namespace dlc::products {

using nlohmann::json;
using runtime::fail;

namespace {

Post eltwise(const json &op) {
  static constexpr std::pair<const char *, PostKind> known[] = {
      {"relu", PostKind::Relu},          {"clip", PostKind::Clip},
      {"linear", PostKind::Linear},      {"logistic", PostKind::Logistic},
      {"tanh", PostKind::Tanh},          {"gelu_erf", PostKind::GeluErf},
      {"gelu_tanh", PostKind::GeluTanh}, {"square", PostKind::Square}};
  std::string alg = op.value("alg", "");
  for (const auto &[name, kind] : known)
    if (alg == name)
      return {kind, op.value("alpha", alg == "linear" ? 1.0f : 0.0f), op.value("beta", 0.0f), {}};
  fail("product: unknown eltwise post-op '", alg, "'");
}

PostKind binary(const std::string &alg) {
  static constexpr std::pair<const char *, PostKind> known[] = {
      {"add", PostKind::Add},
      {"mul", PostKind::Mul},
      {"sub", PostKind::Sub},
      {"logistic_gradient", PostKind::LogisticGradient},
      {"tanh_gradient", PostKind::TanhGradient},
      {"relu_gradient", PostKind::ReluGradient}};
  for (const auto &[name, kind] : known)
    if (alg == name)
      return kind;
  fail("product: unknown binary post-op '", alg,
       "': add, mul, sub or a gradient (of logistic, tanh, relu) expected");
}

} // namespace

int64_t sizeOf(const json &desc, const char *name) {
  constexpr int64_t most = int64_t(1) << 40;
  if (!desc.contains(name) || !desc[name].is_number_integer() || desc[name].get<int64_t>() < 1 ||
      desc[name].get<int64_t>() > most)
    fail("product: '", name, "' must be an integer from 1 on, found ",
         desc.contains(name) ? desc[name].dump() : "none");
  return desc[name].get<int64_t>();
}

void sizesOf(const json &desc, const char *name, size_t count, int64_t least, int64_t *to) {
  const json &list = desc.contains(name) ? desc[name] : json();
  bool good = list.is_array() && list.size() == count;
  for (size_t i = 0; good && i < count; ++i) {
    good = list[i].is_number_integer() && list[i].get<int64_t>() >= least &&
           list[i].get<int64_t>() <= (int64_t(1) << 31);
    to[i] = good ? list[i].get<int64_t>() : 0;
  }
  if (!good)
    fail("product: '", name, "' must be ", count, " integers from ", least, " on, found ",
         list.dump());
}

std::vector<int64_t> stridesOf(const json &value, size_t rank, const char *what) {
  bool good = value.is_array() && value.size() == rank;
  std::vector<int64_t> strides;
  for (size_t i = 0; good && i < rank; ++i) {
    good = value[i].is_number_integer() && value[i].get<uint64_t>() <= uint64_t(1) << 40;
    strides.push_back(good ? value[i].get<int64_t>() : 0);
  }
  if (!good)
    fail("product: '", what, "' must have ", rank, " strides of at least 0, found ", value.dump());
  return strides;
}

int partsOf(const json &desc) {
  int parts = desc.value("parts", 2);
  if (parts < 1 || parts > 3)
    fail("product: parts must be 1, 2 or 3, found ", parts);
  return parts;
}

Posts postsOf(const json &desc, size_t rank, int64_t k) {
  Posts posts;
  Epilogue &epilogue = posts.epilogue;
  epilogue.scale = desc.value("scale", 1.0f);
  if (!desc.contains("post_ops"))
    return posts;
  const json &ops = desc["post_ops"];
  if (!ops.is_array() || ops.size() > static_cast<size_t>(kMostPosts))
    fail("product: post_ops must be an array of at most ", kMostPosts, ", found ", ops.dump());
  for (const json &op : ops) {
    std::string kind = op.is_object() ? op.value("kind", "") : "";
    Post post;
    if (kind == "eltwise") {
      post = eltwise(op);
    } else if (kind == "sum") {
      post.kind = PostKind::Sum;
      post.alpha = op.value("scale", 1.0f);
      if (epilogue.count + 1 != static_cast<int>(ops.size()) ||
          (k > kDepthAtOnce && (epilogue.count > 0 || post.alpha != 1)))
        fail("product: a sum must be the last post-op, and alone where k is more than ",
             kDepthAtOnce);
    } else if (kind == "binary") {
      post.kind = binary(op.value("alg", ""));
      auto strides = stridesOf(op.contains("strides") ? op["strides"] : json(), rank, "post_ops");
      if (strides.back() > 1)
        fail("product: a post-op's operand must lie row by row, found ", op.dump());
      post.operand.row = strides[rank - 2];
      post.operand.column = strides[rank - 1];
      posts.operandStrides.push_back(strides);
    } else {
      fail("product: unknown post-op ", op.dump(), ": eltwise, sum or binary expected");
    }
    epilogue.posts[epilogue.count++] = post;
  }
  return posts;
}

} // namespace dlc::products

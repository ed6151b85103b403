//===- PostOps.cpp - parsed description of a matmul's epilogue ------------===//
#include "runtime/library/describe/PostOps.h"

#include "runtime/epilogue/ConvertOps.h"
#include "runtime/epilogue/EpilogueTable.h"

namespace dlc::describe {

using simd::Epilogue;
using simd::PostOp;
using simd::PostOpKind;

/// Returns the kind of an op with an operand, or nullopt for other ops.
static std::optional<PostOpKind> binaryKindOf(schema::PostOpAlgorithm algorithm) {
  switch (algorithm) {
#define BINARY(enumerator, ...)
#define OWN_BINARY(enumerator, ...)                                                                \
  case schema::PostOpAlgorithm::enumerator:                                                        \
    return PostOpKind::enumerator;
#include "runtime/epilogue/EpilogueOps.def"
  default:
    return std::nullopt;
  }
}

/// Returns the post-op's kind and activation. The parameters and the operand are not set.
static PostOp parsePostOp(const schema::PostOp &op) {
  using Kind = schema::PostOpKind;
  if (op.kind == Kind::Sum && !op.alg)
    return {.kind = PostOpKind::Sum};
  if (op.kind == Kind::Eltwise && op.alg)
    if (auto activation = activationOf(*op.alg))
      return {.activation = *activation};
  if (op.kind == Kind::Binary && op.alg)
    if (auto kind = binaryKindOf(*op.alg))
      return {.kind = *kind};
  op.complain("unknown ", nameOf(op.kind), " post-op '", op.alg ? nameOf(*op.alg) : "", "'");
}

PostOps PostOps::of(const schema::Record &fields, const std::vector<schema::PostOp> &ops,
                    double scale, size_t rank) {
  PostOps posts;
  Epilogue &epilogue = posts.epilogue;
  epilogue.scale = static_cast<float>(scale);
  for (const schema::PostOp &op : ops) {
    PostOp post = parsePostOp(op);
    if (post.kind == PostOpKind::Sum) {
      post.alpha = static_cast<float>(op.scale.value_or(1));
      if (&op != &ops.back())
        op.complain("a sum must be the last post-op");
    } else if (hasOperand(post)) {
      const schema::Integers strides = op.strides.value_or(schema::Integers());
      if (strides.size() != rank)
        op.complain("'strides' must be ", rank, " integers; found: ", runtime::formatList(strides));
      posts.operandStrides.push_back(strides);
      if (strides.back() > 1)
        op.complain("a post-op's operand must be row-major; found strides ",
                    runtime::formatList(strides));
      post.operand.row = strides[rank - 2];
      post.operand.column = strides[rank - 1];
    } else {
      const ActivationInfo &info = infoOf(post.activation);
      post.alpha = activationParameter(post.activation, op.alpha.value_or(info.alpha));
      post.beta = activationParameter(post.activation, op.beta.value_or(info.beta));
    }
    epilogue.posts[epilogue.count++] = post;
  }
  return posts;
}

} // namespace dlc::describe

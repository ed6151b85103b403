//===- PostOps.cpp - parsed description of a matmul's epilogue ------------===//
#include "runtime/library/describe/PostOps.h"

#include "runtime/epilogue/EpilogueTable.h"

namespace dlc::describe {

using simd::Epilogue;
using simd::PostOp;
using simd::PostOpKind;

/// Returns the post-op's kind and activation. The parameters and the operand are not set.
static PostOp readPostOp(const Fields &op) {
  static constexpr std::pair<const char *, PostOpKind> binary[] = {
#define BINARY(enumerator, ...)
#define OWN_BINARY(enumerator, name, ...) {name, PostOpKind::enumerator},
#include "runtime/epilogue/EpilogueOps.def"
  };
  std::string kind = op.kind(), alg = op.word("alg");
  if (kind == "sum" && alg.empty())
    return {.kind = PostOpKind::Sum};
  if (kind == "eltwise")
    if (auto activation = parseActivation(alg))
      return {.activation = *activation};
  if (kind == "binary")
    for (auto [name, is] : binary)
      if (alg == name)
        return {.kind = is};
  op.complain("unknown ", kind, " post-op '", alg, "'");
}

PostOps PostOps::read(const Fields &fields, size_t rank) {
  PostOps posts;
  Epilogue &epilogue = posts.epilogue;
  epilogue.scale = static_cast<float>(fields.number("scale", 1));
  std::vector<Fields> ops = fields.list("post_ops", simd::kMaxPosts);
  for (const Fields &op : ops) {
    PostOp post = readPostOp(op);
    if (post.kind == PostOpKind::Sum) {
      post.alpha = static_cast<float>(op.number("scale", 1));
      if (&op != &ops.back())
        op.complain("a sum must be the last post-op");
    } else if (hasOperand(post)) {
      posts.operandStrides.push_back(op.integers("strides", rank, 0, kMaxSize));
      const std::vector<int64_t> &strides = posts.operandStrides.back();
      if (strides.back() > 1)
        op.complain("a post-op's operand must be row-major; found strides ",
                    runtime::formatList(strides));
      post.operand.row = strides[rank - 2];
      post.operand.column = strides[rank - 1];
    } else {
      const ActivationInfo &info = infoOf(post.activation);
      post.alpha = activationParameter(post.activation, op.number("alpha", info.alpha));
      post.beta = activationParameter(post.activation, op.number("beta", info.beta));
    }
    epilogue.posts[epilogue.count++] = post;
  }
  return posts;
}

} // namespace dlc::describe

//===- Posts.cpp - what comes after a sum of products, described ------------------===//
#include "runtime/library/describe/Posts.h"

namespace dlc::describe {

using simd::Epilogue;
using simd::Post;
using simd::PostKind;

static PostKind kindOf(const Fields &op) {
  static constexpr struct {
    const char *kind, *alg;
    PostKind is;
  } known[] = {{"eltwise", "relu", PostKind::Relu},
               {"eltwise", "clip", PostKind::Clip},
               {"eltwise", "linear", PostKind::Linear},
               {"eltwise", "logistic", PostKind::Logistic},
               {"eltwise", "tanh", PostKind::Tanh},
               {"eltwise", "gelu_erf", PostKind::GeluErf},
               {"eltwise", "gelu_tanh", PostKind::GeluTanh},
               {"eltwise", "square", PostKind::Square},
               {"binary", "add", PostKind::Add},
               {"binary", "mul", PostKind::Mul},
               {"binary", "sub", PostKind::Sub},
               {"binary", "logistic_gradient", PostKind::LogisticGradient},
               {"binary", "tanh_gradient", PostKind::TanhGradient},
               {"binary", "relu_gradient", PostKind::ReluGradient},
               {"sum", "", PostKind::Sum}};
  std::string kind = op.kind(), alg = op.word("alg");
  for (const auto &one : known)
    if (kind == one.kind && alg == one.alg)
      return one.is;
  op.complain("unknown ", kind, " post-op '", alg, "'");
}

Posts Posts::read(const Fields &fields, size_t rank) {
  Posts posts;
  Epilogue &epilogue = posts.epilogue;
  epilogue.scale = static_cast<float>(fields.number("scale", 1));
  std::vector<Fields> ops = fields.list("post_ops", simd::kMostPosts);
  for (const Fields &op : ops) {
    Post post;
    post.kind = kindOf(op);
    if (post.kind == PostKind::Sum) {
      post.alpha = static_cast<float>(op.number("scale", 1));
      if (&op != &ops.back())
        op.complain("a sum must be the last post-op");
    } else if (hasOperand(post)) {
      posts.operandStrides.push_back(op.integers("strides", rank, 0, kMaxSize));
      const std::vector<int64_t> &strides = posts.operandStrides.back();
      if (strides.back() > 1)
        op.complain("a post-op's operand must lie row by row, found ", runtime::listed(strides));
      post.operand.row = strides[rank - 2];
      post.operand.column = strides[rank - 1];
    } else {
      post.alpha = static_cast<float>(op.number("alpha", post.kind == PostKind::Linear ? 1 : 0));
      post.beta = static_cast<float>(op.number("beta", 0));
    }
    epilogue.posts[epilogue.count++] = post;
  }
  return posts;
}

} // namespace dlc::describe

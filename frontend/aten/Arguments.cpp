//===- Arguments.cpp - optional arguments that handlers need not read -----===//
#include "frontend/aten/Node.h"

#include "llvm/Support/FormatVariadic.h"

namespace dlc::aten {
namespace {

enum class When {
  always,
  /// Ignored only outside of a training step, because the argument affects only the operator's
  /// gradient. A training step derives the gradient from the operator, so the handler must read the
  /// argument. Other graphs contain the gradient's own operators.
  forwardOnly,
};

/// An optional argument that a handler may leave unread even if the argument differs from its
/// default.
struct Unread {
  const char *op; ///< null means every operator
  const char *argument;
  When when;
  const char *reason;
};

constexpr char ofResults[] =
    "it only determines the types of the results, which the graph contains";
constexpr char ofMemory[] = "it only affects the memory layout";
constexpr char ofLargest[] = "only mode max ignores it, and there padding never contributes";
constexpr char ofGradient[] = "it only affects the gradient";

const Unread table[] = {
    {nullptr, "dtype", When::always, ofResults},
    {nullptr, "out_dtype", When::always, ofResults},
    {nullptr, "out_int32", When::always, ofResults},
    {nullptr, "output_size", When::always, ofResults},
    {nullptr, "keepdim", When::always, ofResults},
    {nullptr, "layout", When::always, ofMemory},
    {nullptr, "device", When::always, ofMemory},
    {nullptr, "pin_memory", When::always, ofMemory},
    {nullptr, "memory_format", When::always, ofMemory},
    {nullptr, "non_blocking", When::always, ofMemory},
    {nullptr, "copy", When::always, ofMemory},
    {nullptr, "implicit", When::always, "it only affects torch.vmap"},
    {"_trilinear.default", "unroll_dim", When::always, "it only affects the order of computation"},
    {"scaled_dot_product_attention.default", "enable_gqa", When::always,
     "the number of heads is derived from the types of the operands"},
    {"_embedding_bag_backward.default", "padding_idx", When::always, ofLargest},
    {"_embedding_bag_dense_backward.default", "padding_idx", When::always, ofLargest},
    {"embedding.default", "padding_idx", When::forwardOnly, ofGradient},
    {"embedding.default", "scale_grad_by_freq", When::forwardOnly, ofGradient},
    {"embedding.default", "sparse", When::forwardOnly, ofGradient},
    {"_embedding_bag.default", "scale_grad_by_freq", When::forwardOnly, ofGradient},
    {"_embedding_bag_forward_only.default", "scale_grad_by_freq", When::forwardOnly, ofGradient},
    {"gather.default", "sparse_grad", When::forwardOnly, ofGradient},
};

bool mayStayUnread(StringRef op, StringRef argument, bool trains) {
  return llvm::any_of(table, [&](const Unread &each) {
    return argument == each.argument && (!each.op || op == each.op) &&
           (each.when == When::always || !trains);
  });
}

/// Formats an argument's value for messages.
std::string shown(const llvm::json::Value &value) {
  return value.getAsObject() ? "a tensor" : llvm::formatv("{0}", value).str();
}

} // namespace

bool Node::checkReads(StringRef op, const llvm::json::Array &set) {
  for (const llvm::json::Value &each : set) {
    StringRef name = each.getAsString().value_or("");
    const llvm::json::Value *value = arguments ? arguments->get(name) : nullptr;
    if (!b.require(value, "set: required: the name of an argument; found '" + name + "'"))
      return false;
    if (!reads.contains(name) && !mayStayUnread(op, name, b.training))
      b.error("argument '" + name + "': required: its default, since dlc does not support other " +
              "values here; found: " + shown(*value) + "; leave the argument out");
  }
  return b.ok();
}

} // namespace dlc::aten

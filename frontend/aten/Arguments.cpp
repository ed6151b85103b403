//===- Arguments.cpp - optional arguments that handlers need not read -----===//
#include "frontend/aten/Node.h"

#include "llvm/Support/FormatVariadic.h"

namespace dlc::aten {
namespace {

enum class IgnoreCondition {
  always,
  /// Ignored only outside of a training step, because the argument affects only the operator's
  /// gradient. A training step derives the gradient from the operator, so the handler must read the
  /// argument. Other graphs contain the gradient's own operators.
  forwardOnly,
};

/// An optional argument that a handler may leave unread even if the argument differs from its
/// default.
struct IgnorableArgument {
  const char *op; ///< null means every operator
  const char *argument;
  IgnoreCondition when;
  const char *reason;
};

constexpr char ofResults[] =
    "it only determines the types of the results, which the graph contains";
constexpr char ofMemory[] = "it only affects the memory layout";
constexpr char ofLargest[] = "only mode max ignores it, and there padding never contributes";
constexpr char ofGradient[] = "it only affects the gradient";

const IgnorableArgument table[] = {
    {nullptr, "dtype", IgnoreCondition::always, ofResults},
    {nullptr, "out_dtype", IgnoreCondition::always, ofResults},
    {nullptr, "out_int32", IgnoreCondition::always, ofResults},
    {nullptr, "output_size", IgnoreCondition::always, ofResults},
    {nullptr, "keepdim", IgnoreCondition::always, ofResults},
    {nullptr, "layout", IgnoreCondition::always, ofMemory},
    {nullptr, "device", IgnoreCondition::always, ofMemory},
    {nullptr, "pin_memory", IgnoreCondition::always, ofMemory},
    {nullptr, "memory_format", IgnoreCondition::always, ofMemory},
    {nullptr, "non_blocking", IgnoreCondition::always, ofMemory},
    {nullptr, "copy", IgnoreCondition::always, ofMemory},
    {nullptr, "implicit", IgnoreCondition::always, "it only affects torch.vmap"},
    {"_trilinear.default", "unroll_dim", IgnoreCondition::always,
     "it only affects the order of computation"},
    {"scaled_dot_product_attention.default", "enable_gqa", IgnoreCondition::always,
     "the number of heads is derived from the types of the operands"},
    {"_embedding_bag_backward.default", "padding_idx", IgnoreCondition::always, ofLargest},
    {"_embedding_bag_dense_backward.default", "padding_idx", IgnoreCondition::always, ofLargest},
    {"embedding.default", "padding_idx", IgnoreCondition::forwardOnly, ofGradient},
    {"embedding.default", "scale_grad_by_freq", IgnoreCondition::forwardOnly, ofGradient},
    {"embedding.default", "sparse", IgnoreCondition::forwardOnly, ofGradient},
    {"_embedding_bag.default", "scale_grad_by_freq", IgnoreCondition::forwardOnly, ofGradient},
    {"_embedding_bag_forward_only.default", "scale_grad_by_freq", IgnoreCondition::forwardOnly,
     ofGradient},
    {"gather.default", "sparse_grad", IgnoreCondition::forwardOnly, ofGradient},
};

bool isIgnorableArgument(StringRef op, StringRef argument, bool trains) {
  return llvm::any_of(table, [&](const IgnorableArgument &each) {
    return argument == each.argument && (!each.op || op == each.op) &&
           (each.when == IgnoreCondition::always || !trains);
  });
}

/// Formats an argument's value for messages.
std::string formatValue(const llvm::json::Value &value) {
  return value.getAsObject() ? "a tensor" : llvm::formatv("{0}", value).str();
}

} // namespace

bool Node::checkReads(StringRef op, const llvm::json::Array &set) {
  for (const llvm::json::Value &each : set) {
    StringRef name = each.getAsString().value_or("");
    const llvm::json::Value *value = arguments ? arguments->get(name) : nullptr;
    if (!b.require(value, "set: required: the name of an argument; found '" + name + "'"))
      return false;
    if (!reads.contains(name) && !isIgnorableArgument(op, name, b.training))
      b.error("argument '" + name + "': required: its default, since dlc does not support other " +
              "values here; found: " + formatValue(*value) + "; leave the argument out");
  }
  return b.ok();
}

} // namespace dlc::aten

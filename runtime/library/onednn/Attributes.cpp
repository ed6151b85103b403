//===- Attributes.cpp - post-ops, math mode and scales of a primitive ---------===//
#include "runtime/epilogue/EpilogueTable.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Operation.h"
#include "runtime/program/Message.h"

#include <oneapi/dnnl/dnnl_debug.h>

namespace dlc::onednn {

using nlohmann::json;
using runtime::fail;

/// Returns the algorithm of `first` to `last` that oneDNN calls `prefix` + `name`.
static dnnl_alg_kind_t findAlgorithm(dnnl_alg_kind_t first, dnnl_alg_kind_t last,
                                     const std::string &prefix, const std::string &name) {
  for (int algorithm = first; algorithm <= last; ++algorithm)
    if (prefix + name == dnnl_alg_kind2str(dnnl_alg_kind_t(algorithm)))
      return dnnl_alg_kind_t(algorithm);
  fail("oneDNN: unknown algorithm '", prefix, name, "'");
}

dnnl_alg_kind_t parseEltwiseAlgorithm(const std::string &name) {
  return findAlgorithm(dnnl_eltwise_relu, dnnl_eltwise_hardswish, "eltwise_", name);
}

dnnl_alg_kind_t parseBinaryAlgorithm(const std::string &name) {
  return findAlgorithm(dnnl_binary_add, dnnl_binary_ne, "binary_", name);
}

static dnnl_fpmath_mode_t parseMathMode(const std::string &name) {
  static constexpr std::pair<const char *, dnnl_fpmath_mode_t> known[] = {
      {"strict", dnnl_fpmath_mode_strict},
      {"bf16", dnnl_fpmath_mode_bf16},
      {"f16", dnnl_fpmath_mode_f16},
      {"tf32", dnnl_fpmath_mode_tf32},
      {"any", dnnl_fpmath_mode_any}};
  for (const auto &[word, mode] : known)
    if (name == word)
      return mode;
  fail("oneDNN: unknown math mode '", name, "'; required: strict, bf16, f16, tf32 or any");
}

float defaultAlpha(const std::string &algorithm) {
  if (auto activation = parseActivation(algorithm))
    return infoOf(*activation).alpha;
  // Algorithms that are not in epilogues. Hardsigmoid has its usual default of x / 6 + 1 / 2.
  return algorithm == "hardsigmoid"                                             ? 1.0f / 6
         : algorithm == "elu" || algorithm == "soft_relu" || algorithm == "pow" ? 1.0f
                                                                                : 0.0f;
}

float defaultBeta(const std::string &algorithm) {
  if (auto activation = parseActivation(algorithm))
    return infoOf(*activation).beta;
  return algorithm == "hardsigmoid" ? 0.5f : 0.0f;
}

/// Returns the parameter `name` (alpha or beta) of an eltwise post-op, or `missing` if the post-op
/// does not specify it.
static float eltwiseParameter(const std::string &algorithm, const json &op, const char *name,
                              float missing) {
  float value = op.value(name, missing);
  auto activation = parseActivation(algorithm);
  return activation ? activationParameter(*activation, value) : value;
}

void PrimitiveBuilder::postOps(dnnl_post_ops_t list) {
  const json &ops = desc["post_ops"];
  if (!ops.is_array())
    fail("oneDNN: post_ops must be an array");
  for (size_t i = 0; i < ops.size(); ++i) {
    const json &op = ops[i];
    std::string kind = op.value("kind", "");
    if (kind == "eltwise") {
      std::string algorithm = op.value("alg", "");
      check(dnnl_post_ops_append_eltwise(
                list, parseEltwiseAlgorithm(algorithm),
                eltwiseParameter(algorithm, op, "alpha", defaultAlpha(algorithm)),
                eltwiseParameter(algorithm, op, "beta", defaultBeta(algorithm))),
            "adding an eltwise post-op");
      // oneDNN's reference implementation computes abs(0) as -0, whose reciprocal square root is
      // minus infinity. Adding 0 changes -0 to +0.
      if (algorithm == "abs")
        check(dnnl_post_ops_append_eltwise(list, dnnl_eltwise_linear, 1, 0),
              "adding 0 to absolute values");
    } else if (kind == "sum") {
      check(dnnl_post_ops_append_sum(list, op.value("scale", 1.0f), 0, dnnl_data_type_undef),
            "adding a sum post-op");
    } else if (kind == "binary") {
      std::string name = "post" + std::to_string(i);
      MemoryDesc md = parseLayout(op, name);
      check(dnnl_post_ops_append_binary(list, parseBinaryAlgorithm(op.value("alg", "")), md.get()),
            "adding a binary post-op");
      const int position = dnnl_post_ops_len(list) - 1;
      slots.push_back({name, DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, false,
                       std::move(md), op.value("tag", "")});
    } else {
      fail("oneDNN: unknown post-op '", kind, "'; required: eltwise, sum or binary");
    }
  }
}

void PrimitiveBuilder::quantization(const char *name, bool scales) {
  static constexpr std::pair<const char *, int> arguments[] = {
      {"src", DNNL_ARG_SRC}, {"weights", DNNL_ARG_WEIGHTS}, {"dst", DNNL_ARG_DST}};
  const describe::Fields masks(desc[name], std::string("oneDNN: '") + name + "'");
  for (const auto &[argument, number] : arguments) {
    if (!masks.has(argument))
      continue;
    int mask = static_cast<int>(masks.integer(argument, 0, (1 << DNNL_MAX_NDIMS) - 1));
    auto set =
        scales ? dnnl_primitive_attr_set_scales_mask : dnnl_primitive_attr_set_zero_points_mask;
    check(set(attr.get(), number, mask), scales ? "setting scales" : "setting zero points");
    int64_t count = 1;
    if (has(argument)) {
      const json &dims = desc[argument]["dims"];
      for (size_t d = 0; d < dims.size() && d < 31; ++d)
        if (mask >> d & 1)
          count *= dims[d].get<int64_t>();
    }
    MemoryDesc md = parseTag("a", {count}, scales ? dnnl_f32 : dnnl_s32);
    int base = scales ? DNNL_ARG_ATTR_SCALES : DNNL_ARG_ATTR_ZERO_POINTS;
    slots.push_back({std::string(name) + "." + argument, base | number, false, std::move(md), "a"});
  }
}

void PrimitiveBuilder::attributes() {
  dnnl_primitive_attr_t made = nullptr;
  check(dnnl_primitive_attr_create(&made), "creating attributes");
  attr.reset(made);
  check(dnnl_primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user),
        "setting the scratchpad mode");
  check(dnnl_primitive_attr_set_fpmath_mode(made, parseMathMode(word("math", "strict"))),
        "setting the math mode");
  if (has("post_ops") && !desc["post_ops"].empty()) {
    dnnl_post_ops_t list = nullptr;
    check(dnnl_post_ops_create(&list), "creating post-ops");
    PostOps owned(list);
    postOps(list);
    check(dnnl_primitive_attr_set_post_ops(made, list), "setting post-ops");
  }
  if (has("scales"))
    quantization("scales", true);
  if (has("zero_points"))
    quantization("zero_points", false);
}

} // namespace dlc::onednn

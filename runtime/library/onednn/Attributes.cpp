//===- Attributes.cpp - post-ops, math mode and scales of a primitive ---------===//
#include "runtime/epilogue/EpilogueTable.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Operation.h"
#include "runtime/program/Message.h"

#include <oneapi/dnnl/dnnl_debug.h>

namespace dlc::onednn {

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

static dnnl_fpmath_mode_t mathModeOf(schema::MathMode mode) {
  // In the order of schema::MathMode.
  static constexpr dnnl_fpmath_mode_t modes[] = {dnnl_fpmath_mode_strict, dnnl_fpmath_mode_bf16,
                                                 dnnl_fpmath_mode_f16, dnnl_fpmath_mode_tf32,
                                                 dnnl_fpmath_mode_any};
  return modes[static_cast<size_t>(mode)];
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

/// Returns the parameter `given` (alpha or beta) of an eltwise post-op, or `missing` if the post-op
/// does not specify it.
static float eltwiseParameter(const std::string &algorithm, const schema::Maybe<double> &given,
                              float missing) {
  float value = static_cast<float>(given.value_or(missing));
  auto activation = parseActivation(algorithm);
  return activation ? activationParameter(*activation, value) : value;
}

void PrimitiveBuilder::postOps(dnnl_post_ops_t list) {
  using Kind = schema::PostOpKind;
  for (size_t i = 0; i < call.postOps.size(); ++i) {
    const schema::OnednnPostOp &op = call.postOps[i];
    const std::string &algorithm = op.alg;
    if (op.kind == Kind::Eltwise) {
      check(dnnl_post_ops_append_eltwise(
                list, parseEltwiseAlgorithm(algorithm),
                eltwiseParameter(algorithm, op.alpha, defaultAlpha(algorithm)),
                eltwiseParameter(algorithm, op.beta, defaultBeta(algorithm))),
            "adding an eltwise post-op");
      // oneDNN's reference implementation computes abs(0) as -0, whose reciprocal square root is
      // minus infinity. Adding 0 changes -0 to +0.
      if (algorithm == "abs")
        check(dnnl_post_ops_append_eltwise(list, dnnl_eltwise_linear, 1, 0),
              "adding 0 to absolute values");
    } else if (op.kind == Kind::Sum) {
      check(dnnl_post_ops_append_sum(list, static_cast<float>(op.scale.value_or(1)), 0,
                                     dnnl_data_type_undef),
            "adding a sum post-op");
    } else {
      std::string name = "post" + std::to_string(i);
      const auto layout = schema::Layout::read(desc.at("post_ops").at(i), "oneDNN: '" + name + "'");
      MemoryDesc md = parseLayout(layout, name);
      check(dnnl_post_ops_append_binary(list, parseBinaryAlgorithm(algorithm), md.get()),
            "adding a binary post-op");
      const int position = dnnl_post_ops_len(list) - 1;
      slots.push_back({name, DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, false,
                       std::move(md), layout.tag.value_or("")});
    }
  }
}

void PrimitiveBuilder::quantization(const schema::QuantizationMasks &masks, bool scales) {
  const struct {
    const char *name;
    int number;
    const schema::Maybe<schema::Size> &mask;
  } arguments[] = {{"src", DNNL_ARG_SRC, masks.src},
                   {"weights", DNNL_ARG_WEIGHTS, masks.weights},
                   {"dst", DNNL_ARG_DST, masks.dst}};
  for (const auto &[argument, number, given] : arguments) {
    if (!given)
      continue;
    const int mask = static_cast<int>(*given);
    auto set =
        scales ? dnnl_primitive_attr_set_scales_mask : dnnl_primitive_attr_set_zero_points_mask;
    check(set(attr.get(), number, mask), scales ? "setting scales" : "setting zero points");
    int64_t count = 1;
    if (auto found = desc.find(argument); found != desc.end() && found->is_object()) {
      const auto dims = schema::Layout::read(*found, "oneDNN").dims;
      for (size_t d = 0; d < dims.size() && d < 31; ++d)
        if (mask >> d & 1)
          count *= dims[d];
    }
    MemoryDesc md = parseTag("a", {count}, scales ? dnnl_f32 : dnnl_s32);
    int base = scales ? DNNL_ARG_ATTR_SCALES : DNNL_ARG_ATTR_ZERO_POINTS;
    slots.push_back({std::string(scales ? "scales." : "zero_points.") + argument, base | number,
                     false, std::move(md), "a"});
  }
}

void PrimitiveBuilder::attributes() {
  dnnl_primitive_attr_t made = nullptr;
  check(dnnl_primitive_attr_create(&made), "creating attributes");
  attr.reset(made);
  check(dnnl_primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user),
        "setting the scratchpad mode");
  check(dnnl_primitive_attr_set_fpmath_mode(
            made, mathModeOf(call.math.value_or(schema::MathMode::Strict))),
        "setting the math mode");
  if (!call.postOps.empty()) {
    dnnl_post_ops_t list = nullptr;
    check(dnnl_post_ops_create(&list), "creating post-ops");
    PostOps owned(list);
    postOps(list);
    check(dnnl_primitive_attr_set_post_ops(made, list), "setting post-ops");
  }
  if (call.scales)
    quantization(*call.scales, true);
  if (call.zeroPoints)
    quantization(*call.zeroPoints, false);
}

} // namespace dlc::onednn

//===- Attributes.cpp - post-ops, math mode and scales of a primitive ---------===//
#include "runtime/epilogue/ConvertOps.h"
#include "runtime/epilogue/EpilogueTable.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Operation.h"
#include "runtime/program/Message.h"

#include <span>
#include <utility>

namespace dlc::onednn {

using runtime::fail;

using Algorithm = schema::OnednnAlgorithm;

/// Returns oneDNN's enumerator of an algorithm, from `table`. Throws dlc::Error if the table has no
/// such row; `kind` is the kind of the table's algorithms, for the message.
static dnnl_alg_kind_t find(Algorithm algorithm, const char *kind,
                            std::span<const std::pair<Algorithm, dnnl_alg_kind_t>> table) {
  for (const auto &[each, found] : table)
    if (each == algorithm)
      return found;
  fail("oneDNN: '", nameOf(algorithm), "' is not ", kind, " algorithm");
}

dnnl_alg_kind_t eltwiseAlgorithmOf(Algorithm algorithm) {
  static constexpr std::pair<Algorithm, dnnl_alg_kind_t> table[] = {
      {Algorithm::Relu, dnnl_eltwise_relu},
      {Algorithm::Clip, dnnl_eltwise_clip},
      {Algorithm::Linear, dnnl_eltwise_linear},
      {Algorithm::Square, dnnl_eltwise_square},
      {Algorithm::Abs, dnnl_eltwise_abs},
      {Algorithm::Sqrt, dnnl_eltwise_sqrt},
      {Algorithm::Exp, dnnl_eltwise_exp},
      {Algorithm::Logistic, dnnl_eltwise_logistic},
      {Algorithm::Tanh, dnnl_eltwise_tanh},
      {Algorithm::GeluErf, dnnl_eltwise_gelu_erf},
      {Algorithm::GeluTanh, dnnl_eltwise_gelu_tanh},
      {Algorithm::Swish, dnnl_eltwise_swish},
      {Algorithm::HardSwish, dnnl_eltwise_hardswish},
      {Algorithm::Round, dnnl_eltwise_round},
      {Algorithm::Elu, dnnl_eltwise_elu},
      {Algorithm::SoftRelu, dnnl_eltwise_soft_relu},
      {Algorithm::HardSigmoid, dnnl_eltwise_hardsigmoid},
      {Algorithm::Log, dnnl_eltwise_log},
      {Algorithm::ClipV2, dnnl_eltwise_clip_v2},
      {Algorithm::Pow, dnnl_eltwise_pow},
      {Algorithm::Mish, dnnl_eltwise_mish},
  };
  return find(algorithm, "an eltwise", table);
}

dnnl_alg_kind_t binaryAlgorithmOf(Algorithm algorithm) {
  static constexpr std::pair<Algorithm, dnnl_alg_kind_t> table[] = {
      {Algorithm::Add, dnnl_binary_add},           {Algorithm::Mul, dnnl_binary_mul},
      {Algorithm::Sub, dnnl_binary_sub},           {Algorithm::Div, dnnl_binary_div},
      {Algorithm::Max, dnnl_binary_max},           {Algorithm::Min, dnnl_binary_min},
      {Algorithm::GreaterOrEqual, dnnl_binary_ge}, {Algorithm::Greater, dnnl_binary_gt},
      {Algorithm::LessOrEqual, dnnl_binary_le},    {Algorithm::Less, dnnl_binary_lt},
      {Algorithm::Equal, dnnl_binary_eq},          {Algorithm::NotEqual, dnnl_binary_ne},
  };
  return find(algorithm, "a binary", table);
}

static dnnl_fpmath_mode_t mathModeOf(schema::MathMode mode) {
  // In the order of schema::MathMode.
  static constexpr dnnl_fpmath_mode_t modes[] = {dnnl_fpmath_mode_strict, dnnl_fpmath_mode_bf16,
                                                 dnnl_fpmath_mode_f16, dnnl_fpmath_mode_tf32,
                                                 dnnl_fpmath_mode_any};
  return modes[static_cast<size_t>(mode)];
}

float defaultAlpha(Algorithm algorithm) {
  if (auto activation = activationOf(algorithm))
    return infoOf(*activation).alpha;
  // Algorithms that are not in epilogues. Hardsigmoid has its usual default of x / 6 + 1 / 2.
  return algorithm == Algorithm::HardSigmoid ? 1.0f / 6
         : algorithm == Algorithm::Elu || algorithm == Algorithm::SoftRelu ||
                 algorithm == Algorithm::Pow
             ? 1.0f
             : 0.0f;
}

float defaultBeta(Algorithm algorithm) {
  if (auto activation = activationOf(algorithm))
    return infoOf(*activation).beta;
  return algorithm == Algorithm::HardSigmoid ? 0.5f : 0.0f;
}

/// Returns the parameter `given` (alpha or beta) of an eltwise post-op, or `missing` if the post-op
/// does not specify it.
static float eltwiseParameter(Algorithm algorithm, const schema::Maybe<double> &given,
                              float missing) {
  float value = static_cast<float>(given.value_or(missing));
  auto activation = activationOf(algorithm);
  return activation ? activationParameter(*activation, value) : value;
}

void PrimitiveBuilder::postOps(dnnl_post_ops_t list) {
  using Kind = schema::PostOpKind;
  for (size_t i = 0; i < call.postOps.size(); ++i) {
    const schema::OnednnPostOp &op = call.postOps[i];
    if (op.kind != Kind::Sum && !op.alg)
      fail("oneDNN: post-op ", i, " of kind ", nameOf(op.kind), " needs 'alg'");
    if (op.kind == Kind::Eltwise) {
      const Algorithm algorithm = *op.alg;
      check(dnnl_post_ops_append_eltwise(
                list, eltwiseAlgorithmOf(algorithm),
                eltwiseParameter(algorithm, op.alpha, defaultAlpha(algorithm)),
                eltwiseParameter(algorithm, op.beta, defaultBeta(algorithm))),
            "adding an eltwise post-op");
      // oneDNN's reference implementation computes abs(0) as -0, whose reciprocal square root is
      // minus infinity. Adding 0 changes -0 to +0.
      if (algorithm == Algorithm::Abs)
        check(dnnl_post_ops_append_eltwise(list, dnnl_eltwise_linear, 1, 0),
              "adding 0 to absolute values");
    } else if (op.kind == Kind::Sum) {
      check(dnnl_post_ops_append_sum(list, static_cast<float>(op.scale.value_or(1)), 0,
                                     dnnl_data_type_undef),
            "adding a sum post-op");
    } else {
      std::string name = "post" + std::to_string(i);
      schema::Layout layout;
      static_cast<schema::LayoutFields &>(layout) = op;
      layout.dims = op.dims.value_or(schema::Integers());
      MemoryDesc md = parseLayout(layout, name);
      check(dnnl_post_ops_append_binary(list, binaryAlgorithmOf(*op.alg), md.get()),
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

//===- TrainingCases.cpp - cases of networks with their gradients, in one layout -===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

std::string window(const std::string &k, const std::string &stride, const std::string &pad) {
  return "strides = array<i64: " + stride + ", " + stride +
         ">, dilations = array<i64: 1, 1>, low = array<i64: " + pad + ", " + pad +
         ">, high = array<i64: " + pad + ", " + pad + ">" +
         (k.empty() ? "" : ", window = array<i64: " + k + ", " + k + ">");
}

/// Replaces type names in the body with the types.
std::string spelled(std::string body, std::vector<std::pair<std::string, std::string>> types) {
  for (const auto &[name, text] : types)
    for (size_t at; (at = body.find(name)) != std::string::npos;)
      body.replace(at, name.size(), text);
  return body;
}

/// Forward pass and all gradients of conv, bias, ReLU, max pool, conv, batch norm and average pool.
Case images(int64_t channels, int64_t groups) {
  Shape x = {2, 3, 16, 16}, w = {channels, 3, 3, 3}, b = {channels};
  Shape v = {2 * channels, channels / groups, 3, 3}, s = {2 * channels};
  Shape first = {2, channels, 16, 16}, pooled = {2, channels, 8, 8};
  Shape second = {2, 2 * channels, 4, 4}, last = {2, 2 * channels, 2, 2};
  std::string g = ", groups = " + std::to_string(groups) + " : i64";
  std::string body = R"(
    %zero = dlc.constant dense<0.0> : tensor<f32>
    %a = dlc.conv %a0, %a1, %a2 {CONV1, groups = 1 : i64} : (XX, WW, BB) -> FF
    %r = dlc.relu %a : (FF) -> FF
    %p, %at = dlc.max_pool_positions %r {POOL} : (FF) -> (PP, UU)
    %c = dlc.conv %p, %a3 {CONV2} : (PP, VV) -> SS
    %n, %mean, %variance = dlc.batch_norm_train %c, %a4, %a5 {eps = 1.0e-3 : f64} : (SS, CC, CC) -> (SS, CC, CC)
    %y = dlc.avg_pool %n {AVERAGE, counted_high = array<i64: 0, 0>} : (SS) -> LL
    %dn = dlc.avg_pool_grad %a6 {AVERAGE, counted_high = array<i64: 0, 0>, spatial = array<i64: 4, 4>} : (LL) -> SS
    %dc, %ds, %db = dlc.batch_norm_grad %c, %dn, %a4, %mean, %variance {eps = 1.0e-3 : f64} : (SS, SS, CC, CC, CC) -> (SS, CC, CC)
    %dv = dlc.conv_weight_grad %p, %dc {CONV2, window = array<i64: 3, 3>} : (PP, SS) -> VV
    %dp = dlc.conv_transpose %dc, %a3 {CONV2, extra = array<i64: 1, 1>} : (SS, VV) -> PP
    %dr = dlc.max_pool_grad %dp, %at {POOL, spatial = array<i64: 16, 16>} : (PP, UU) -> FF
    %on = dlc.compare gt %r, %zero : (FF, tensor<f32>) -> MM
    %off = dlc.constant dense<0.0> : FF
    %da = dlc.select %on, %dr, %off : (MM, FF, FF) -> FF
    %dbias = dlc.reduce sum %da axes [0, 2, 3] : (FF) -> BB
    %dw = dlc.conv_weight_grad %a0, %da {CONV1, window = array<i64: 3, 3>, groups = 1 : i64} : (XX, FF) -> WW
    return %y, %mean, %variance, %ds, %db, %dv, %dbias, %dw : LL, CC, CC, CC, CC, VV, BB, WW
  )";
  auto type = [](const Shape &shape) { return typeText(shape, "f32"); };
  std::vector<std::string> results = {type(last), type(s), type(s), type(s),
                                      type(s),    type(v), type(b), type(w)};
  body = spelled(body, {{"CONV1", window("", "1", "1")},
                        {"CONV2", window("", "2", "1") + g},
                        {"POOL", window("2", "2", "0")},
                        {"AVERAGE", window("2", "2", "0")},
                        {"XX", type(x)},
                        {"WW", type(w)},
                        {"BB", type(b)},
                        {"VV", type(v)},
                        {"CC", type(s)},
                        {"FF", type(first)},
                        {"PP", type(pooled)},
                        {"UU", typeText(pooled, "ui8")},
                        {"MM", typeText(first, "i1")},
                        {"SS", type(second)},
                        {"LL", type(last)}});
  Case c{"training",
         "images/" + std::to_string(channels) + "/" + std::to_string(groups),
         {{x}, {w}, {b}, {v}, {s}, {s}, {last}},
         "",
         unsigned(results.size()),
         {64, 256},
         results,
         body};
  return c;
}

/// A network with channels-last inputs and results. If the operations in between use the
/// channels-last layout for images, weights and gradients, no data has to be transposed.
Case channelsLast(const std::string &element, int64_t groups) {
  Shape x = {2, 12, 12, 16}, w = {32, 3, 3, 16}, v = {64, 32 / groups, 3, 3};
  auto transposed = [](const Shape &s) { return Shape{s[0], s[3], s[1], s[2]}; };
  Shape pooled = {2, 6, 6, 32}, second = {2, 3, 3, 64};
  std::string body = R"(
    %x = dlc.transpose %a0 [0, 3, 1, 2] : (XX) -> XT
    %w = dlc.transpose %a1 [0, 3, 1, 2] : (WW) -> WT
    %c = dlc.conv %x, %w {CONV1, groups = 1 : i64} : (XT, WT) -> FF
    %r = dlc.relu %c : (FF) -> FF
    %p = dlc.max_pool %r {POOL} : (FF) -> PT
    %d = dlc.conv %p, %a2 {CONV2} : (PT, VV) -> ST
    %k = dlc.concat 1 (%p, %p) : (PT, PT) -> KK
    %m = dlc.reduce mean %k axes [2, 3] : (KK) -> MM
    %dv = dlc.conv_weight_grad %p, %d {CONV2, window = array<i64: 3, 3>} : (PT, ST) -> VV
    %dp = dlc.conv_transpose %d, %a2 {CONV2, extra = array<i64: 0, 0>} : (ST, VV) -> PT
    %a = dlc.avg_pool_grad %dp {POOL, include_pad, counted_high = array<i64: 0, 0>, spatial = array<i64: 12, 12>} : (PT) -> FF
    %dw = dlc.conv_weight_grad %x, %a {CONV1, window = array<i64: 3, 3>, groups = 1 : i64} : (XT, FF) -> WT
    %y = dlc.transpose %p [0, 2, 3, 1] : (PT) -> PP
    %z = dlc.transpose %d [0, 2, 3, 1] : (ST) -> SS
    %q = dlc.transpose %dp [0, 2, 3, 1] : (PT) -> PP
    %u = dlc.transpose %dw [0, 2, 3, 1] : (WT) -> WW
    return %m, %dv, %y, %z, %q, %u : MM, VV, PP, SS, PP, WW
  )";
  auto type = [&](const Shape &shape) { return typeText(shape, element); };
  std::vector<std::string> results = {type({2, 64}), type(v),      type(pooled),
                                      type(second),  type(pooled), type(w)};
  std::string apart = ", groups = " + std::to_string(groups) + " : i64";
  body = spelled(body, {{"CONV1", window("", "1", "1")},
                        {"CONV2", "strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, "
                                  "low = array<i64: 0, 0>, high = array<i64: 1, 1>" +
                                      apart},
                        {"POOL", window("2", "2", "0")},
                        {"XX", type(x)},
                        {"XT", type(transposed(x))},
                        {"WW", type(w)},
                        {"WT", type(transposed(w))},
                        {"FF", type({2, 32, 12, 12})},
                        {"PP", type(pooled)},
                        {"PT", type(transposed(pooled))},
                        {"VV", type(v)},
                        {"SS", type(second)},
                        {"ST", type(transposed(second))},
                        {"KK", type({2, 64, 6, 6})},
                        {"MM", type({2, 64})}});
  // Gradients are sums of products of rounded values. Small operands keep them in the range of f16.
  Fill small{Fill::Uniform, -0.25, 0.25};
  return {"training",
          "channels_last/" + element + "/" + std::to_string(groups),
          {{x, element, small}, {w, element, small}, {v, element, small}},
          "",
          unsigned(results.size()),
          {64, 16},
          results,
          body};
}

/// Convolution, batch norm and ReLU with all gradients. The sums over channels may be fused into
/// the epilogue of the convolution.
Case convNorm(const Shape &x, int64_t channels, int64_t size) {
  Shape w = {channels, x[1], size, size}, c = {channels}, y = {x[0], channels, x[2], x[3]};
  std::string body = R"(
    %zero = dlc.constant dense<0.0> : tensor<f32>
    %c = dlc.conv %a0, %a1, %a2 {CONV, groups = 1 : i64} : (XX, WW, CC) -> YY
    %n, %mean, %variance = dlc.batch_norm_train %c, %a3, %a4 {eps = 1.0e-3 : f64} : (YY, CC, CC) -> (YY, CC, CC)
    %r = dlc.relu %n : (YY) -> YY
    %on = dlc.compare gt %n, %zero : (YY, tensor<f32>) -> MM
    %dn = dlc.select %on, %a5, %zero : (MM, YY, tensor<f32>) -> YY
    %dc, %ds, %db = dlc.batch_norm_grad %c, %dn, %a3, %mean, %variance {eps = 1.0e-3 : f64} : (YY, YY, CC, CC, CC) -> (YY, CC, CC)
    %dw = dlc.conv_weight_grad %a0, %dc {CONV, WINDOW, groups = 1 : i64} : (XX, YY) -> WW
    %dx = dlc.conv_transpose %dc, %a1 {CONV, extra = array<i64: 0, 0>, groups = 1 : i64} : (YY, WW) -> XX
    return %r, %mean, %variance, %ds, %db, %dw, %dx : YY, CC, CC, CC, CC, WW, XX
  )";
  auto type = [](const Shape &shape) { return typeText(shape, "f32"); };
  std::string side = std::to_string(size);
  std::vector<std::string> results = {type(y), type(c), type(c), type(c),
                                      type(c), type(w), type(x)};
  body = spelled(body, {{"CONV", window("", "1", std::to_string(size / 2))},
                        {"WINDOW", "window = array<i64: " + side + ", " + side + ">"},
                        {"XX", type(x)},
                        {"WW", type(w)},
                        {"CC", type(c)},
                        {"YY", type(y)},
                        {"MM", typeText(y, "i1")}});
  // dx and dw are differences of sums, with the rounding errors of the f32 means.
  return {"training",
          "conv_norm/" + side + "/" + std::to_string(x[2]) + "x" + std::to_string(x[3]),
          {{x}, {w}, {c}, {c}, {c}, {y}},
          "",
          unsigned(results.size()),
          {64, 256},
          results,
          body};
}

/// Forward pass and gradients of a matmul with softmax cross-entropy. Weights have the shape
/// [classes, depth] or, if `crossed`, [depth, classes]. If `steps` is greater than 1, the examples
/// have a batch and a time dimension.
Case crossEntropy(int64_t rows, int64_t classes, int64_t depth, bool crossed, int64_t steps) {
  Shape x = {rows, depth}, w = {classes, depth}, l = {rows, classes};
  if (crossed)
    std::swap(w[0], w[1]);
  Shape deep = steps > 1 ? Shape{rows / steps, steps, depth} : x;
  Shape wide = steps > 1 ? Shape{rows / steps, steps, classes} : l;
  std::string body = R"(
    %zero = dlc.constant dense<0.0> : tensor<f32>
    %some = dlc.constant dense<0.25> : tensor<1x1xf32>
    %less = dlc.constant dense<-0.25> : tensor<1x1xf32>
    %p = dlc.matmul %a0, %a1 FORTH : (XX, WW) -> PP
    %q = dlc.add %p, %a2 : (PP, BB) -> PP
    %l = dlc.reshape %q : (PP) -> LL
    %most = dlc.reduce max %l axes [1] keepdims : (LL) -> RR
    %below = dlc.sub %l, %most : (LL, RR) -> LL
    %e = dlc.exp %below : (LL) -> LL
    %sum = dlc.reduce sum %e axes [1] keepdims : (LL) -> RR
    %log = dlc.log %sum : (RR) -> RR
    %all = dlc.add %most, %log : (RR, RR) -> RR
    %columns = dlc.iota 1 : tensor<1xCLASSESxi64>
    %hot = dlc.compare eq %columns, %a3 : (tensor<1xCLASSESxi64>, II) -> MM
    %own = dlc.select %hot, %l, %zero : (MM, LL, tensor<f32>) -> LL
    %mine = dlc.reduce sum %own axes [1] keepdims : (LL) -> RR
    %loss = dlc.sub %all, %mine : (RR, RR) -> RR
    %one = dlc.select %hot, %less, %zero : (MM, tensor<1x1xf32>, tensor<f32>) -> LL
    %part = dlc.div %some, %sum : (tensor<1x1xf32>, RR) -> RR
    %soft = dlc.mul %part, %e : (RR, LL) -> LL
    %dl = dlc.add %one, %soft : (LL, LL) -> LL
    %dp = dlc.reshape %dl : (LL) -> PP
    %db = dlc.reduce sum %dp axes [AXES] : (PP) -> BB
    %dx = dlc.matmul %dp, %a1 BACK : (PP, WW) -> XX
    %flat = dlc.reshape %a0 : (XX) -> FF
    %dw = dlc.matmul WEIGHTS
    return %loss, %dx, %dw, %db : RR, XX, WW, BB
  )";
  auto type = [](const Shape &shape) { return typeText(shape, "f32"); };
  std::vector<std::string> results = {type({rows, 1}), type(deep), type(w), type({classes})};
  body = spelled(body, {{"FORTH", crossed ? "" : "transpose_b"},
                        {"BACK", crossed ? "transpose_b" : ""},
                        {"WEIGHTS", crossed ? "%flat, %dl transpose_a : (FF, LL) -> WW"
                                            : "%dl, %flat transpose_a : (LL, FF) -> WW"},
                        {"AXES", steps > 1 ? "0, 1" : "0"},
                        {"CLASSES", std::to_string(classes)},
                        {"XX", type(deep)},
                        {"WW", type(w)},
                        {"BB", type({classes})},
                        {"PP", type(wide)},
                        {"LL", type(l)},
                        {"RR", type({rows, 1})},
                        {"FF", type(x)},
                        {"II", typeText({rows, 1}, "i64")},
                        {"MM", typeText(l, "i1")}});
  std::string label = std::to_string(rows) + "x" + std::to_string(classes) + "x" +
                      std::to_string(depth) + (crossed ? "/crossed" : "") +
                      (steps > 1 ? "/steps" : "");
  return {"cross_entropy",
          label,
          {{deep, "f32", {Fill::Uniform, -0.5, 0.5}},
           {w, "f32", {Fill::Uniform, -0.5, 0.5}},
           {{classes}},
           {{rows, 1}, "i64", {Fill::Index, 0, double(classes - 1)}}},
          "",
          unsigned(results.size()),
          {64, 64},
          results,
          body};
}

/// The gradient of an activation, given its result, after a matmul. dlc's own matmul kernels
/// compute it in the epilogue.
Case activationGradient(const std::string &activation, const Shape &rows, int64_t depth,
                        int64_t units) {
  Shape y = rows, dy = rows;
  y.push_back(units);
  dy.push_back(depth);
  Shape w = {units, depth}, b = {units};
  std::string gradient = activation == "logistic" ? R"(
    %left = dlc.sub %one, %a0 : (tensor<f32>, YY) -> YY
    %f = dlc.mul %a0, %left : (YY, YY) -> YY
    %dz = dlc.mul %dy, %f : (YY, YY) -> YY)"
                         : activation == "tanh"   ? R"(
    %square = dlc.mul %a0, %a0 : (YY, YY) -> YY
    %f = dlc.sub %one, %square : (tensor<f32>, YY) -> YY
    %dz = dlc.mul %f, %dy : (YY, YY) -> YY)"
                                                  : R"(
    %on = dlc.compare gt %a0, %zero : (YY, tensor<f32>) -> MM
    %dz = dlc.select %on, %dy, %zero : (MM, YY, tensor<f32>) -> YY)";
  std::string body = R"(
    %zero = dlc.constant dense<0.0> : tensor<f32>
    %one = dlc.constant dense<1.0> : tensor<f32>
    %dy = dlc.matmul %a1, %a2 transpose_b : (XX, WW) -> YY)" +
                     gradient + R"(
    %db = dlc.reduce sum %dz axes [AXES] : (YY) -> BB
    return %dz, %db : YY, BB
  )";
  auto type = [](const Shape &shape) { return typeText(shape, "f32"); };
  body = spelled(body, {{"AXES", rows.size() > 1 ? "0, 1" : "0"},
                        {"XX", type(dy)},
                        {"WW", type(w)},
                        {"BB", type(b)},
                        {"YY", type(y)},
                        {"MM", typeText(y, "i1")}});
  std::string label = activation + (rows.size() > 1 ? "/steps" : "");
  return {"activation_gradient", label, {{y}, {dy}, {w}}, "", 2, {32, 64},
          {type(y), type(b)},    body};
}

} // namespace

void addTrainingCases(std::vector<Case> &cases) {
  // Whole channel blocks, a partial block, groups, and depthwise convolution.
  for (auto [channels, groups] :
       std::initializer_list<std::pair<int64_t, int64_t>>{{32, 1}, {20, 1}, {64, 4}, {32, 32}})
    cases.push_back(images(channels, groups));
  for (const char *element : {"f32", "f16", "bf16"})
    for (int64_t groups : {1, 4, 32})
      cases.push_back(channelsLast(element, groups));
  for (const Shape &x : {Shape{2, 16, 13, 11}, {1, 48, 5, 6}, {3, 32, 16, 16}})
    for (int64_t size : {3, 5})
      cases.push_back(convNorm(x, 32, size));
  for (const char *activation : {"logistic", "tanh", "relu"}) {
    cases.push_back(activationGradient(activation, {33}, 65, 47));
    cases.push_back(activationGradient(activation, {3, 11}, 600, 70));
  }
  for (bool crossed : {false, true}) {
    cases.push_back(crossEntropy(33, 65, 31, crossed, 1));
    cases.push_back(crossEntropy(66, 47, 70, crossed, 11));
    // The column index is computed in the kernel above 4096 classes, and a constant below.
    cases.push_back(crossEntropy(2, 4097, 1, crossed, 1));
    cases.push_back(crossEntropy(35, 4111, 33, crossed, 1));
    cases.push_back(crossEntropy(66, 4128, 7, crossed, 11));
  }
}

} // namespace dlc::conformance

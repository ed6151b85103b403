//===- Decoder.cpp - builds a decoder as dlc operations -------------------===//
#include "frontend/gguf/Decoder.h"

#include "dlc/Error.h"
#include "frontend/builder/Attend.h"
#include "frontend/builder/Layers.h"
#include "frontend/builder/Signature.h"
#include "frontend/gguf/Weights.h"
#include "ir/dlc/Shape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include <map>

using namespace mlir;

namespace dlc::gguf {

using namespace frontend;

namespace {

class DecoderBuilder {
public:
  DecoderBuilder(Build &b, Signature &signature, const runtime::ModelTable &table,
                 const DecoderConfig &config, const DecoderOptions &options)
      : b(b), signature(signature), config(config), options(options), weights(b, table, config) {}

  /// Builds the arguments, the operations and the results of @main.
  void build();

private:
  static std::string layerTensor(int64_t layer, StringRef name) {
    return "blk." + std::to_string(layer) + "." + name.str();
  }

  /// Multiplies x [tokens, in] by the matrix NAME.weight [out, in] and adds NAME.bias if the
  /// file has it.
  Value project(const std::string &name, Value x, int64_t in, int64_t out);
  /// Applies the RMS norm with the weight NAME.weight [size] along an axis.
  Value norm(const std::string &name, Value x, int64_t size, int64_t axis);
  /// Applies rotary embedding to heads [1, heads, tokens, size].
  Value rotate(Value x, const Rope &rope);
  /// Returns the mask of the keys that each query attends to: [1, 1, rows, capacity], where the
  /// rows are the queries of all tokens and heads that share a key/value head.
  Value visibleKeys(int64_t window);
  /// Stores rows [kvHeads, tokens, size] in the cache at the positions of this step and returns the
  /// cache [kvHeads, capacity, size].
  Value updateCache(const std::string &name, Value rows, int64_t size);
  /// Queries, keys and values before RoPE: [1, heads, tokens, size].
  struct Heads {
    Value q, k, v;
  };
  Heads projectHeads(int64_t layer, Value x);
  Value attention(int64_t layer, Value x);
  Value feedForward(int64_t layer, Value x);
  Value decoderLayer(int64_t layer, Value x);
  Value logits(Value x, Value embedding, int64_t vocabulary);

  Build &b;
  Signature &signature;
  const DecoderConfig &config;
  const DecoderOptions &options;
  Weights weights;
  /// Positions of the tokens of the step, i64 [tokens], and the index tuples of their cache rows,
  /// i64 [kvHeads, tokens, 2].
  Value positions, cacheIndices;
  /// Cosines and sines [1, tokens, pairs], by the frequencies and the magnitude of RoPE.
  std::map<std::pair<std::vector<float>, double>, std::pair<Value, Value>> angles;
  /// Masks of visible keys, by the size of the sliding window.
  std::map<int64_t, Value> masks;
};

Value DecoderBuilder::project(const std::string &name, Value x, int64_t in, int64_t out) {
  Value y = b.matmul(x, weights.get(name + ".weight", {out, in}), false, true);
  Value bias = weights.getOptional(name + ".bias", {out});
  return bias ? b.add(y, bias) : y;
}

Value DecoderBuilder::norm(const std::string &name, Value x, int64_t size, int64_t axis) {
  return rmsNorm(b, x, weights.getNorm(name + ".weight", size), axis, config.eps);
}

Value DecoderBuilder::rotate(Value x, const Rope &rope) {
  if (rope.frequencies.empty())
    return x;
  auto pairs = int64_t(rope.frequencies.size());
  auto &[cosines, sines] = angles[{rope.frequencies, rope.magnitude}];
  if (!cosines) {
    std::vector<double> frequencies(rope.frequencies.begin(), rope.frequencies.end());
    Value position = b.cast(b.reshape(positions, {1, options.tokens, 1}), b.f32);
    Value angle = b.mul(position, b.floats(frequencies, {1, 1, pairs}, b.f32));
    cosines = b.unary<CosOp>(angle);
    sines = b.unary<SinOp>(angle);
    if (rope.magnitude != 1) {
      cosines = b.mul(cosines, rope.magnitude);
      sines = b.mul(sines, rope.magnitude);
    }
  }
  return applyRotaryEmbedding(b, x, cosines, sines, config.neighbourPairs());
}

Value DecoderBuilder::visibleKeys(int64_t window) {
  Value &mask = masks[window];
  if (mask)
    return mask;
  const int64_t group = config.heads / config.kvHeads, rows = group * options.tokens;
  Value key = b.iota(b.i64, {1, 1, 1, options.capacity}, 3);
  Value query = b.broadcast(b.reshape(positions, {1, options.tokens}), {group, options.tokens});
  query = b.reshape(query, {1, 1, rows, 1});
  mask = b.compare(Predicate::le, key, query);
  if (window)
    mask = b.both(mask, b.compare(Predicate::gt, key, b.sub(query, double(window))));
  return mask;
}

Value DecoderBuilder::updateCache(const std::string &name, Value rows, int64_t size) {
  Value cache = signature.argument(
      name, makeTensorType({config.kvHeads, options.capacity, size}, b.f32), ValueRole::State);
  auto none = ScatterReductionAttr::get(b.context, ScatterReduction::none);
  Value updated = b.op<ScatterNdOp>({cache, cacheIndices, rows}, {b.attr("reduction", none)});
  signature.result(name, updated, ValueRole::State);
  return updated;
}

DecoderBuilder::Heads DecoderBuilder::projectHeads(int64_t layer, Value x) {
  const int64_t width = config.width, queries = config.heads * config.headSize,
                keys = config.kvHeads * config.headSize, values = config.kvHeads * config.valueSize;
  auto name = [&](StringRef text) { return layerTensor(layer, text); };
  Value q, k, v;
  if (weights.has(name("attn_qkv.weight"))) {
    Value all = project(name("attn_qkv"), x, width, queries + keys + values);
    q = b.sliceAxis(all, 1, 0, queries);
    k = b.sliceAxis(all, 1, queries, keys);
    v = b.sliceAxis(all, 1, queries + keys, values);
  } else {
    q = project(name("attn_q"), x, width, queries);
    k = project(name("attn_k"), x, width, keys);
    v = project(name("attn_v"), x, width, values);
  }
  if (!b.ok())
    return {};
  auto split = [&](Value y, int64_t heads) { return splitHeads(b, b.expandDims(y, 0), heads); };
  q = split(q, config.heads);
  k = split(k, config.kvHeads);
  if (config.family->queryKeyNorms) {
    q = norm(name("attn_q_norm"), q, config.headSize, 3);
    k = norm(name("attn_k_norm"), k, config.headSize, 3);
  }
  return {q, k, split(v, config.kvHeads)};
}

Value DecoderBuilder::attention(int64_t layer, Value x) {
  const LayerConfig &settings = config.layers[size_t(layer)];
  Heads heads = projectHeads(layer, x);
  if (!b.ok())
    return {};
  const int64_t kv = config.kvHeads, rows = config.heads / kv * options.tokens;
  Value q = rotate(heads.q, settings.rope), k = rotate(heads.k, settings.rope);
  std::string number = std::to_string(layer);
  k = updateCache("cache.keys." + number, b.reshape(k, {kv, options.tokens, config.headSize}),
                  config.headSize);
  Value v =
      updateCache("cache.values." + number,
                  b.reshape(heads.v, {kv, options.tokens, config.valueSize}), config.valueSize);
  // The queries of a group of heads are rows of one matrix, so that keys and values are not
  // repeated.
  AttentionOperands operands;
  operands.q = b.reshape(q, {1, kv, rows, config.headSize});
  operands.k = b.expandDims(k, 0);
  operands.v = b.expandDims(v, 0);
  operands.scale = config.attentionScale;
  operands.softcap = config.attentionCap;
  operands.seen = visibleKeys(settings.window);
  Value y = buildAttention(b, operands);
  y = joinHeads(b, b.reshape(y, {1, config.heads, options.tokens, config.valueSize}));
  const int64_t in = config.heads * config.valueSize;
  return project(layerTensor(layer, "attn_output"), b.reshape(y, {options.tokens, in}), in,
                 config.width);
}

Value DecoderBuilder::feedForward(int64_t layer, Value x) {
  const int64_t width = config.width, hidden = config.hidden;
  auto name = [&](StringRef text) { return layerTensor(layer, text); };
  Value gate, up;
  if (config.family->fusedTensors) {
    Value all = project(name("ffn_up"), x, width, 2 * hidden);
    gate = b.sliceAxis(all, 1, 0, hidden);
    up = b.sliceAxis(all, 1, hidden, hidden);
  } else {
    gate = project(name("ffn_gate"), x, width, hidden);
    up = project(name("ffn_up"), x, width, hidden);
  }
  Value active = config.family->activation == GateActivation::Silu
                     ? b.mul(gate, b.sigmoid(gate))
                     : b.op<GeluOp>({gate}, {b.attrUnit("approximate")});
  return project(name("ffn_down"), b.mul(active, up), hidden, width);
}

Value DecoderBuilder::decoderLayer(int64_t layer, Value x) {
  auto name = [&](StringRef text) { return layerTensor(layer, text); };
  b.setNode(NameLoc::get(b.b.getStringAttr("layer " + Twine(layer)), b.getLoc()), "");
  const bool postNorms = config.family->postNorms;
  Value y = attention(layer, norm(name("attn_norm"), x, config.width, 1));
  if (postNorms)
    y = norm(name("post_attention_norm"), y, config.width, 1);
  x = b.add(x, y);
  y = feedForward(layer, norm(name("ffn_norm"), x, config.width, 1));
  if (postNorms)
    y = norm(name("post_ffw_norm"), y, config.width, 1);
  return b.add(x, y);
}

Value DecoderBuilder::logits(Value x, Value embedding, int64_t vocabulary) {
  if (options.oneRow)
    x = b.gather(x, b.reshape(signature.argument(kLastName, makeTensorType({}, b.i64)), {1}), 0);
  x = norm("output_norm", x, config.width, 1);
  Value y = weights.hasOutput() ? project("output", x, config.width, vocabulary)
                                : b.matmul(x, embedding, false, true);
  if (config.finalCap)
    y = b.mul(b.unary<TanhOp>(b.div(y, config.finalCap)), config.finalCap);
  return y;
}

void DecoderBuilder::build() {
  const int64_t tokens = options.tokens, kv = config.kvHeads;
  Location top = b.getLoc();
  Value ids = signature.argument(kIdsName, makeTensorType({tokens}, b.i64));
  Value position = signature.argument(kPositionName, makeTensorType({}, b.i64));
  positions = b.add(b.iota(b.i64, {tokens}, 0), b.reshape(position, {1}));
  Value head = b.iota(b.i64, {kv, tokens, 1}, 0);
  Value row = b.broadcast(b.reshape(positions, {1, tokens, 1}), {kv, tokens, 1});
  cacheIndices = b.concat({head, row}, 2);
  const int64_t vocabulary = weights.rows("token_embd.weight");
  if (!b.require(vocabulary <= maxVocabulary, "required: a vocabulary of at most " +
                                                  Twine(maxVocabulary) +
                                                  " tokens; found: " + Twine(vocabulary)))
    return;
  Value embedding = weights.get("token_embd.weight", {vocabulary, config.width});
  Value x = b.gather(embedding, ids, 0);
  if (config.embeddingScale != 1)
    x = b.mul(x, config.embeddingScale);
  for (int64_t layer = 0; layer < int64_t(config.layers.size()) && b.ok(); ++layer) {
    x = decoderLayer(layer, x);
    b.setNode(top, b.getPrefix());
  }
  Value y = logits(x, embedding, vocabulary);
  if (b.ok())
    weights.checkAllUsed();
  signature.result(kLogitsName, y);
}

} // namespace

FailureOr<OwningOpRef<ModuleOp>> buildDecoder(MLIRContext &context,
                                              const runtime::ModelTable &table,
                                              const DecoderOptions &options) {
  context.loadDialect<DlcDialect, func::FuncDialect>();
  Location top = FileLineColLoc::get(&context, table.path, 0, 0);
  DecoderConfig config;
  try {
    config = readConfig(table, options.capacity);
  } catch (const Error &e) {
    return emitError(top) << e.what();
  }
  if (options.tokens < 1 || options.capacity < options.tokens || options.capacity > config.context)
    return emitError(top) << "required: from 1 to " << config.context
                          << " positions in the cache (the context length of the model), and no "
                             "more tokens in a step; found: "
                          << options.capacity << " positions, " << options.tokens << " tokens";
  auto [module, main, entry] = createMain(top);
  Build b(&context, entry);
  b.setNode(top, "");
  Signature signature(b, entry);
  try {
    DecoderBuilder(b, signature, table, config, options).build();
  } catch (const Error &e) {
    return emitError(top) << e.what();
  }
  if (!b.ok())
    return failure();
  signature.finish(main);
  if (failed(verify(*module)))
    return failure();
  return std::move(module);
}

} // namespace dlc::gguf

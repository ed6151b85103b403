//===- Product.cpp - a matrix product in parts, described and run ---------------===//
//
// Sums are taken kDepthAtOnce deep at a time. The left operand's share of that is packed once, by
// all threads; each thread then packs a panel of the right one, which stays in its second-level
// cache while all rows pass. Between two such rounds dst holds the sums.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/tiles/Product.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace dlc::tiles {

using nlohmann::json;
using runtime::fail;

namespace {

/// Columns of a panel, rows that are packed together.
constexpr int64_t kColumnsAtOnce = 512, kRowsAtOnce = 4096;

int64_t upTo(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
int64_t blocks(int64_t n) { return (n + kBlock - 1) / kBlock; }

int64_t sizeOf(const json &desc, const char *name) {
  constexpr int64_t most = int64_t(1) << 40;
  if (!desc.contains(name) || !desc[name].is_number_integer() || desc[name].get<int64_t>() < 1 ||
      desc[name].get<int64_t>() > most)
    fail("tiles: '", name, "' must be an integer from 1 on, found ",
         desc.contains(name) ? desc[name].dump() : "none");
  return desc[name].get<int64_t>();
}

std::vector<int64_t> stridesOf(const json &value, size_t rank, const char *what) {
  bool good = value.is_array() && value.size() == rank;
  std::vector<int64_t> strides;
  for (size_t i = 0; good && i < rank; ++i) {
    good = value[i].is_number_integer() && value[i].get<uint64_t>() <= uint64_t(1) << 40;
    strides.push_back(good ? value[i].get<int64_t>() : 0);
  }
  if (!good)
    fail("tiles: '", what, "' must have ", rank, " strides of at least 0, found ", value.dump());
  return strides;
}

Post eltwise(const json &op) {
  static constexpr std::pair<const char *, PostKind> known[] = {
      {"relu", PostKind::Relu},         {"linear", PostKind::Linear},
      {"logistic", PostKind::Logistic}, {"tanh", PostKind::Tanh},
      {"gelu_erf", PostKind::GeluErf},  {"gelu_tanh", PostKind::GeluTanh},
      {"square", PostKind::Square}};
  std::string alg = op.value("alg", "");
  for (const auto &[name, kind] : known)
    if (alg == name)
      return {kind, op.value("alpha", alg == "linear" ? 1.0f : 0.0f), op.value("beta", 0.0f), {}};
  fail("tiles: unknown eltwise post-op '", alg, "'");
}

PostKind binary(const std::string &alg) {
  if (alg == "add")
    return PostKind::Add;
  if (alg == "mul")
    return PostKind::Mul;
  if (alg == "sub")
    return PostKind::Sub;
  fail("tiles: unknown binary post-op '", alg, "': add, mul or sub expected");
}

bool hasOperand(const Post &post) {
  return post.kind == PostKind::Add || post.kind == PostKind::Mul || post.kind == PostKind::Sub;
}

void parsePosts(Product &product, const json &ops) {
  size_t rank = product.batch.size() + 2;
  if (!ops.is_array() || ops.size() > static_cast<size_t>(kMostPosts))
    fail("tiles: post_ops must be an array of at most ", kMostPosts, ", found ", ops.dump());
  Epilogue &epilogue = product.epilogue;
  for (const json &op : ops) {
    std::string kind = op.is_object() ? op.value("kind", "") : "";
    Post post;
    if (kind == "eltwise") {
      post = eltwise(op);
    } else if (kind == "sum") {
      post.kind = PostKind::Sum;
      post.alpha = op.value("scale", 1.0f);
      if (epilogue.count + 1 != static_cast<int>(ops.size()) ||
          (product.k > kDepthAtOnce && (epilogue.count > 0 || post.alpha != 1)))
        fail("tiles: a sum must be the last post-op, and alone where k is more than ",
             kDepthAtOnce);
    } else if (kind == "binary") {
      post.kind = binary(op.value("alg", ""));
      auto strides = stridesOf(op.contains("strides") ? op["strides"] : json(), rank, "post_ops");
      if (strides.back() > 1)
        fail("tiles: a post-op's operand must lie row by row, found ", op.dump());
      post.operand.row = strides[rank - 2];
      post.operand.column = strides[rank - 1];
      product.operandStrides.push_back(strides);
    } else {
      fail("tiles: unknown post-op ", op.dump(), ": eltwise, sum or binary expected");
    }
    epilogue.posts[epilogue.count++] = post;
  }
}

} // namespace

bool available() {
  static const bool answer = [] {
    for (const char *name :
         {"amx-tile", "amx-bf16", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512bf16"})
      if (!runtime::hostHasFeature(name))
        return false;
    return requestTiles();
  }();
  return answer;
}

Product Product::parse(const json &desc) {
  try {
    Product product;
    if (desc.value("kind", "") != "product")
      fail("tiles: unknown kind '", desc.value("kind", ""), "': product expected");
    product.m = sizeOf(desc, "m");
    product.n = sizeOf(desc, "n");
    product.k = sizeOf(desc, "k");
    product.parts = desc.value("parts", 2);
    if (product.parts < 1 || product.parts > 3)
      fail("tiles: parts must be 1, 2 or 3, found ", product.parts);
    if (desc.contains("batch"))
      for (const json &size : desc["batch"])
        product.batch.push_back(sizeOf({{"batch", size}}, "batch"));
    size_t rank = product.batch.size() + 2;
    product.aStrides = stridesOf(desc.at("a"), rank, "a");
    product.isPacked = desc.at("b") == "packed";
    if (!product.isPacked)
      product.bStrides = stridesOf(desc["b"], rank, "b");
    product.dstStrides = stridesOf(desc.at("dst"), rank, "dst");
    if (product.dstStrides.back() != 1 ||
        (product.m > 1 && product.dstStrides[rank - 2] < product.n))
      fail("tiles: 'dst' must lie row by row, found ", desc["dst"].dump());
    product.hasBias = desc.value("bias", false);
    product.epilogue.scale = desc.value("scale", 1.0f);
    if (desc.contains("post_ops"))
      parsePosts(product, desc["post_ops"]);
    return product;
  } catch (const json::exception &error) {
    fail("tiles: wrong description: ", error.what());
  }
}

uint64_t packedBytes(int64_t k, int64_t n, int parts) {
  return static_cast<uint64_t>(blocks(k) * blocks(n) * parts * kPartBytes);
}

void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k, int64_t n,
                 int parts, void *packed) {
  packRight(b, columnStride, rowStride, n, k, parts, packed);
}

namespace {

class Call : public runtime::LibraryCall {
public:
  Call(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override {
    return "tiles:bf16x" + std::string(product.parts == 3 ? "6" : product.parts == 2 ? "3" : "1");
  }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(perTeam * teams + perThread * threads);
  }

private:
  /// Addresses of one of the batch.
  struct One {
    const float *a = nullptr, *b = nullptr;
    float *dst = nullptr;
    Epilogue epilogue;
  };
  One at(int64_t index, void *const *buffers) const;
  void multiplyOne(const One &one, char *shared, char *own, int team) const;
  void runUnit(const One &one, int64_t unit, int64_t row0, int64_t rows, int64_t step0,
               int64_t steps, const char *left, char *own) const;

  Product product;
  int threads = 1,
      teams = 1;     ///< several teams take different ones of the batch, with one thread each
  int64_t count = 1; ///< of the batch
  int64_t columnsAtOnce = 0, rowGroups = 1;
  int64_t perTeam = 0, perThread = 0;
};

Call::Call(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads)
    : product(Product::parse(desc)), threads(std::max(1, threads)) {
  if (!available())
    fail("tiles: this processor has no tiles for bf16 (AMX)");
  for (int64_t size : product.batch)
    count *= size;
  size_t expected = 3 + (product.hasBias ? 1 : 0) + product.operandStrides.size();
  if (buffers.size() != expected)
    fail("tiles: a product with ", product.operandStrides.size(), " binary post-ops takes ",
         expected, " buffers, ", buffers.size(), " given");
  auto check = [&](size_t buffer, uint64_t needed, const char *name, bool written) {
    if (buffers[buffer].bytes < needed)
      fail("tiles: buffer ", buffer, " ('", name, "') has ", buffers[buffer].bytes, " bytes, ",
           needed, " needed");
    if (written && !buffers[buffer].writable)
      fail("tiles: buffer ", buffer, " ('", name,
           "') is written but lies in a constant or an input");
  };
  auto extent = [&](const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
    size_t rank = product.batch.size();
    __int128 last = __int128(rows - 1) * strides[rank] + __int128(columns - 1) * strides[rank + 1];
    for (size_t d = 0; d < rank; ++d)
      last += __int128(product.batch[d] - 1) * strides[d];
    if (last > (__int128(1) << 60))
      fail("tiles: strides reach too far");
    return static_cast<uint64_t>(last + 1) * sizeof(float);
  };
  check(0, extent(product.aStrides, product.m, product.k), "a", false);
  check(1,
        product.isPacked ? packedBytes(product.k, product.n, product.parts)
                         : extent(product.bStrides, product.k, product.n),
        "b", false);
  size_t next = 2;
  if (product.hasBias)
    check(next++, static_cast<uint64_t>(product.n) * sizeof(float), "bias", false);
  check(next++, extent(product.dstStrides, product.m, product.n), "dst", true);
  for (const auto &strides : product.operandStrides)
    check(next++, extent(strides, product.m, product.n), "post_ops", false);

  // Whole ones of a batch keep threads apart best.
  teams = count >= this->threads ? this->threads : 1;
  int64_t team = this->threads / teams;
  int64_t rounds = (product.n + team * kColumnsAtOnce - 1) / (team * kColumnsAtOnce);
  columnsAtOnce =
      std::min(upTo((product.n + team * rounds - 1) / (team * rounds), kBlock), kColumnsAtOnce);
  int64_t panels = (product.n + columnsAtOnce - 1) / columnsAtOnce;
  rowGroups = std::max<int64_t>(1, std::min(team / panels, blocks(product.m)));
  int64_t depth = upTo(std::min(product.k, kDepthAtOnce), kDepth) / kDepth;
  perTeam = blocks(std::min(product.m, kRowsAtOnce)) * depth * product.parts * kPartBytes;
  perThread = product.isPacked ? 0 : columnsAtOnce / kBlock * depth * product.parts * kPartBytes;
}

Call::One Call::at(int64_t index, void *const *buffers) const {
  std::vector<int64_t> position(product.batch.size());
  for (size_t d = product.batch.size(); d-- > 0; index /= product.batch[d])
    position[d] = index % product.batch[d];
  auto start = [&](const std::vector<int64_t> &strides) {
    return std::inner_product(position.begin(), position.end(), strides.begin(), int64_t(0));
  };
  One one;
  one.a = static_cast<const float *>(buffers[0]) + start(product.aStrides);
  one.b =
      product.isPacked ? nullptr : static_cast<const float *>(buffers[1]) + start(product.bStrides);
  size_t next = 2;
  one.epilogue = product.epilogue;
  if (product.hasBias)
    one.epilogue.bias = static_cast<const float *>(buffers[next++]);
  one.dst = static_cast<float *>(buffers[next++]) + start(product.dstStrides);
  size_t operand = 0;
  for (int i = 0; i < one.epilogue.count; ++i)
    if (hasOperand(one.epilogue.posts[i]))
      one.epilogue.posts[i].operand.data =
          static_cast<const float *>(buffers[next++]) + start(product.operandStrides[operand++]);
  return one;
}

/// Some columns of dst, and a part of the rows.
void Call::runUnit(const One &one, int64_t unit, int64_t row0, int64_t rows, int64_t step0,
                   int64_t steps, const char *left, char *own) const {
  size_t rank = product.batch.size();
  int64_t column = unit / rowGroups * columnsAtOnce,
          columns = std::min(columnsAtOnce, product.n - column);
  int64_t group = unit % rowGroups, each = (blocks(rows) + rowGroups - 1) / rowGroups;
  int64_t firstBlock = group * each, endBlock = std::min(blocks(rows), firstBlock + each);
  if (firstBlock >= endBlock)
    return;
  int64_t bytes = product.parts * kPartBytes;
  Panel panel;
  panel.parts = product.parts;
  panel.steps = steps;
  if (product.isPacked) {
    int64_t whole = blocks(product.k) * bytes;
    panel.right = reinterpret_cast<const char *>(one.b) + column / kBlock * whole + step0 * bytes;
    panel.rightStride = whole;
  } else {
    int64_t k = std::min(steps * kDepth, product.k - step0 * kDepth);
    const float *from =
        one.b + step0 * kDepth * product.bStrides[rank] + column * product.bStrides[rank + 1];
    packRight(from, product.bStrides[rank + 1], product.bStrides[rank], columns, k, product.parts,
              own);
    panel.right = own;
    panel.rightStride = steps * bytes;
  }
  panel.leftStride = steps * bytes;
  panel.left = left + firstBlock * panel.leftStride;
  panel.firstRow = row0 + firstBlock * kBlock;
  panel.firstColumn = column;
  panel.dstRow = product.dstStrides[rank];
  panel.dst = one.dst + panel.firstRow * panel.dstRow + column;
  panel.rows = std::min(rows, endBlock * kBlock) - firstBlock * kBlock;
  panel.columns = columns;
  panel.isFirst = step0 == 0;
  panel.isLast = step0 + steps == blocks(product.k);
  const Epilogue &epilogue = one.epilogue;
  panel.each = epilogue.count == 1 && epilogue.posts[0].kind == PostKind::Sum && !epilogue.bias;
  multiply(panel, epilogue);
}

void Call::multiplyOne(const One &one, char *shared, char *own, int team) const {
  size_t rank = product.batch.size();
  int64_t aRow = product.aStrides[rank], aColumn = product.aStrides[rank + 1];
  int64_t allSteps = blocks(product.k),
          rounds = (allSteps + kDepthAtOnce / kDepth - 1) / (kDepthAtOnce / kDepth);
  int64_t stepsAtOnce = (allSteps + rounds - 1) / rounds, bytes = product.parts * kPartBytes;
  int64_t units = (product.n + columnsAtOnce - 1) / columnsAtOnce * rowGroups;
  for (int64_t row = 0; row < product.m; row += kRowsAtOnce) {
    int64_t rows = std::min(kRowsAtOnce, product.m - row);
    for (int64_t step = 0; step < allSteps; step += stepsAtOnce) {
      int64_t steps = std::min(stepsAtOnce, allSteps - step);
      int64_t k = std::min(steps * kDepth, product.k - step * kDepth);
      runtime::parallelFor(team, blocks(rows), 1, [&](int64_t begin, int64_t end, int) {
        packLeft(one.a + (row + begin * kBlock) * aRow + step * kDepth * aColumn, aRow, aColumn,
                 std::min(rows, end * kBlock) - begin * kBlock, k, product.parts,
                 shared + begin * steps * bytes);
      });
      runtime::parallelFor(team, units, 1, [&](int64_t begin, int64_t end, int thread) {
        enterTiles();
        for (int64_t unit = begin; unit < end; ++unit)
          runUnit(one, unit, row, rows, step, steps, shared, own + thread * perThread);
        leaveTiles();
      });
    }
  }
}

void Call::execute(void *const *buffers, const runtime::CallContext &context) {
  auto *scratch = static_cast<char *>(context.scratch);
  char *own = scratch + perTeam * teams;
  auto one = [&](int64_t index) {
    One found = at(index, buffers);
    if (product.isPacked)
      found.b = static_cast<const float *>(buffers[1]);
    return found;
  };
  if (teams == 1) {
    for (int64_t i = 0; i < count; ++i)
      multiplyOne(one(i), scratch, own, threads);
    return;
  }
  runtime::parallelFor(threads, count, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t i = begin; i < end; ++i)
      multiplyOne(one(i), scratch + thread * perTeam, own + thread * perThread, 1);
  });
}

} // namespace

} // namespace dlc::tiles

namespace dlc::runtime {

std::unique_ptr<LibraryCall> makeTilesCall(const nlohmann::json &desc,
                                           std::span<const BufferInfo> buffers, int threads) {
  return std::make_unique<tiles::Call>(desc, buffers, threads);
}

} // namespace dlc::runtime

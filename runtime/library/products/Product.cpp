//===- Product.cpp - a matrix product, described and run -------------------------===//
//
// Sums are taken kDepthAtOnce deep at a time. The left operand's share of that is packed once, by
// all threads; each thread then packs a panel of the right one, which stays in its second-level
// cache while all rows pass. Between two such rounds dst holds the sums.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/products/Product.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/library/products/Parse.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/library/vectors/Describe.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace dlc::products {

using nlohmann::json;
using runtime::fail;

namespace {

/// Rows that are packed together, by all threads or by one, and most columns of a panel.
constexpr int64_t kRowsAtOnce = 4096, kOwnRows = 1024, kColumnsAtOnce = 512;

Product::Change changeOf(const json &desc, const Product &product) {
  Product::Change change;
  std::string of = desc.value("of", "");
  if (of != "a" && of != "b")
    fail("product: a prologue is 'of' a or b, found '", of, "'");
  change.isOfLeft = of == "a";
  if (!change.isOfLeft && product.isPacked)
    fail("product: a prologue of what is packed already");
  change.row = sizeOf(desc, "row");
  change.prologue.exponential = desc.value("exp", false);
  auto step = [&](const char *name, bool &has, int64_t &step) {
    has = desc.contains(name);
    step = has ? desc[name].get<int64_t>() : 0;
    if (step != 0 && step != 1)
      fail("product: a prologue's '", name, "' steps by 0 or 1, found ", step);
  };
  step("shift", change.hasShift, change.prologue.shiftStep);
  step("factor", change.hasFactor, change.prologue.factorStep);
  change.hasHot = desc.contains("hot");
  change.prologue.value = desc.value("hot", 0.0f);
  const auto &strides = change.isOfLeft ? product.aStrides : product.bStrides;
  size_t rank = strides.size();
  int64_t lane = strides[change.isOfLeft ? rank - 2 : rank - 1],
          depth = strides[change.isOfLeft ? rank - 1 : rank - 2];
  change.across = lane == 1 && depth == change.row;
  bool rows = change.across || (depth == 1 && lane == change.row);
  for (size_t d = 0; d + 2 < rank; ++d)
    rows &= strides[d] % change.row == 0;
  int64_t columns = !change.across ? product.k : change.isOfLeft ? product.m : product.n;
  if (!rows || columns > change.row)
    fail("product: a prologue's operand must lie in rows of ", change.row);
  change.hasSums = desc.value("sums", false);
  if (change.hasSums && (!change.across || !product.batch.empty()))
    fail("product: a prologue's sums are over rows that the product sums over, without a batch");
  return change;
}

} // namespace

Product Product::parse(const json &desc) {
  try {
    Product product;
    if (desc.value("kind", "") != "product")
      fail("product: unknown kind '", desc.value("kind", ""), "': product or convolution expected");
    product.m = sizeOf(desc, "m");
    product.n = sizeOf(desc, "n");
    product.k = sizeOf(desc, "k");
    product.form = desc.contains("lanes") ? vectors::formOf(desc["lanes"].get<int64_t>(), product.m)
                                          : tiles::formOf(partsOf(desc));
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
      fail("product: 'dst' must lie row by row, found ", desc["dst"].dump());
    product.hasBias = desc.value("bias", false);
    Posts posts = postsOf(desc, rank, product.k);
    product.epilogue = posts.epilogue;
    product.operandStrides = std::move(posts.operandStrides);
    if (desc.contains("prologue") && !product.form.parts)
      fail("product: only tiles change operands as they are packed");
    if (desc.contains("prologue"))
      product.change = changeOf(desc["prologue"], product);
    return product;
  } catch (const json::exception &error) {
    fail("product: wrong description: ", error.what());
  }
}

uint64_t Form::packedBytes(int64_t k, int64_t n) const {
  return static_cast<uint64_t>(blocksOf(k, depth) * blocksOf(n, columns) * rightBytes);
}

namespace {

class Call : public runtime::LibraryCall {
public:
  Call(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override { return product.form.name; }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(perTeam * teams + perThread * threads);
  }

private:
  /// Addresses of one of the batch.
  struct One {
    const float *a = nullptr, *b = nullptr;
    float *dst = nullptr;
    Epilogue epilogue;
    int64_t row = 0; ///< of the changed operand's first element
    Prologue prologue;
    float *sums = nullptr;
  };
  /// Blocks of rows of several ones that share the right operand, and a part of the sums' depth.
  struct Slab {
    std::span<const One> ones;
    int64_t block = 0, blocks = 0; ///< counted through all ones
    int64_t step = 0, steps = 0;
  };

  One at(int64_t index, void *const *buffers) const;
  template <typename Body>
  void forEachOne(const Slab &slab, int64_t begin, int64_t end, const Body &body) const;
  Operand rightOf(const Slab &slab, int64_t unit) const;
  Place placeOf(const One &one, bool left, int64_t lane, int64_t depth) const;
  void packRows(const Slab &slab, int64_t begin, int64_t end, char *left) const;
  void runUnit(const Slab &slab, int64_t unit, const char *left, char *own) const;
  void multiplyAll(std::span<const One> ones, char *shared, char *own, int team) const;

  Product product;
  const Form &form;
  int threads = 1,
      teams = 1;     ///< several teams take different ones of the batch, with one thread each
  int64_t count = 1; ///< of the batch
  bool sharesRight = false; ///< the whole batch multiplies by the same
  bool readsLeft = false;   ///< where it lies
  int64_t columnsAtOnce = 0, blocksAtOnce = 0, rowGroups = 1;
  int64_t perTeam = 0, perThread = 0;
};

Call::Call(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads)
    : product(Product::parse(desc)), form(product.form), threads(std::max(1, threads)) {
  if (!form.isHere())
    fail(form.name, ": this processor has no such instructions");
  for (int64_t size : product.batch)
    count *= size;
  size_t expected = 3 + (product.hasBias ? 1 : 0) + product.operandStrides.size();
  if (const auto &change = product.change)
    expected += size_t(change->hasShift) + change->hasFactor + change->hasHot + change->hasSums;
  if (buffers.size() != expected)
    fail("product: a product with ", product.operandStrides.size(), " binary post-ops takes ",
         expected, " buffers, ", buffers.size(), " given");
  auto check = [&](size_t buffer, uint64_t needed, const char *name, bool written) {
    if (buffers[buffer].bytes < needed)
      fail("product: buffer ", buffer, " ('", name, "') has ", buffers[buffer].bytes, " bytes, ",
           needed, " needed");
    if (written && !buffers[buffer].writable)
      fail("product: buffer ", buffer, " ('", name,
           "') is written but lies in a constant or an input");
  };
  auto extent = [&](const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
    size_t rank = product.batch.size();
    __int128 last = __int128(rows - 1) * strides[rank] + __int128(columns - 1) * strides[rank + 1];
    for (size_t d = 0; d < rank; ++d)
      last += __int128(product.batch[d] - 1) * strides[d];
    if (last > (__int128(1) << 60))
      fail("product: strides reach too far");
    return static_cast<uint64_t>(last + 1) * sizeof(float);
  };
  check(0, extent(product.aStrides, product.m, product.k), "a", false);
  check(1,
        product.isPacked ? form.packedBytes(product.k, product.n)
                         : extent(product.bStrides, product.k, product.n),
        "b", false);
  size_t next = 2;
  if (product.hasBias)
    check(next++, static_cast<uint64_t>(product.n) * sizeof(float), "bias", false);
  check(next++, extent(product.dstStrides, product.m, product.n), "dst", true);
  for (const auto &strides : product.operandStrides)
    check(next++, extent(strides, product.m, product.n), "post_ops", false);
  if (const auto &change = product.change) {
    const auto &strides = change->isOfLeft ? product.aStrides : product.bStrides;
    int64_t lanes = change->isOfLeft ? product.m : product.n;
    auto rows = static_cast<uint64_t>(change->across ? product.k : lanes);
    for (size_t d = 0; d < product.batch.size(); ++d)
      rows += static_cast<uint64_t>((product.batch[d] - 1) * (strides[d] / change->row));
    if (change->hasShift)
      check(next++, (change->prologue.shiftStep ? rows : 1) * sizeof(float), "shift", false);
    if (change->hasFactor)
      check(next++, (change->prologue.factorStep ? rows : 1) * sizeof(float), "factor", false);
    if (change->hasHot)
      check(next++, rows * sizeof(int64_t), "hot", false);
    if (change->hasSums)
      check(next++, static_cast<uint64_t>(lanes) * sizeof(float), "sums", true);
  }

  sharesRight = std::all_of(product.bStrides.begin(),
                            product.bStrides.begin() +
                                static_cast<int64_t>(product.isPacked ? 0 : product.batch.size()),
                            [](int64_t stride) { return stride == 0; });
  // Whole ones of a batch keep threads apart best.
  teams = count >= this->threads && !sharesRight ? this->threads : 1;
  int64_t team = this->threads / teams,
          rows = blocksOf(product.m, form.rows) * (sharesRight ? count : 1);
  // A panel takes half of a core's cache.
  int64_t depth = std::min(product.k, kDepthAtOnce) / form.depth;
  const int64_t most =
      std::clamp(runtime::nearBytes() / 2 / std::max<int64_t>(1, depth * form.rightBytes),
                 int64_t(2), kColumnsAtOnce / form.columns) *
      form.columns;
  if (product.n <= most && rows >= 2 * team) {
    // All columns fit into one panel: threads take rows of their own, as many as their second-level
    // caches hold.
    columnsAtOnce = upTo(product.n, form.columns);
    rowGroups = team;
    blocksAtOnce = blocksOf(kOwnRows, form.rows) * team;
  } else {
    int64_t rounds = blocksOf(product.n, team * most);
    columnsAtOnce = std::min(upTo(blocksOf(product.n, team * rounds), form.columns), most);
    int64_t panels = (product.n + columnsAtOnce - 1) / columnsAtOnce;
    rowGroups = std::max<int64_t>(1, std::min(team / panels, rows));
    blocksAtOnce = blocksOf(kRowsAtOnce, form.rows);
  }
  blocksAtOnce = std::min(rows, blocksAtOnce);
  int64_t steps = blocksOf(std::min(product.k, kDepthAtOnce), form.depth);
  readsLeft = product.n <= form.fewColumns && product.aStrides.back() == 1 &&
              product.aStrides[product.batch.size()] > 0;
  perTeam = readsLeft ? 0 : upTo(blocksAtOnce * steps * form.leftBytes, 64);
  perThread = product.isPacked ? 0 : columnsAtOnce / form.columns * steps * form.rightBytes;
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
  one.b = static_cast<const float *>(buffers[1]);
  if (!product.isPacked)
    one.b += start(product.bStrides);
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
  if (const auto &change = product.change) {
    one.row = start(change->isOfLeft ? product.aStrides : product.bStrides) / change->row;
    one.prologue = change->prologue;
    if (change->hasShift)
      one.prologue.shift = static_cast<const float *>(buffers[next++]);
    if (change->hasFactor)
      one.prologue.factor = static_cast<const float *>(buffers[next++]);
    if (change->hasHot)
      one.prologue.hot = static_cast<const int64_t *>(buffers[next++]);
    if (change->hasSums)
      one.sums = static_cast<float *>(buffers[next++]);
  }
  return one;
}

/// body(one, its block, how many blocks, where in the slab)
template <typename Body>
void Call::forEachOne(const Slab &slab, int64_t begin, int64_t end, const Body &body) const {
  int64_t each = blocksOf(product.m, form.rows);
  for (int64_t at = begin; at < end;) {
    int64_t block = (slab.block + at) % each, some = std::min(end - at, each - block);
    body(slab.ones[static_cast<size_t>((slab.block + at) / each)], block, some, at);
    at += some;
  }
}

/// Where an operand's block begins for its prologue; nowhere in particular for the other operand.
Place Call::placeOf(const One &one, bool left, int64_t lane, int64_t depth) const {
  Place place;
  if (!product.change || product.change->isOfLeft != left)
    return place;
  place.prologue = &one.prologue;
  place.across = product.change->across;
  place.row = one.row + (place.across ? depth : lane);
  place.column = place.across ? lane : depth;
  place.isFirst = depth == 0;
  place.sums = one.sums ? one.sums + lane : nullptr;
  return place;
}

void Call::packRows(const Slab &slab, int64_t begin, int64_t end, char *left) const {
  size_t rank = product.batch.size();
  int64_t aRow = product.aStrides[rank], aColumn = product.aStrides[rank + 1];
  int64_t depth = std::min(slab.steps * form.depth, product.k - slab.step * form.depth);
  forEachOne(slab, begin, end, [&](const One &one, int64_t block, int64_t some, int64_t at) {
    int64_t row = block * form.rows, step = slab.step * form.depth;
    Operand operand{one.a + row * aRow + step * aColumn, aRow, aColumn,
                    std::min(some * form.rows, product.m - row), depth};
    form.packLeft(form, operand, placeOf(one, true, row, step),
                  left + at * slab.steps * form.leftBytes);
  });
}

/// What unit `unit` packs of the right operand.
Operand Call::rightOf(const Slab &slab, int64_t unit) const {
  size_t rank = product.batch.size();
  int64_t row = product.bStrides[rank], lane = product.bStrides[rank + 1];
  int64_t column = unit / rowGroups * columnsAtOnce, step = slab.step * form.depth;
  return {slab.ones[0].b + step * row + column * lane, lane, row,
          std::min(columnsAtOnce, product.n - column),
          std::min(slab.steps * form.depth, product.k - step)};
}

/// Some columns of dst, and a part of the slab's rows.
void Call::runUnit(const Slab &slab, int64_t unit, const char *left, char *own) const {
  size_t rank = product.batch.size();
  int64_t column = unit / rowGroups * columnsAtOnce,
          columns = std::min(columnsAtOnce, product.n - column);
  int64_t group = unit % rowGroups, each = (slab.blocks + rowGroups - 1) / rowGroups;
  int64_t begin = group * each, end = std::min(slab.blocks, begin + each);
  if (begin >= end)
    return;
  const float *b = slab.ones[0].b;
  Panel panel;
  panel.parts = form.parts;
  panel.blockRows = form.rows;
  panel.steps = slab.steps;
  panel.leftStride = slab.steps * form.leftBytes;
  panel.dstRow = product.dstStrides[rank];
  panel.leftRow = readsLeft ? product.aStrides[rank] : 0;
  panel.columns = columns;
  panel.firstColumn = column;
  panel.isFirst = slab.step == 0;
  panel.isLast = slab.step + slab.steps == blocksOf(product.k, form.depth);
  panel.each = product.epilogue.count == 1 && product.epilogue.posts[0].kind == PostKind::Sum &&
               !product.hasBias;
  if (product.isPacked) {
    panel.rightStride = blocksOf(product.k, form.depth) * form.rightBytes;
    panel.right = reinterpret_cast<const char *>(b) + column / form.columns * panel.rightStride +
                  slab.step * form.rightBytes;
  } else {
    Place place = placeOf(slab.ones[0], false, column, slab.step * form.depth);
    // Others pack the same columns again.
    if (group > 0 || slab.block > 0)
      place.sums = nullptr;
    form.packRight(form, rightOf(slab, unit), place, own);
    panel.right = own;
    panel.rightStride = slab.steps * form.rightBytes;
  }
  forEachOne(slab, begin, end, [&](const One &one, int64_t block, int64_t some, int64_t at) {
    panel.firstRow = block * form.rows;
    panel.left = left + at * panel.leftStride;
    if (readsLeft)
      panel.left = reinterpret_cast<const char *>(one.a + panel.firstRow * panel.leftRow +
                                                  slab.step * form.depth);
    panel.rows = std::min(some * form.rows, product.m - panel.firstRow);
    panel.dst = one.dst + panel.firstRow * panel.dstRow + column;
    form.multiply(panel, one.epilogue);
  });
}

void Call::multiplyAll(std::span<const One> ones, char *shared, char *own, int team) const {
  int64_t allSteps = blocksOf(product.k, form.depth), most = kDepthAtOnce / form.depth;
  int64_t rounds = (allSteps + most - 1) / most, steps = (allSteps + rounds - 1) / rounds;
  int64_t units = (product.n + columnsAtOnce - 1) / columnsAtOnce * rowGroups;
  int64_t all = blocksOf(product.m, form.rows) * static_cast<int64_t>(ones.size());
  for (int64_t block = 0; block < all; block += blocksAtOnce)
    for (int64_t step = 0; step < allSteps; step += steps) {
      Slab slab{ones, block, std::min(blocksAtOnce, all - block), step,
                std::min(steps, allSteps - step)};
      if (!readsLeft)
        runtime::parallelFor(team, slab.blocks, 1, [&](int64_t begin, int64_t end, int) {
          packRows(slab, begin, end, shared);
        });
      runtime::parallelFor(team, units, 1, [&](int64_t begin, int64_t end, int thread) {
        form.enter();
        for (int64_t unit = begin; unit < end; ++unit)
          runUnit(slab, unit, shared, own + thread * perThread);
        form.leave();
      });
    }
}

void Call::execute(void *const *buffers, const runtime::CallContext &context) {
  auto *scratch = static_cast<char *>(context.scratch);
  char *own = scratch + perTeam * teams;
  std::vector<One> ones;
  ones.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    ones.push_back(at(i, buffers));
  if (sharesRight) {
    multiplyAll(ones, scratch, own, threads);
    return;
  }
  runtime::parallelFor(teams, count, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t i = begin; i < end; ++i)
      multiplyAll({&ones[static_cast<size_t>(i)], 1}, scratch + thread * perTeam,
                  own + thread * perThread, threads / teams);
  });
}

} // namespace

std::unique_ptr<runtime::LibraryCall>
makeProduct(const json &desc, std::span<const runtime::BufferInfo> buffers, int threads) {
  return std::make_unique<Call>(desc, buffers, threads);
}

} // namespace dlc::products

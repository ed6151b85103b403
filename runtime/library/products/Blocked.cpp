//===- Blocked.cpp - panel-blocked matmul ---------------------------------===//
//
// The reduction dimension (depth, K) is summed in several passes. In each pass, all threads
// together pack the left operand once. Then each thread packs a panel of the right operand, which
// stays in its L2 cache while it is multiplied by all rows. If the number of panels is not a
// multiple of the number of threads, two threads share the rows of a panel. If all columns fit into
// one panel, each thread has its own rows and packs a few of them at a time, so that they stay in
// the L2 cache, too. Between two passes dst holds the partial sums.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/products/Operands.h"
#include "runtime/library/products/Schedules.h"

#include <algorithm>
#include <cmath>

namespace dlc::products {

using nlohmann::json;

namespace {

/// Maximum number of rows of the left operand that are packed at a time.
constexpr int64_t kRowsAtOnce = 4096;

/// Returns the index of the first column block of `panel`. The panels' widths differ by at most one
/// block.
int64_t firstBlock(int64_t panel, int64_t panels, int64_t blocks) {
  return panel * blocks / panels;
}

class BlockedMatmulCall : public runtime::LibraryCall {
public:
  BlockedMatmulCall(Operands given, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override { return config.name; }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(perTeam * teams + perThread * threads);
  }

private:
  /// Range of row blocks of all matmuls that share a right operand, and a range of the reduction
  /// dimension.
  struct Slab {
    std::span<const One> ones;
    /// First row block and number of row blocks, counted over all matmuls.
    int64_t block = 0, blocks = 0;
    int64_t step = 0, steps = 0;
  };

  int64_t panelsFor(int64_t team, int64_t widest) const;
  /// Returns the panel's first column, or n for the index after the last panel.
  int64_t columnOf(int64_t panel) const {
    return std::min(product.n, firstBlock(panel, panels, blocksOf(product.n, config.columns)) *
                                   config.columns);
  }
  template <typename Body>
  void forEachOne(const Slab &slab, int64_t begin, int64_t end, const Body &body) const;
  PanelArguments packColumns(const Slab &slab, int64_t number, bool isFirst, char *own) const;
  void multiplyRows(const Slab &slab, PanelArguments panel, int64_t begin, int64_t end,
                    const char *left) const;
  PackPosition placeOf(const One &one, bool left, int64_t lane, int64_t depth) const;
  Operand leftOf(const Slab &slab, const One &one, int64_t block, int64_t some) const;
  Prefetch rowsAhead(const Slab &slab, int64_t block, int64_t blocks) const;
  Prefetch columnsAhead(const Slab &slab, int64_t panel) const;
  void packRows(const Slab &slab, int64_t begin, int64_t end, char *left) const;
  void multiplyColumns(const Slab &slab, int64_t begin, int64_t end, const char *left,
                       char *own) const;
  void multiplyAll(std::span<const One> ones, char *shared, char *own, int team) const;
  void multiplyOwnRows(const Slab &slab, char *own, int team) const;

  Operands operands;
  const MatmulDesc &product;
  const KernelConfig &config;
  int threads = 1,
      teams = 1; ///< number of thread teams: 1, or one per thread if the matmuls are independent
  bool sharesRight = false; ///< all matmuls of the batch have the same right operand
  bool readsLeft = false;   ///< left operand is read in place
  bool streams = false;     ///< right operand exceeds the caches and is read once, from memory
  bool ownRows = false;     ///< each thread packs and multiplies its own rows
  int64_t panels = 1, columnsAtOnce = 0; ///< columnsAtOnce: columns of the widest panel
  int64_t blocksAtOnce = 0, stepsAtOnce = 0;
  int64_t perTeam = 0, perThread = 0, perRight = 0;
};

/// Returns the number of columns of a panel that takes half of a core's L2 cache.
int64_t countCacheColumns(const KernelConfig &config, int64_t depth) {
  return config.columns *
         std::clamp(runtime::getPrivateCacheBytes() / 2 / (depth * config.rightBytes), int64_t(2),
                    kColumnsAtOnce / config.columns);
}

BlockedMatmulCall::BlockedMatmulCall(Operands given, int threads)
    : operands(std::move(given)), product(operands.product), config(product.config),
      threads(std::max(1, threads)) {
  sharesRight = std::all_of(product.bStrides.begin(),
                            product.bStrides.begin() +
                                static_cast<int64_t>(product.isPacked ? 0 : product.batch.size()),
                            [](int64_t stride) { return stride == 0; });
  // Threads that compute different matmuls of a batch need no synchronization.
  teams = operands.count >= this->threads && !sharesRight ? this->threads : 1;
  int64_t team = this->threads / teams,
          rows = blocksOf(product.m, config.rows) * (sharesRight ? operands.count : 1);
  const int64_t allSteps = blocksOf(product.k, config.depth);
  // With a single block of rows, a prepacked right operand is read only once, so the whole
  // reduction dimension is summed in one pass.
  const bool isOnce = product.isPacked && rows == 1;
  const int64_t depth =
      isOnce ? allSteps : blocksOf(std::min(product.k, config.depthAtOnce), config.depth);
  streams = isOnce && allSteps * blocksOf(product.n, config.columns) * config.rightBytes >
                          runtime::getPrivateCacheBytes() * this->threads;
  int64_t most = countCacheColumns(config, depth);
  // The cache must hold two panels of a prepacked operand: the current one and the prefetched next
  // one.
  if (product.isPacked)
    most = std::max<int64_t>(1, most / config.columns / 2) * config.columns;
  ownRows = product.n <= most && rows >= 2 * team;
  blocksAtOnce = std::min(rows, ownRows ? std::max<int64_t>(1, runtime::getPrivateCacheBytes() /
                                                                   16 / (depth * config.leftBytes))
                                        : blocksOf(kRowsAtOnce, config.rows));
  if (!ownRows)
    panels = panelsFor(team, most / config.columns);
  columnsAtOnce = blocksOf(blocksOf(product.n, config.columns), panels) * config.columns;
  // Divide the reduction dimension into passes of nearly equal size.
  stepsAtOnce = blocksOf(allSteps, blocksOf(allSteps, depth));
  readsLeft = product.n <= config.fewColumns && !(product.change && product.change->isOfLeft) &&
              product.aStrides.back() == 1 && product.aStrides[product.batch.size()] > 0;
  const int64_t left = readsLeft ? 0 : upTo(blocksAtOnce * stepsAtOnce * config.leftBytes, 64);
  perTeam = ownRows ? 0 : left;
  perRight = product.isPacked
                 ? 0
                 : upTo(columnsAtOnce / config.columns * stepsAtOnce * config.rightBytes, 64);
  perThread = perRight + (ownRows ? left : 0);
}

/// Returns the number of panels that minimizes the work of the slowest thread. A panel has at most
/// `widest` blocks of columns.
int64_t BlockedMatmulCall::panelsFor(int64_t team, int64_t widest) const {
  // Overheads of a panel, in units of a row block times a column block: `kRow` for each row block,
  // `column` for each column block. A prepacked column block is only read again. Any other column
  // block is packed again, which is expensive relative to tile kernels.
  constexpr double kRow = 0.05;
  constexpr int64_t kMorePanels = 64;
  const double column = product.isPacked ? 0.1 : config.parts > 0 ? 2 : 0.5;
  const int64_t rows = blocksAtOnce, blocks = blocksOf(product.n, config.columns),
                fewest = blocksOf(blocks, widest);
  int64_t best = fewest;
  double least = HUGE_VAL;
  // Limits the search: with very many panels, a few more panels hardly change the balance.
  const int64_t most = std::min(blocks, fewest + std::min<int64_t>(fewest, kMorePanels) + team);
  for (int64_t some = fewest; some <= most; ++some) {
    double longest = 0;
    for (int64_t thread = 0; thread < team; ++thread) {
      double work = 0;
      const int64_t begin = thread * some * rows / team, end = (thread + 1) * some * rows / team;
      for (int64_t panel = begin / rows; panel * rows < end; ++panel) {
        const int64_t part = std::min(end, (panel + 1) * rows) - std::max(begin, panel * rows);
        const int64_t width = firstBlock(panel + 1, some, blocks) - firstBlock(panel, some, blocks);
        work += double(part) * (double(width) + kRow) + double(width) * column;
      }
      longest = std::max(longest, work);
    }
    if (longest < least) {
      least = longest;
      best = some;
    }
  }
  return best;
}

/// Calls body(matmul, its first block, number of blocks, index in the slab) for each matmul that
/// has row blocks in the slab's range [begin, end).
template <typename Body>
void BlockedMatmulCall::forEachOne(const Slab &slab, int64_t begin, int64_t end,
                                   const Body &body) const {
  int64_t each = blocksOf(product.m, config.rows);
  for (int64_t at = begin; at < end;) {
    int64_t block = (slab.block + at) % each, some = std::min(end - at, each - block);
    body(slab.ones[static_cast<size_t>((slab.block + at) / each)], block, some, at);
    at += some;
  }
}

/// Returns the position of an operand's block in the whole operand, which the operand's prologue
/// requires; a default PackPosition if the operand has no prologue.
PackPosition BlockedMatmulCall::placeOf(const One &one, bool left, int64_t lane,
                                        int64_t depth) const {
  PackPosition place;
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

Operand BlockedMatmulCall::leftOf(const Slab &slab, const One &one, int64_t block,
                                  int64_t some) const {
  const size_t rank = product.batch.size();
  const int64_t aRow = product.aStrides[rank], aColumn = product.aStrides[rank + 1];
  const int64_t row = block * config.rows, depth = slab.step * config.depth;
  return {one.a + row * aRow + depth * aColumn, aRow, aColumn,
          std::min(some * config.rows, product.m - row),
          std::min(slab.steps * config.depth, product.k - depth)};
}

void BlockedMatmulCall::packRows(const Slab &slab, int64_t begin, int64_t end, char *left) const {
  forEachOne(slab, begin, end, [&](const One &one, int64_t block, int64_t some, int64_t at) {
    config.packLeft(config, leftOf(slab, one, block, some),
                    placeOf(one, true, block * config.rows, slab.step * config.depth),
                    left + at * slab.steps * config.leftBytes);
  });
}

/// Returns the memory range of the left operand's row blocks for prefetch. The range ends with the
/// first matmul.
Prefetch BlockedMatmulCall::rowsAhead(const Slab &slab, int64_t block, int64_t blocks) const {
  Prefetch ahead;
  forEachOne(slab, block, block + blocks,
             [&](const One &one, int64_t first, int64_t some, int64_t) {
               Operand x = leftOf(slab, one, first, some);
               if (ahead.from || (x.lane != 1 && x.depth != 1))
                 return;
               const bool across = x.lane == 1;
               constexpr int64_t kLine = 64 / sizeof(float);
               ahead.from = reinterpret_cast<const char *>(x.from);
               ahead.row = (across ? x.depth : x.lane) * int64_t(sizeof(float));
               ahead.lines = blocksOf(across ? x.lanes : x.depths, kLine) + 1;
               ahead.end = (across ? x.depths : x.lanes) * ahead.lines;
             });
  return ahead;
}

/// Returns the memory range of panel `panel` of the prepacked right operand for prefetch.
Prefetch BlockedMatmulCall::columnsAhead(const Slab &slab, int64_t panel) const {
  constexpr int64_t kLine = 64;
  const int64_t column = columnOf(panel);
  Prefetch ahead;
  ahead.row = blocksOf(product.k, config.depth) * config.rightBytes;
  ahead.from = reinterpret_cast<const char *>(slab.ones[0].b) +
               column / config.columns * ahead.row + slab.step * config.rightBytes;
  ahead.lines = blocksOf(slab.steps * config.rightBytes, kLine);
  ahead.end = ahead.lines * blocksOf(columnOf(panel + 1) - column, config.columns);
  return ahead;
}

/// Returns a panel of the right operand, which is packed into `own` unless it is prepacked. Several
/// threads may pack the same columns: only the call with `isFirst` computes the prologue's sums.
PanelArguments BlockedMatmulCall::packColumns(const Slab &slab, int64_t number, bool isFirst,
                                              char *own) const {
  const size_t rank = product.batch.size();
  const int64_t column = columnOf(number);
  const float *b = slab.ones[0].b;
  PanelArguments panel;
  panel.parts = config.parts;
  panel.blockRows = config.rows;
  panel.steps = slab.steps;
  panel.leftStride = slab.steps * config.leftBytes;
  panel.dstRow = product.dstStrides[rank];
  panel.leftRow = readsLeft ? product.aStrides[rank] : 0;
  panel.columns = columnOf(number + 1) - column;
  panel.firstColumn = column;
  panel.isFirst = slab.step == 0;
  panel.isLast = slab.step + slab.steps == blocksOf(product.k, config.depth);
  panel.each = product.addsUp();
  panel.streams = streams;
  if (product.isPacked) {
    panel.rightStride = blocksOf(product.k, config.depth) * config.rightBytes;
    panel.right = reinterpret_cast<const char *>(b) + column / config.columns * panel.rightStride +
                  slab.step * config.rightBytes;
    return panel;
  }
  const int64_t row = product.bStrides[rank], lane = product.bStrides[rank + 1],
                depth = slab.step * config.depth;
  Operand operand{b + depth * row + column * lane, lane, row, panel.columns,
                  std::min(slab.steps * config.depth, product.k - depth)};
  PackPosition place = placeOf(slab.ones[0], false, column, depth);
  if (!isFirst)
    place.sums = nullptr;
  config.packRight(config, operand, place, own);
  panel.right = own;
  panel.rightStride = slab.steps * config.rightBytes;
  return panel;
}

/// Multiplies the slab's row blocks from `begin` to `end` by one panel of columns.
void BlockedMatmulCall::multiplyRows(const Slab &slab, PanelArguments panel, int64_t begin,
                                     int64_t end, const char *left) const {
  forEachOne(slab, begin, end, [&](const One &one, int64_t block, int64_t some, int64_t at) {
    panel.firstRow = block * config.rows;
    // A left operand that is read in place has no packed copy: `left` may be null.
    panel.left = readsLeft ? reinterpret_cast<const char *>(one.a + panel.firstRow * panel.leftRow +
                                                            slab.step * config.depth)
                           : left + at * panel.leftStride;
    panel.rows = std::min(some * config.rows, product.m - panel.firstRow);
    panel.dst = one.dst + panel.firstRow * panel.dstRow + panel.firstColumn;
    config.multiply(panel, one.epilogue);
  });
}

/// Multiplies a range of the slab's (panel, row block) pairs. The index of a pair is panel *
/// slab.blocks + block.
void BlockedMatmulCall::multiplyColumns(const Slab &slab, int64_t begin, int64_t end,
                                        const char *left, char *own) const {
  Slab later = slab;
  later.step += slab.steps;
  later.steps = std::min(stepsAtOnce, blocksOf(product.k, config.depth) - later.step);
  for (int64_t at = begin; at < end;) {
    const int64_t number = at / slab.blocks, block = at % slab.blocks,
                  some = std::min(end - at, slab.blocks - block);
    PanelArguments panel = packColumns(slab, number, slab.block + block == 0, own);
    at += some;
    if (product.isPacked && at < end)
      panel.ahead = columnsAhead(slab, number + 1);
    else if (product.isPacked && later.steps > 0)
      panel.ahead = columnsAhead(later, begin / slab.blocks);
    multiplyRows(slab, panel, block, block + some, left);
  }
}

/// Multiplies the slab's rows by all columns. Each thread takes some of the rows and packs at a
/// time as many as fit in its L2 cache.
void BlockedMatmulCall::multiplyOwnRows(const Slab &slab, char *own, int team) const {
  runtime::parallelFor(team, slab.blocks, 1, [&](int64_t begin, int64_t end, int thread) {
    char *right = own + thread * perThread, *left = right + perRight;
    config.enter();
    PanelArguments panel = packColumns(slab, 0, begin == 0, right);
    for (int64_t block = begin; block < end; block += blocksAtOnce) {
      Slab some{slab.ones, block, std::min(blocksAtOnce, end - block), slab.step, slab.steps};
      if (!readsLeft)
        packRows(some, 0, some.blocks, left);
      const int64_t next = block + some.blocks;
      panel.ahead = {};
      if (next < end)
        panel.ahead = rowsAhead(slab, next, std::min(blocksAtOnce, end - next));
      multiplyRows(some, panel, 0, some.blocks, left);
    }
    config.leave();
  });
}

void BlockedMatmulCall::multiplyAll(std::span<const One> ones, char *shared, char *own,
                                    int team) const {
  int64_t allSteps = blocksOf(product.k, config.depth);
  int64_t all = blocksOf(product.m, config.rows) * static_cast<int64_t>(ones.size());
  int64_t blocks = ownRows ? all : blocksAtOnce;
  for (int64_t block = 0; block < all; block += blocks)
    for (int64_t step = 0; step < allSteps; step += stepsAtOnce) {
      Slab slab{ones, block, std::min(blocks, all - block), step,
                std::min(stepsAtOnce, allSteps - step)};
      if (ownRows) {
        multiplyOwnRows(slab, own, team);
        continue;
      }
      if (!readsLeft)
        runtime::parallelFor(team, slab.blocks, 1, [&](int64_t begin, int64_t end, int) {
          packRows(slab, begin, end, shared);
        });
      runtime::parallelFor(team, panels * slab.blocks, 1,
                           [&](int64_t begin, int64_t end, int thread) {
                             config.enter();
                             multiplyColumns(slab, begin, end, shared, own + thread * perThread);
                             config.leave();
                           });
    }
}

void BlockedMatmulCall::execute(void *const *buffers, const runtime::CallContext &context) {
  auto *scratch = static_cast<char *>(context.scratch);
  char *own = scratch + perTeam * teams;
  std::vector<One> ones;
  ones.reserve(static_cast<size_t>(operands.count));
  for (int64_t i = 0; i < operands.count; ++i)
    ones.push_back(operands.at(i, buffers));
  if (sharesRight) {
    multiplyAll(ones, scratch, own, threads);
    return;
  }
  runtime::parallelFor(teams, operands.count, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t i = begin; i < end; ++i)
      multiplyAll({&ones[static_cast<size_t>(i)], 1}, scratch + thread * perTeam,
                  own + thread * perThread, threads / teams);
  });
}

} // namespace

int64_t panelColumns(const KernelConfig &config, int64_t k) {
  return countCacheColumns(config, blocksOf(std::min(k, config.depthAtOnce), config.depth));
}

std::unique_ptr<runtime::LibraryCall> makeBlocked(Operands operands, int threads) {
  return std::make_unique<BlockedMatmulCall>(std::move(operands), threads);
}

} // namespace dlc::products

//===- Grouped.cpp - grouped matmuls and their gradients ------------------===//
//
// Each group is one matmul: its rows times its matrix. In a gradient, it is the group's transposed
// rows of the first operand times its rows of the second operand. In each round, all threads first
// pack as many left operands as the buffer holds. Then each thread takes its share of the units. A
// unit is some columns of one group's right operand with all or some of the group's rows. The
// thread packs the columns, which stay in its L2 cache while the rows are multiplied, or reads them
// in place. The sizes of units vary with their groups. The threads' shares have nearly equal cost,
// where reading a matrix from memory costs as much as multiplying some rows by it.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/products/Grouped.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"

#include <algorithm>
#include <cstring>

namespace dlc::products {

using describe::Grouped;
using nlohmann::json;
using Matrices = Grouped::Matrices;

namespace {

/// Maximum size in bytes of the left operands that are packed in one round.
constexpr int64_t kLeftAtOnce = int64_t(32) << 20;
/// Number of rows whose multiplication takes as long as reading their matrix from memory.
constexpr int64_t kRowsOfMatrix = 16;
/// Minimum cost of a thread's share of the work, in multiply-adds.
constexpr int64_t kFewProducts = 1 << 16;
/// Maximum number of blocks of a left operand that are packed together.
constexpr int64_t kBlocksTogether = 8;

/// Part of one group's matmul: a range of lanes of the left operand, over the whole reduction
/// dimension (depth). Lanes are rows. In a gradient, lanes are columns, and the reduction dimension
/// is the group's rows.
struct GroupSlice {
  /// `row`: first row of the group. `lane`, `lanes`: range of lanes. `depth`: size of the reduction
  /// dimension.
  int64_t group, row, lane, lanes, depth;
  /// `blockLanes`: lanes per packed block. `blocks`: number of blocks. `left`: byte offset of this
  /// slice's packed left operand in the shared scratch memory.
  int64_t blockLanes, blocks, left;
};

/// Unit of work: a range of a part's lane blocks, multiplied by a range of columns.
struct WorkUnit {
  const GroupSlice *part;
  int64_t block, blocks, column, columns;
};

class GroupedMatmulCall : public runtime::LibraryCall {
public:
  GroupedMatmulCall(const Grouped &described, const KernelConfig &config, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override { return config.name; }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(leftBytes + perThread * threads);
  }

private:
  struct Run; ///< state of one execution

  bool isNarrow() const { return g.dtype == DType::BF16; }
  bool readsInPlace() const {
    return g.matrices == Matrices::Columns && canReadColumnsInPlace(config, g.dtype, g.k, g.n);
  }
  int64_t steps(int64_t depth) const { return blocksOf(depth, config.depth); }
  /// leftBlock() and rightBlock() return the size in bytes of a packed block of left lanes and of
  /// right columns.
  int64_t leftBlock(const GroupSlice &part) const {
    return steps(part.depth) * (config.leftBytes / config.rows * part.blockLanes);
  }
  int64_t rightBlock(int64_t depth) const { return steps(depth) * config.rightBytes; }

  Grouped g;
  KernelConfig config;
  int threads;
  int64_t blocksAtOnce = 0; ///< number of left lane blocks that are packed in one round
  int64_t leftBytes = 0, rightBytes = 0, outBytes = 0, perThread = 0;
};

GroupedMatmulCall::GroupedMatmulCall(const Grouped &described, const KernelConfig &given,
                                     int threads)
    : g(described), config(given), threads(std::max(1, threads)) {
  const int64_t some = std::min(g.groups, g.rows); ///< maximum number of non-empty groups
  const int64_t deepest = g.isGradient ? g.rows : g.k;
  // Each group may end with a partial block or step, so one more is reserved for each of `some`
  // groups.
  if (g.isGradient) {
    const int64_t each = (g.rows / config.depth + some) * config.leftBytes;
    blocksAtOnce = std::clamp<int64_t>(kLeftAtOnce / std::max<int64_t>(1, each), 1,
                                       std::max<int64_t>(1, blocksOf(g.k, config.rows)));
    leftBytes = upTo(blocksAtOnce * each, 64);
  } else {
    const int64_t each = steps(g.k) * config.leftBytes;
    blocksAtOnce = std::clamp<int64_t>(kLeftAtOnce / std::max<int64_t>(1, each), 1,
                                       std::max<int64_t>(1, g.rows / config.rows + some));
    leftBytes = upTo(blocksAtOnce * each, 64);
  }
  if (readsInPlace())
    return;
  if (g.matrices != Matrices::Packed)
    rightBytes = upTo(std::max(runtime::getPrivateCacheBytes() / 2, rightBlock(deepest)), 64);
  if (isNarrow())
    outBytes = config.rows * kColumnsAtOnce * int64_t(sizeof(float));
  perThread = rightBytes + outBytes;
}

struct GroupedMatmulCall::Run {
  const GroupedMatmulCall &call;
  const Grouped &g = call.g;
  const KernelConfig &config = call.config;
  void *const *buffers;
  char *shared, *own;
  int threads;
  std::vector<int64_t> borders; ///< first row of each group, then the end of the last group

  Run(const GroupedMatmulCall &call, void *const *buffers, const runtime::CallContext &context)
      : call(call), buffers(buffers), shared(static_cast<char *>(context.scratch)),
        own(shared + call.leftBytes), threads(std::max(1, std::min(call.threads, context.threads))),
        borders(g.borders(buffers[2])) {}

  void all();

private:
  int64_t rowsOf(int64_t group) const {
    return borders[size_t(group) + 1] - borders[size_t(group)];
  }
  void clear(int64_t element, int64_t count) const;
  GroupSlice partOf(int64_t group, int64_t lane, int64_t lanes, int64_t left) const;
  void round(std::vector<GroupSlice> &parts) const;
  template <typename Body> void share(const std::vector<WorkUnit> &units, const Body &body) const;
  void packLeft(const WorkUnit &unit) const;
  std::vector<WorkUnit> unitsOf(const std::vector<GroupSlice> &parts) const;
  const char *rightOf(const WorkUnit &unit, char *own) const;
  int64_t placeOf(const WorkUnit &unit, int64_t block) const;
  Prefetch aheadOf(const WorkUnit &unit, const WorkUnit *next) const;
  void multiply(const WorkUnit &unit, const WorkUnit *next, char *own) const;
  void multiplyInPlace(const WorkUnit &unit) const;

  /// Calls body with a value of the operands' element type: float, or uint16_t for bf16.
  template <typename Body> void typed(const Body &body) const {
    call.isNarrow() ? body(uint16_t()) : body(float());
  }
};

/// Sets `count` elements of the result, beginning with `element`, to 0.
void GroupedMatmulCall::Run::clear(int64_t element, int64_t count) const {
  const auto size = static_cast<int64_t>(dtypeBytes(g.dtype));
  char *to = static_cast<char *>(buffers[3]) + element * size;
  runtime::parallelFor(threads, count * size, 1 << 20, [&](int64_t begin, int64_t end, int) {
    std::memset(to + begin, 0, static_cast<size_t>(end - begin));
  });
}

GroupSlice GroupedMatmulCall::Run::partOf(int64_t group, int64_t lane, int64_t lanes,
                                          int64_t left) const {
  GroupSlice part{};
  part.group = group;
  part.row = borders[size_t(group)];
  part.lane = lane;
  part.lanes = lanes;
  part.depth = g.isGradient ? rowsOf(group) : g.k;
  part.blocks = blocksOf(lanes, config.rows);
  part.blockLanes = config.anyRows ? blocksOf(lanes, part.blocks) : config.rows;
  part.blocks = blocksOf(lanes, part.blockLanes);
  part.left = left;
  return part;
}

void GroupedMatmulCall::Run::all() {
  std::vector<GroupSlice> parts;
  if (g.isGradient) {
    for (int64_t group = 0; group < g.groups; ++group)
      if (rowsOf(group) == 0)
        clear(group * g.k * g.n, g.k * g.n);
    const int64_t lanes = call.blocksAtOnce * config.rows;
    for (int64_t lane = 0; lane < g.k; lane += lanes) {
      int64_t left = 0;
      for (int64_t group = 0; group < g.groups; ++group)
        if (rowsOf(group) > 0) {
          parts.push_back(partOf(group, lane, std::min(lanes, g.k - lane), left));
          left += parts.back().blocks * call.leftBlock(parts.back());
        }
      round(parts);
    }
    return;
  }
  if (g.k == 0)
    return clear(0, g.rows * g.n);
  clear(borders.back() * g.n, (g.rows - borders.back()) * g.n);
  int64_t blocks = 0, left = 0;
  for (int64_t group = 0; group < g.groups; ++group)
    for (int64_t at = 0; at < rowsOf(group);) {
      // Take as many rows as the buffer has capacity for.
      const int64_t rows = std::min((call.blocksAtOnce - blocks) * config.rows, rowsOf(group) - at);
      if (rows == 0) {
        round(parts);
        blocks = left = 0;
        continue;
      }
      parts.push_back(partOf(group, borders[size_t(group)] + at, rows, left));
      blocks += blocksOf(rows, config.rows);
      left += parts.back().blocks * call.leftBlock(parts.back());
      at += rows;
    }
  round(parts);
}

/// Packs the left operands of the parts, multiplies them by the right operands, and clears `parts`.
void GroupedMatmulCall::Run::round(std::vector<GroupSlice> &parts) const {
  if (parts.empty() || g.n == 0)
    return parts.clear();
  int64_t blocks = 0;
  for (const GroupSlice &part : parts)
    blocks += part.blocks;
  const int64_t together = std::clamp<int64_t>(blocks / (2 * threads), 1, kBlocksTogether);
  std::vector<WorkUnit> packs;
  for (const GroupSlice &part : parts)
    for (int64_t block = 0; block < part.blocks; block += together)
      packs.push_back({&part, block, std::min(together, part.blocks - block), 0, 0});
  share(packs, [&](const WorkUnit &unit, const WorkUnit *, char *) { packLeft(unit); });
  std::vector<WorkUnit> units = unitsOf(parts);
  share(units,
        [&](const WorkUnit &unit, const WorkUnit *next, char *own) { multiply(unit, next, own); });
  parts.clear();
}

/// Calls body(unit, the thread's next unit or null, the thread's scratch memory) for all units, in
/// shares of equal cost.
template <typename Body>
void GroupedMatmulCall::Run::share(const std::vector<WorkUnit> &units, const Body &body) const {
  auto costOf = [](const WorkUnit &unit) {
    const int64_t lanes = unit.blocks * unit.part->blockLanes;
    // A unit without columns only packs, at the same cost for each element of the left operand.
    return unit.part->depth *
           (unit.columns ? unit.columns * (lanes + kRowsOfMatrix) : lanes * kRowsOfMatrix);
  };
  int64_t total = 0;
  for (const WorkUnit &unit : units)
    total += costOf(unit);
  const int64_t team = std::clamp<int64_t>(total / kFewProducts, 1, threads);
  std::vector<size_t> begins(size_t(team) + 1, units.size());
  begins[0] = 0;
  int64_t before = 0, next = 1;
  for (size_t i = 0; i < units.size(); ++i) {
    const int64_t cost = costOf(units[i]);
    // A unit belongs to the thread's share that contains the middle of the unit's cost.
    while (next < team && (before + cost / 2) * team >= total * next)
      begins[size_t(next++)] = i;
    before += cost;
  }
  runtime::parallelFor(int(team), team, 1, [&](int64_t begin, int64_t end, int thread) {
    config.enter();
    const size_t last = begins[size_t(end)];
    for (size_t i = begins[size_t(begin)]; i < last; ++i)
      body(units[i], i + 1 < last ? &units[i + 1] : nullptr, own + thread * call.perThread);
    config.leave();
  });
}

void GroupedMatmulCall::Run::packLeft(const WorkUnit &unit) const {
  const GroupSlice &part = *unit.part;
  const int64_t lane = part.lane + unit.block * part.blockLanes,
                lanes = std::min(unit.blocks * part.blockLanes, part.lane + part.lanes - lane);
  KernelConfig packing = config;
  packing.rows = part.blockLanes;
  char *to = shared + part.left + unit.block * call.leftBlock(part);
  typed([&](auto zero) {
    using T = decltype(zero);
    const T *a = static_cast<const T *>(buffers[0]);
    OperandOf<T> x{a + lane * g.k, g.k, 1, lanes, part.depth};
    if (g.isGradient)
      x = {a + part.row * g.k + lane, 1, g.k, lanes, part.depth};
    if constexpr (std::is_same_v<T, float>)
      config.packLeft(packing, x, {}, to);
    else if (call.readsInPlace())
      config.packRightNarrow(packing, x, to);
    else
      config.packLeftNarrow(packing, x, to);
  });
}

/// Splits the parts into units whose right panel stays in the L2 cache, with nearly equal work for
/// all threads.
std::vector<WorkUnit> GroupedMatmulCall::Run::unitsOf(const std::vector<GroupSlice> &parts) const {
  const int64_t all = blocksOf(g.n, config.columns);
  // The cache must hold two prepacked panels: the current one and the prefetched next one.
  const int64_t room = runtime::getPrivateCacheBytes() / (g.matrices == Matrices::Packed ? 4 : 2);
  const int64_t wanted = threads > 1 ? blocksOf(4 * threads, int64_t(parts.size())) : 1;
  std::vector<WorkUnit> units;
  for (const GroupSlice &part : parts) {
    const int64_t most =
        std::clamp<int64_t>(room / call.rightBlock(part.depth), 1, kColumnsAtOnce / config.columns);
    const int64_t panels = std::min(all, std::max(blocksOf(all, most), wanted)),
                  columns = blocksOf(all, panels) * config.columns;
    // If there are too few columns for all threads, split the rows, too.
    const int64_t groups = std::min(part.blocks, blocksOf(wanted, 2 * blocksOf(g.n, columns))),
                  each = blocksOf(part.blocks, groups);
    for (int64_t column = 0; column < g.n; column += columns)
      for (int64_t block = 0; block < part.blocks; block += each)
        units.push_back({&part, block, std::min(each, part.blocks - block), column,
                         std::min(columns, g.n - column)});
  }
  return units;
}

/// Returns the packed columns of the unit's right operand. Packs them into `own` unless they are
/// prepacked.
const char *GroupedMatmulCall::Run::rightOf(const WorkUnit &unit, char *own) const {
  const GroupSlice &part = *unit.part;
  if (g.matrices == Matrices::Packed)
    return static_cast<const char *>(buffers[1]) +
           (part.group * blocksOf(g.n, config.columns) + unit.column / config.columns) *
               call.rightBlock(g.k);
  typed([&](auto zero) {
    using T = decltype(zero);
    const T *b = static_cast<const T *>(buffers[1]);
    OperandOf<T> x{b + part.row * g.n + unit.column, 1, g.n, unit.columns, part.depth};
    if (!g.isGradient && g.matrices == Matrices::Rows)
      x.from = b + part.group * g.k * g.n + unit.column;
    else if (!g.isGradient)
      x = {b + (part.group * g.n + unit.column) * g.k, g.k, 1, unit.columns, part.depth};
    if constexpr (std::is_same_v<T, float>)
      config.packRight(config, x, {}, own);
    else
      config.packRightNarrow(config, x, own);
  });
  return own;
}

/// Returns the offset in dst of the first result of block `block`, in elements.
int64_t GroupedMatmulCall::Run::placeOf(const WorkUnit &unit, int64_t block) const {
  const GroupSlice &part = *unit.part;
  const int64_t row = part.lane + block * part.blockLanes + (g.isGradient ? part.group * g.k : 0);
  return row * g.n + unit.column;
}

/// Returns the memory range of packed columns to prefetch. With a single block of rows, these are
/// the unit's own columns, shortly before they are used. Otherwise they are the next unit's
/// columns, prefetched while all rows of this unit are multiplied.
Prefetch GroupedMatmulCall::Run::aheadOf(const WorkUnit &unit, const WorkUnit *next) const {
  constexpr int64_t kLine = 64, kBefore = 16384;
  const bool isOnce = unit.blocks == 1;
  const WorkUnit *of = isOnce ? &unit : next;
  Prefetch ahead;
  if (!of || (of == next && of->part == unit.part && of->column == unit.column))
    return ahead;
  ahead.from = rightOf(*of, nullptr) + (isOnce ? kBefore : 0);
  ahead.lines = blocksOf(of->columns, config.columns) * call.rightBlock(g.k) / kLine;
  ahead.end = ahead.lines;
  return ahead;
}

void GroupedMatmulCall::Run::multiplyInPlace(const WorkUnit &unit) const {
  const GroupSlice &part = *unit.part;
  const int64_t block = call.leftBlock(part);
  InPlaceMatmul args;
  args.left = shared + part.left + unit.block * block;
  args.stride = block;
  args.right = static_cast<const uint16_t *>(buffers[1]) + (part.group * g.n + unit.column) * g.k;
  args.depth = g.k;
  args.rows = std::min(unit.blocks * part.blockLanes, part.lanes - unit.block * part.blockLanes);
  args.columns = unit.columns;
  args.dst = static_cast<uint16_t *>(buffers[3]) + placeOf(unit, unit.block);
  args.dstRow = g.n;
  config.multiplyInPlace(args);
}

void GroupedMatmulCall::Run::multiply(const WorkUnit &unit, const WorkUnit *next, char *own) const {
  if (call.readsInPlace())
    return multiplyInPlace(unit);
  const GroupSlice &part = *unit.part;
  const int64_t steps = call.steps(part.depth);
  const char *right = rightOf(unit, own);
  PanelArguments panel;
  panel.parts = config.parts;
  panel.blockRows = part.blockLanes;
  panel.leftStride = call.leftBlock(part);
  panel.rightStride = call.rightBlock(part.depth);
  panel.columns = unit.columns;
  if (g.matrices == Matrices::Packed)
    panel.ahead = aheadOf(unit, next);
  // Number of steps per pass: if the columns do not fit in the L2 cache over the whole reduction
  // dimension, it is summed in several passes.
  const int64_t depth =
      std::max<int64_t>(1, runtime::getPrivateCacheBytes() / 2 /
                               (blocksOf(unit.columns, config.columns) * config.rightBytes));
  auto sumUp = [&](int64_t block, int64_t blocks) {
    panel.rows = std::min(blocks * part.blockLanes, part.lanes - block * part.blockLanes);
    for (int64_t step = 0; step < steps; step += depth) {
      panel.steps = std::min(depth, steps - step);
      panel.left =
          shared + part.left + block * panel.leftStride + step * (panel.leftStride / steps);
      panel.right = right + step * config.rightBytes;
      panel.isFirst = step == 0;
      panel.isLast = step + panel.steps == steps;
      config.multiply(panel, Epilogue());
      panel.ahead = {};
    }
  };
  if (!call.isNarrow()) {
    panel.dst = static_cast<float *>(buffers[3]) + placeOf(unit, unit.block);
    panel.dstRow = g.n;
    return sumUp(unit.block, unit.blocks);
  }
  // Number of blocks of rows whose f32 sums stay in the cache until they are rounded.
  const int64_t atOnce = std::max<int64_t>(1, call.outBytes / (unit.columns * part.blockLanes * 4));
  panel.dst = reinterpret_cast<float *>(own + call.rightBytes);
  panel.dstRow = unit.columns;
  for (int64_t block = unit.block; block < unit.block + unit.blocks; block += atOnce) {
    sumUp(block, std::min(atOnce, unit.block + unit.blocks - block));
    uint16_t *to = static_cast<uint16_t *>(buffers[3]) + placeOf(unit, block);
    for (int64_t i = 0; i < panel.rows; ++i)
      config.narrow(panel.dst + i * unit.columns, unit.columns, to + i * g.n);
  }
}

void GroupedMatmulCall::execute(void *const *buffers, const runtime::CallContext &context) {
  Run(*this, buffers, context).all();
}

} // namespace

std::unique_ptr<runtime::LibraryCall> makeGrouped(const json &desc, const KernelConfig &config,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads) {
  const char *name = "grouped product";
  const Grouped g = Grouped::of(schema::Grouped::read(desc, name), /*canBePacked=*/true);
  if (!config.isHere())
    runtime::fail(config.name, ": this processor lacks the instructions that this kernel uses");
  if (g.dtype != DType::F32 && !(g.dtype == DType::BF16 && config.narrow))
    runtime::fail(config.name, ": grouped product: required: operands of f32",
                  config.narrow ? " or bf16" : "");
  describe::BufferChecker given(buffers, name);
  g.check(given, config.packedBytes(g.k, g.n));
  return std::make_unique<GroupedMatmulCall>(g, config, threads);
}

bool canReadColumnsInPlace(const KernelConfig &config, DType dtype, int64_t k, int64_t n) {
  return config.multiplyInPlace && dtype == DType::BF16 && k % config.depth == 0 &&
         n % config.columns == 0;
}

void packMatrices(const KernelConfig &config, const void *from, DType dtype, bool transposed,
                  int64_t groups, int64_t k, int64_t n, void *to) {
  const auto each = static_cast<int64_t>(config.packedBytes(k, n));
  runtime::parallelFor(threads::defaultThreads(), groups, 1, [&](int64_t begin, int64_t end, int) {
    auto pack = [&](auto *matrices, auto by) {
      for (int64_t group = begin; group < end; ++group)
        by(OperandOf<std::remove_cvref_t<decltype(*matrices)>>{matrices + group * k * n,
                                                               transposed ? k : 1,
                                                               transposed ? 1 : n, n, k},
           static_cast<char *>(to) + group * each);
    };
    if (dtype == DType::BF16)
      pack(static_cast<const uint16_t *>(from),
           [&](const NarrowOperand &x, void *at) { config.packRightNarrow(config, x, at); });
    else
      pack(static_cast<const float *>(from),
           [&](const Operand &x, void *at) { config.packRight(config, x, {}, at); });
  });
}

} // namespace dlc::products

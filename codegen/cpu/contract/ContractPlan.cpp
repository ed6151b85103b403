//===- ContractPlan.cpp - schedule and packing of a generated matrix multiplication ---===//
#include "codegen/cpu/contract/Contract.h"

#include <cstring>
#include <numeric>
#include <vector>

namespace dlc::cpu {
namespace {

constexpr int64_t kLine = 64;
/// Associativity of a first-level cache: number of lines it holds whose addresses are equal modulo
/// 4096.
constexpr int64_t kWays = 8;
/// Maximum bytes of A in a chunk, so that the chunk stays in the second-level cache together with a
/// panel of B.
constexpr int64_t kChunkBytes = 512 * 1024;
/// Maximum bytes of A in a chunk if B is packed by the kernel or exceeds the last-level cache
/// (kLargeB). Chunks are then larger, because each chunk packs or reads all of B again.
constexpr int64_t kLargeChunkBytes = 8 * 1024 * 1024;
constexpr int64_t kLargeB = 8 * 1024 * 1024;
/// Maximum bytes of the part of a panel of B (a block along K) that stays in cache while all row
/// blocks of a chunk are multiplied by it.
constexpr int64_t kPanelBytes = 256 * 1024;
/// Panel widths of a GEMV on an unpacked B: kWidest columns have accumulators that fit in the
/// first-level cache; fewer than kNarrowest columns are read inefficiently. kFarB: bytes of B above
/// which it exceeds the caches of a core.
constexpr int64_t kWidest = 2048, kNarrowest = 256;
constexpr int64_t kFarB = 256 * 1024;
/// Number of work units that keeps many threads busy.
constexpr int64_t kUnits = 32;
/// Minimum number of multiply-adds per thread: with fewer, a further thread costs more time than it
/// saves. kBytesPerThread applies to multiply-adds of 8-bit integers.
constexpr int64_t kWorkPerThread = 200 * 1000, kBytesPerThread = 4 * kWorkPerThread;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t byteWidth(mlir::Type type) { return type.getIntOrFloatBitWidth() / 8; }

/// Returns whether `rows` rows with the stride `strideBytes` map to so few sets of the first-level
/// cache that they evict each other.
bool rowsConflictInCache(int64_t rows, int64_t strideBytes) {
  if (strideBytes % kLine)
    return false;
  int64_t sets = 4096 / kLine;
  int64_t distinct = sets / std::gcd(sets, strideBytes / kLine);
  return ceilDiv(rows, distinct) > kWays / 2;
}

/// Returns the bytes of one element of a packed B.
int64_t getPackedElementBytes(const ContractSpec &spec) {
  return std::min<int64_t>(byteWidth(spec.elementB), spec.sumsIntegers() ? 2 : 8);
}

/// Returns the bytes of one panel of a packed B, with the sums of its columns if the kernel
/// multiplies bytes.
int64_t getPanelBytes(const ContractSpec &spec, const ContractPlan &plan) {
  return plan.panelColumns * (plan.steps * plan.groupSize * getPackedElementBytes(spec) +
                              (plan.multipliesBytes ? int64_t(sizeof(int32_t)) : 0));
}

/// Returns whether the kernel can multiply bytes: the processor has the instruction, B is packed,
/// and the elements of A are adjacent along k.
bool canMultiplyBytes(const ContractSpec &spec, const Target &target) {
  using enum runtime::Feature;
  bool supported = target.vectorBits == 256
                       ? target.has(Avxvnni) || (target.has(Avx512vnni) && target.has(Avx512vl))
                       : target.has(Avx512vnni);
  return supported && spec.sumsIntegers() && spec.packedB && spec.strideAk == 1 &&
         byteWidth(spec.elementA) == 1 && byteWidth(spec.elementB) == 1;
}

/// Chooses the number and width of the panels of B's columns.
void choosePanels(ContractPlan &plan, const ContractSpec &spec, bool avx512) {
  int64_t vectors = 2;
  if (plan.blocks == 1 &&
      (plan.multipliesBytes || (!spec.packedB && spec.strideBn == 1 && !spec.sumsIntegers())))
    vectors = std::clamp<int64_t>((avx512 ? 16 : 8) / spec.m, 2, avx512 ? 8 : 4);
  plan.panelColumns = vectors * plan.lanes;
  plan.walksRows = spec.m == 1 && !spec.packedB && !spec.sumsIntegers() && spec.strideBn == 1 &&
                   spec.n > plan.panelColumns &&
                   spec.k * spec.n * byteWidth(spec.elementB) * spec.batchSize() > kFarB;
  if (plan.walksRows) {
    int64_t wanted = ceilDiv(spec.n, ceilDiv(kUnits, spec.batchSize()));
    plan.panelColumns =
        ceilDiv(std::min({spec.n, kWidest, std::max(kNarrowest, wanted)}), plan.lanes) * plan.lanes;
  }
  plan.panels = ceilDiv(spec.n, plan.panelColumns);
}

/// Computes the sizes of the scratch memory and of packed operands. `depth` is the number of rows
/// of a panel, `sumBytes` the size of an accumulator, and `heldBytes` that of an element that is
/// packed at run time.
void reserveMemory(ContractPlan &plan, const ContractSpec &spec, int64_t depth, int64_t sumBytes,
                   int64_t heldBytes) {
  const int64_t chunkRows = plan.blocksPerChunk * plan.blockHeight();
  auto reserve = [&](int64_t bytes) {
    int64_t offset = plan.scratchBytes;
    plan.scratchBytes += ceilDiv(bytes, kLine) * kLine;
    return offset;
  };
  if (plan.packsA)
    reserve(chunkRows * getPackedRowStrideA(spec, heldBytes) * heldBytes);
  if (plan.multipliesBytes)
    plan.scratchRowSums = reserve(chunkRows * sumBytes);
  if (plan.packsB)
    plan.scratchB = reserve(depth * plan.panelColumns * heldBytes);
  if (plan.keepsSums)
    plan.scratchSums = reserve(chunkRows * plan.panelColumns * sumBytes);
  if (spec.packedA)
    plan.packedBytes = spec.m * depth * heldBytes;
  if (spec.packedB) {
    bool shared = spec.isShared(&BatchDim::strideB);
    plan.packedBytes = (shared ? 1 : spec.batchSize()) * plan.panels * getPanelBytes(spec, plan);
  }
}

} // namespace

bool supportsIntegerMatmul(const Target &target) {
  using enum runtime::Feature;
  return target.has(Avx2) && (target.vectorBits == 256 || target.has(Avx512bw));
}

ContractPlan planContract(const ContractSpec &spec, const Target &target, bool hasEpilogue) {
  ContractPlan plan;
  plan.multipliesBytes = canMultiplyBytes(spec, target);
  plan.groupSize = plan.multipliesBytes ? 4 : spec.sumsIntegers() ? 2 : 1;
  plan.steps = ceilDiv(spec.k, plan.groupSize);
  bool wideSum = spec.elementA.isF64() || spec.elementB.isF64();
  int64_t sumBytes = wideSum ? 8 : 4, heldBytes = plan.multipliesBytes  ? 1
                                                  : spec.sumsIntegers() ? 2
                                                                        : sumBytes;
  int64_t depth = plan.steps * plan.groupSize;
  bool avx512 = target.vectorBits >= 512;
  plan.lanes = target.vectorBits / 8 / sumBytes;
  // Maximum rows of a register block: two accumulator vectors per row, one broadcast element of A
  // and two vectors of B fill the register file.
  int64_t tallest = avx512 ? 14 : 6;
  plan.rows = spec.m;
  plan.blocks = ceilDiv(spec.m, tallest);
  int64_t height = plan.blockHeight();
  choosePanels(plan, spec, avx512);

  // B is read unpacked if its rows are contiguous (`vectorsInB`) and A has few rows. With many
  // rows, packing B saves time, also because each element is converted to a wider type only once.
  bool vectorsInB = spec.strideBn == 1;
  bool manyRows = plan.blocks > 2 || (byteWidth(spec.elementB) < sumBytes && plan.blocks > 1);
  plan.packsB = !spec.packedB && (!vectorsInB || manyRows || spec.sumsIntegers());

  bool widensA = byteWidth(spec.elementA) < sumBytes;
  bool contiguous = spec.strideAk == 1 || spec.strideAm == 1;
  bool collide =
      spec.strideAk == 1 && rowsConflictInCache(height, spec.strideAm * byteWidth(spec.elementA));
  plan.packsA = (spec.sumsIntegers() && !spec.packedA) ||
                (!spec.sumsIntegers() && (widensA || !contiguous || collide) && plan.panels > 1 &&
                 spec.k > 1);

  // The number of rows in a chunk is limited, so that a chunk stays in cache. It is further reduced
  // if the panels alone do not provide enough work units for many threads.
  int64_t perBlock = height * depth * heldBytes;
  // If a panel of B is packed by the kernel or read from memory, it should be multiplied by as many
  // rows as possible.
  bool costlyB = plan.packsB || spec.k * spec.n * byteWidth(spec.elementB) > kLargeB;
  int64_t chunkBytes = costlyB ? kLargeChunkBytes : kChunkBytes;
  int64_t most = std::max<int64_t>(1, chunkBytes / std::max<int64_t>(1, perBlock));
  int64_t units = plan.panels * spec.batchSize();
  if (units < kUnits)
    most = std::min(most, std::max<int64_t>(1, plan.blocks * units / kUnits));
  // Each panel is packed once per chunk. Therefore the number of chunks is minimized.
  plan.chunks = ceilDiv(plan.blocks, most);
  plan.blocksPerChunk = ceilDiv(plan.blocks, plan.chunks);
  plan.chunks = ceilDiv(plan.blocks, plan.blocksPerChunk);

  // Blocks along K have equal sizes, which are multiples of four because steps are unrolled.
  int64_t panelRow = plan.panelColumns * (spec.packedB ? getPackedElementBytes(spec) : heldBytes);
  int64_t kBlocks = plan.blocksPerChunk == 1 ? 1 : ceilDiv(depth * panelRow, kPanelBytes);
  plan.kBlock = std::max<int64_t>(4, ceilDiv(ceilDiv(plan.steps, kBlocks), 4) * 4);
  plan.keepsSums = hasEpilogue || plan.walksRows || plan.kBlocks() > 1;

  plan.extent = spec.batchSize() * plan.chunks * plan.panels;
  int64_t chunkRows = plan.blocksPerChunk * height;
  int64_t unitWork = std::max<int64_t>(1, chunkRows * plan.panelColumns * spec.k);
  int64_t workPerThread = plan.multipliesBytes ? kBytesPerThread : kWorkPerThread;
  plan.grain = std::clamp<int64_t>(workPerThread / unitWork, 1, std::max<int64_t>(1, plan.extent));

  reserveMemory(plan, spec, depth, sumBytes, heldBytes);
  return plan;
}

int64_t getPackedRowStrideA(const ContractSpec &spec, int64_t bytes) {
  return (ceilDiv(spec.k * bytes, kLine) | 1) * kLine / bytes;
}

/// Packs an integer A in the layout [row block][step along K][row][element of the step].
template <class Element>
static void packBlocks(const ContractSpec &spec, const ContractPlan &plan, const Element *a,
                       int16_t *packed) {
  const int64_t together = plan.groupSize, least = spec.m / plan.blocks;
  std::fill_n(packed, plan.packedBytes / int64_t(sizeof(int16_t)), int16_t(0));
  for (int64_t block = 0, first = 0; block < plan.blocks; ++block) {
    const int64_t height = least + (block < plan.tallBlocks());
    for (int64_t row = 0; row < height; ++row)
      for (int64_t k = 0; k < spec.k; ++k)
        packed[(k / together * height + row) * together + k % together] =
            static_cast<int16_t>(+a[(first + row) * spec.strideAm + k * spec.strideAk]);
    packed += height * plan.steps * together;
    first += height;
  }
}

void packA(const ContractSpec &spec, const ContractPlan &plan, const void *a, void *packed) {
  auto *to = static_cast<int16_t *>(packed);
  if (spec.elementA.isUnsignedInteger())
    packBlocks(spec, plan, static_cast<const uint8_t *>(a), to);
  else if (spec.elementA.isInteger(8))
    packBlocks(spec, plan, static_cast<const int8_t *>(a), to);
  else
    packBlocks(spec, plan, static_cast<const int32_t *>(a), to);
}

/// Calls body(first element, number of columns) for each panel of B in each element of the batch.
template <class Element, class Body>
static void eachPanel(const ContractSpec &spec, const ContractPlan &plan, const Element *b,
                      const Body &body) {
  int64_t columns = plan.panelColumns;
  bool shared = spec.isShared(&BatchDim::strideB);
  for (int64_t batch = 0, batches = shared ? 1 : spec.batchSize(); batch < batches; ++batch) {
    const Element *from = b;
    for (int64_t rest = batch, i = spec.batch.size(); i-- > 0;) {
      from += rest % spec.batch[i].size * spec.batch[i].strideB;
      rest /= spec.batch[i].size;
    }
    for (int64_t panel = 0; panel < plan.panels; ++panel)
      body(from + panel * columns * spec.strideBn, std::min(columns, spec.n - panel * columns));
  }
}

template <class Element>
static void packElements(const ContractSpec &spec, const ContractPlan &plan, const Element *b,
                         Element *packed) {
  int64_t columns = plan.panelColumns;
  eachPanel(spec, plan, b, [&](const Element *source, int64_t width) {
    if (spec.strideBn == 1) {
      for (int64_t k = 0; k < spec.k; ++k) {
        std::memcpy(packed + k * columns, source + k * spec.strideBk, width * sizeof(Element));
        std::fill_n(packed + k * columns + width, columns - width, Element(0));
      }
    } else {
      // Transposes 16 rows of the panel at a time: reads then use whole cache lines, and the
      // written rows stay in the first-level cache.
      constexpr int64_t step = 16;
      for (int64_t k0 = 0; k0 < spec.k; k0 += step) {
        int64_t end = std::min(spec.k, k0 + step);
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t k = k0; k < end; ++k)
            packed[k * columns + j] =
                j < width ? source[j * spec.strideBn + k * spec.strideBk] : Element(0);
      }
    }
    packed += spec.k * columns;
  });
}

/// Subtracts 128 from the elements of a packed panel if they are unsigned, and writes the sum of
/// each column after the panel.
static void addColumnSums(const ContractSpec &spec, const ContractPlan &plan, int64_t width,
                          uint8_t *panel) {
  const int64_t group = plan.groupSize, row = plan.panelColumns * group;
  std::vector<int32_t> sums(plan.panelColumns, 0);
  for (int64_t k = 0; k < spec.k; ++k)
    for (int64_t j = 0; j < width; ++j) {
      uint8_t &element = panel[k / group * row + j * group + k % group];
      if (spec.elementB.isUnsignedInteger())
        element ^= 0x80;
      sums[j] += static_cast<int8_t>(element);
    }
  std::memcpy(panel + plan.steps * row, sums.data(), sums.size() * sizeof(int32_t));
}

/// Packs the panels of an integer B in the layout [step along K][column][element of the step].
template <class Element, class Packed>
static void packTogether(const ContractSpec &spec, const ContractPlan &plan, const Element *b,
                         Packed *packed) {
  int64_t together = plan.groupSize, row = plan.panelColumns * together;
  int64_t size = getPanelBytes(spec, plan) / int64_t(sizeof(Packed));
  std::fill_n(packed, plan.packedBytes / int64_t(sizeof(Packed)), Packed(0));
  eachPanel(spec, plan, b, [&](const Element *source, int64_t width) {
    constexpr int64_t some = 16;
    for (int64_t k0 = 0; k0 < spec.k; k0 += some)
      for (int64_t j = 0; j < width; ++j)
        for (int64_t k = k0; k < std::min(spec.k, k0 + some); ++k)
          packed[k / together * row + j * together + k % together] =
              static_cast<Packed>(source[j * spec.strideBn + k * spec.strideBk]);
    if (plan.multipliesBytes)
      addColumnSums(spec, plan, width, reinterpret_cast<uint8_t *>(packed));
    packed += size;
  });
}

void packB(const ContractSpec &spec, const ContractPlan &plan, const void *b, void *packed) {
  if (spec.sumsIntegers())
    return spec.elementB.isInteger(8) ? packTogether(spec, plan, static_cast<const uint8_t *>(b),
                                                     static_cast<uint8_t *>(packed))
                                      : packTogether(spec, plan, static_cast<const int32_t *>(b),
                                                     static_cast<int16_t *>(packed));
  switch (byteWidth(spec.elementB)) {
  case 1:
    return packElements(spec, plan, static_cast<const uint8_t *>(b),
                        static_cast<uint8_t *>(packed));
  case 2:
    return packElements(spec, plan, static_cast<const uint16_t *>(b),
                        static_cast<uint16_t *>(packed));
  case 4:
    return packElements(spec, plan, static_cast<const uint32_t *>(b),
                        static_cast<uint32_t *>(packed));
  case 8:
    return packElements(spec, plan, static_cast<const uint64_t *>(b),
                        static_cast<uint64_t *>(packed));
  }
}

} // namespace dlc::cpu

//===- Tag.cpp - layout tags such as aBcd16b ------------------------------===//
#include "passes/layout/Tag.h"

#include "ir/dlc/IndexMap.h"

#include "ir/dlc/Shape.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dlc {

std::optional<Tag> Tag::parse(StringRef tag) {
  Tag parsed;
  size_t i = 0;
  for (; i < tag.size() && llvm::isAlpha(tag[i]); ++i) {
    if (llvm::isUpper(tag[i])) {
      if (parsed.blockedDim >= 0)
        return std::nullopt;
      parsed.blockedDim = tag[i] - 'A';
    }
    parsed.order.push_back(llvm::toLower(tag[i]) - 'a');
  }
  StringRef rest = tag.drop_front(i);
  if (parsed.blockedDim < 0)
    return rest.empty() ? std::optional(parsed) : std::nullopt;
  if (rest.size() < 2 || rest.back() - 'a' != parsed.blockedDim ||
      rest.drop_back().getAsInteger(10, parsed.block) || parsed.block < 1)
    return std::nullopt;
  return parsed;
}

RankedTensorType withLayout(RankedTensorType type, StringRef tag) {
  return withPlace(type, deviceOf(type).withLayout(tag));
}

std::string normalizeTag(StringRef tag) {
  for (auto [i, letter] : llvm::enumerate(tag))
    if (letter != char('a' + i))
      return tag.str();
  return "";
}

bool hasPartialBlock(ArrayRef<int64_t> shape, StringRef tag) {
  auto parsed = Tag::parse(tag);
  return parsed && parsed->blockedDim >= 0 && parsed->blockedDim < int64_t(shape.size()) &&
         shape[parsed->blockedDim] % parsed->block != 0;
}

bool hasSameMemoryOrder(ArrayRef<int64_t> shape, int64_t rank, StringRef tag) {
  auto parsed = Tag::parse(tag);
  if (!parsed || int64_t(parsed->order.size()) != rank || int64_t(shape.size()) > rank)
    return false;
  SmallVector<int64_t> aligned(rank - shape.size(), 1);
  aligned.append(shape.begin(), shape.end());
  int64_t last = -1;
  for (int64_t d : parsed->order) {
    if (aligned[d] == 1)
      continue;
    if (d < last)
      return false;
    last = d;
  }
  int64_t blocked = parsed->blockedDim;
  if (blocked < 0 || aligned[blocked] == 1)
    return true;
  // Blocks are innermost in memory: the memory order is the same only if all dimensions that follow
  // the blocked one have size 1.
  return aligned[blocked] % parsed->block == 0 &&
         llvm::all_of(llvm::seq<int64_t>(blocked + 1, rank),
                      [&](int64_t d) { return aligned[d] == 1; });
}

std::optional<SmallVector<int64_t>> memoryOrder(RankedTensorType type) {
  auto tag = Tag::parse(layoutOf(type));
  if (!tag || tag->blockedDim >= 0)
    return std::nullopt;
  SmallVector<int64_t> order(tag->order);
  if (order.empty())
    order.assign(llvm::seq<int64_t>(0, type.getRank()).begin(),
                 llvm::seq<int64_t>(0, type.getRank()).end());
  return order;
}

bool preservesMemoryOrder(RankedTensorType x, ArrayRef<int64_t> permutation, RankedTensorType y) {
  if (!x.hasStaticShape() || !y.hasStaticShape())
    return false;
  auto from = memoryOrder(x), to = memoryOrder(y);
  if (!from || !to)
    return false;
  // Dimensions of size 1 are ignored, because their position in memory order does not matter.
  llvm::erase_if(*from, [&](int64_t d) { return staticDim(x, d) == 1; });
  llvm::erase_if(*to, [&](int64_t d) { return staticDim(y, d) == 1; });
  for (int64_t &d : *to)
    d = permutation[d];
  return *from == *to;
}

bool isSameInMemory(RankedTensorType from, RankedTensorType to) {
  return preservesMemoryOrder(from, llvm::to_vector(llvm::seq<int64_t>(0, from.getRank())), to);
}

StringRef getChannelsLastTag(int64_t rank) {
  static constexpr const char *tags[] = {"acb", "acdb", "acdeb"};
  return rank >= 3 && rank <= 5 ? tags[rank - 3] : "";
}

bool slicesWholeUnits(SliceOp op, int64_t blockedDim) {
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getY());
  for (int64_t d = 0; d < int64_t(from.size()); ++d)
    if (to[d] != 1 ? to[d] != from[d] || op.getStride()[d] != 1 : d == blockedDim && from[d] != 1)
      return false;
  return true;
}

bool slicesAlongBlocks(SliceOp op, StringRef tag) {
  auto parsed = Tag::parse(tag);
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getY());
  if (!parsed || parsed->order.size() != from.size() || hasPartialBlock(from, tag) ||
      hasPartialBlock(to, tag) ||
      llvm::any_of(op.getStride(), [](int64_t step) { return step != 1; }))
    return false;
  int64_t blocked = parsed->blockedDim;
  return blocked < 0 || from[blocked] == to[blocked] ||
         (op.getStart()[blocked] % parsed->block == 0 && to[blocked] % parsed->block == 0);
}

bool gathersBlocks(GatherOp op, StringRef tag) {
  auto parsed = Tag::parse(tag);
  ArrayRef<int64_t> from = shapeOf(op.getX());
  return parsed && parsed->order.size() == from.size() && typeOf(op.getIndices()).getRank() == 1 &&
         int64_t(op.getAxis()) != parsed->blockedDim && !hasPartialBlock(from, tag);
}

bool isOutermost(RankedTensorType type, int64_t axis) {
  auto tag = Tag::parse(layoutOf(type));
  for (int64_t place = 0; place < type.getRank(); ++place) {
    int64_t d = tag && !tag->order.empty() ? tag->order[place] : place;
    if (d == axis)
      return true;
    if (staticDim(type, d) != 1)
      return false;
  }
  return false;
}

std::optional<int64_t> contiguousSliceOffset(SliceOp op) {
  auto from = typeOf(op.getX()), to = typeOf(op.getY());
  StringRef tag = layoutOf(from);
  if (!from.hasStaticShape())
    return std::nullopt;
  if (tag.empty())
    return getContiguousOffset(op);
  if (layoutOf(to) != tag || !slicesAlongBlocks(op, tag) || staticElements(to) == 0)
    return std::nullopt;
  std::optional<int64_t> start;
  for (auto [d, size] : llvm::enumerate(staticShape(from)))
    if (staticDim(to, d) != size) {
      if (start || !isOutermost(from, int64_t(d)))
        return std::nullopt;
      start = op.getStart()[d] * (staticElements(from) / size);
    }
  return start.value_or(0);
}

bool reducesSpatialDims(ReduceOp op, int64_t rank) {
  ArrayRef<int64_t> axes = op.getAxes();
  if (int64_t(axes.size()) == rank)
    return true;
  if (!axes.empty() && axes.front() == 0)
    axes = axes.drop_front();
  return int64_t(axes.size()) == rank - 2 && (axes.empty() || axes.front() == 2);
}

} // namespace dlc

//===- TransposedOperands.cpp - transposed operands, read through shared memory -------===//
//
// If consecutive result elements are not contiguous in an operand (a transpose), the threads of a
// warp would read distant addresses. Instead, a thread block first reads a tile of the operand
// along the operand's contiguous dimension.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

constexpr int64_t kTile = 32, kRows = 8;
/// Minimum number of elements of an operand that is read in tiles, and minimum size of a tile's two
/// dimensions. Smaller operands are read equally fast in any order.
constexpr int64_t kMin = 4096, kShortest = 16;
/// Maximum number of operand tiles that fit in shared memory.
constexpr size_t kMax = 4;

/// `last`: last dimension of the result. `across`: dimension of the result along which the
/// transposed operands are contiguous.
struct Transposition {
  size_t last = 0, across = 0;
  /// Indices of the transposed operands in the list of buffer reads.
  SmallVector<size_t> transposed;
};

std::optional<Transposition> findTransposition(Emitter &e, ArrayRef<LaunchOutput> targets,
                                               ArrayRef<int64_t> shape) {
  Transposition transposition;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1)
      transposition.last = d;
  if (shape.empty() || shape[transposition.last] < kShortest)
    return std::nullopt;
  Indices at;
  for (size_t d = 0; d < shape.size(); ++d)
    at.push_back(e.freshAtom("d" + std::to_string(d), 0, shape[d] - 1));
  Emitter::Reads reads;
  for (const LaunchOutput &target : targets)
    e.reads(target.value, at, reads);
  auto step = [&](const Expr &offset, size_t d) {
    return shape[d] == 1 ? 0 : offset.coefficient(at[d].terms[0].first);
  };
  bool found = false;
  for (auto [i, read] : llvm::enumerate(reads)) {
    if (typeOf(read.first).getNumElements() < kMin)
      continue;
    Expr offset = e.x.linear(shapeOf(read.first), read.second);
    int64_t along = step(offset, transposition.last);
    if (along <= 1)
      continue;
    for (size_t d = 0; d < transposition.last; ++d) {
      if (step(offset, d) != 1 || shape[d] < kShortest || (found && d != transposition.across))
        continue;
      transposition.across = d;
      transposition.transposed.push_back(i);
      found = true;
      break;
    }
  }
  if (!found || transposition.transposed.size() > kMax)
    return std::nullopt;
  return transposition;
}

/// Launch whose thread blocks compute tiles of kTile x kTile results.
class TransposingWriter {
public:
  TransposingWriter(KernelGenerator &plan, ArrayRef<LaunchOutput> targets,
                    const Transposition &transposition)
      : plan(plan), targets(targets), transposition(transposition),
        shape(shapeOf(targets.front().value)), frame(plan), e(frame.e), t(frame.t) {}

  void write() {
    int64_t blocks = placeBlock();
    SmallVector<std::string> names;
    for (size_t i = 0; i < transposition.transposed.size(); ++i)
      names.push_back(t.fresh("tile"));
    readTiles(names);
    t.line("__syncthreads();");
    walk(false, [&](const Indices &at, Emitter::Reads &reads, const std::string &y) {
      for (auto [name, i] : llvm::zip(names, transposition.transposed))
        e.seed(reads[i].first, reads[i].second, "dk::load(" + name + "[threadIdx.x][" + y + "])");
      SmallVector<std::string> elements;
      for (const LaunchOutput &target : targets)
        elements.push_back(e.eval(target.value, at));
      for (auto [target, element] : llvm::zip(targets, elements))
        e.store(target.buffer, e.x.linear(shape, at), element);
    });
    frame.finish({uint32_t(blocks), 1, 1}, {uint32_t(kTile), uint32_t(kRows), 1});
  }

private:
  using Body = function_ref<void(const Indices &, Emitter::Reads &, const std::string &y)>;

  /// Emits code that computes the position of the thread block's tile. Returns the number of thread
  /// blocks.
  int64_t placeBlock() {
    auto tiles = [](int64_t n) { return (n + kTile - 1) / kTile; };
    int64_t along = tiles(shape[transposition.last]), across = tiles(shape[transposition.across]);
    SmallVector<int64_t> rest(shape);
    rest[transposition.last] = rest[transposition.across] = 1;
    int64_t blocks = along * across * multiplyDims(rest);
    Expr block = e.variable("block", "blockIdx.x", 0, blocks - 1);
    last = e.variable("last", (e.x.remainder(block, along) * kTile).text(), 0, (along - 1) * kTile);
    other = e.variable("across", (e.x.remainder(e.x.divide(block, along), across) * kTile).text(),
                       0, (across - 1) * kTile);
    Expr outer =
        e.variable("outer", e.x.divide(block, along * across).text(), 0, multiplyDims(rest) - 1);
    base = e.x.unravel(rest, outer);
    return blocks;
  }

  /// Emits `body` for each result index of a thread. threadIdx.x is the index along the contiguous
  /// dimension of the accessed memory.
  void walk(bool transposed, Body body) {
    e.loop("(int)threadIdx.y", kTile, std::to_string(kRows), [&](Expr y) {
      Expr x = e.freshAtom("threadIdx.x", 0, kTile - 1);
      Expr l = last + (transposed ? y : x), a = other + (transposed ? x : y);
      SmallVector<std::string> inside;
      for (const auto &[i, d] :
           {std::pair(l, transposition.last), std::pair(a, transposition.across)})
        if (shape[d] % kTile != 0)
          inside.push_back("(int)(" + i.text() + ") < " + std::to_string(shape[d]));
      t.open(inside.empty() ? Twine("") : "if (" + Twine(llvm::join(inside, " && ")) + ")");
      e.pushScope();
      Indices at = base;
      at[transposition.last] = e.variable("l", l.text(), 0, shape[transposition.last] - 1);
      at[transposition.across] = e.variable("a", a.text(), 0, shape[transposition.across] - 1);
      Emitter::Reads reads;
      for (const LaunchOutput &target : targets)
        e.reads(target.value, at, reads);
      body(at, reads, y.text());
      e.popScope();
      t.close();
    });
  }

  /// Emits the declarations of the tiles of the transposed operands, and loads of them.
  void readTiles(ArrayRef<std::string> names) {
    std::string declarations;
    t.begin();
    walk(true, [&](const Indices &, Emitter::Reads &reads, const std::string &y) {
      for (auto [name, i] : llvm::zip(names, transposition.transposed)) {
        auto &[value, at] = reads[i];
        const Buffer &from = plan.known[value];
        e.used.insert(from.name);
        declarations += "  __shared__ " + getStorageTypeName(from.element) + " " + name + "[" +
                        std::to_string(kTile) + "][" + std::to_string(kTile + 1) + "];\n";
        t.line(name + "[" + y + "][threadIdx.x] = " + from.name + "[" +
               e.x.linear(shapeOf(value), at).text() + "];");
      }
    });
    std::string loads = t.end();
    t.append(declarations);
    t.append(loads);
  }

  KernelGenerator &plan;
  ArrayRef<LaunchOutput> targets;
  const Transposition &transposition;
  ArrayRef<int64_t> shape;
  LaunchBuilder frame;
  Emitter &e;
  IndentedText &t;
  Expr last, other;
  Indices base;
};

} // namespace

bool emitTransposingKernel(KernelGenerator &plan, ArrayRef<LaunchOutput> targets) {
  auto shape = shapeOf(targets.front().value);
  if (multiplyDims(shape) < kMin || llvm::any_of(targets, [&](const LaunchOutput &target) {
        return shapeOf(target.value) != shape;
      }))
    return false;
  std::optional<Transposition> transposition;
  {
    IndentedText nowhere;
    Emitter probe(nowhere, plan.indexType);
    for (auto &[value, buffer] : plan.known)
      probe.bind(value, buffer);
    transposition = findTransposition(probe, targets, shape);
  }
  if (!transposition)
    return false;
  TransposingWriter(plan, targets, *transposition).write();
  return true;
}

} // namespace dlc::cuda

//===- Statistics.cpp - a convolution's channels, summed up where it makes them ---===//
#include "codegen/select/Statistics.h"

#include "codegen/select/Enlarged.h"
#include "codegen/select/Select.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/StateUpdate.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {

namespace {

/// One element per channel, one after the other.
bool isOfChannels(Value v, Value y) {
  return typeOf(v).getNumElements() == shapeOf(y)[1] && layoutOf(v.getType()).empty();
}

struct Reader {
  Value y;
  ChannelStatistics found;
  llvm::SmallPtrSet<Operation *, 8> ops;

  bool isFirst(Operation *op) const {
    auto slice = dyn_cast<SliceOp>(op);
    return slice && llvm::all_of(slice.getStart(), [](int64_t at) { return at == 0; }) &&
           shapeOf(slice.getY())[1] == shapeOf(y)[1] && isOfChannels(slice.getY(), y);
  }

  bool isMean(Operation *op) const {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce && reduce.getKind() == ReduceKind::mean && isOfChannels(reduce.getY(), y) &&
           reduce.getAxes() == ArrayRef<int64_t>{0, 2, 3};
  }

  /// Whether nothing had that place before.
  bool take(Operation *op, Value &place) {
    if (!place)
      place = op->getResult(0);
    ops.insert(op);
    return place == op->getResult(0);
  }

  /// What reads a difference, or the square of one.
  bool readMeans(Operation *from, bool squared) {
    ops.insert(from);
    for (Operation *user : from->getUsers()) {
      auto mul = dyn_cast<MulOp>(user);
      if (mul && !squared && mul.getA() == mul.getB()) {
        if (!readMeans(mul, true))
          return false;
      } else if (!isMean(user) || !take(user, squared ? found.square : found.shift)) {
        return false;
      }
    }
    return true;
  }

  bool read() {
    if (typeOf(y).getRank() != 4 || !typeOf(y).hasStaticShape() ||
        !typeOf(y).getElementType().isF32())
      return false;
    for (Operation *user : y.getUsers())
      if (isFirst(user) && !take(user, found.first))
        return false;
    for (Operation *user : y.getUsers()) {
      auto sub = dyn_cast<SubOp>(user);
      bool isDifference = sub && found.first && sub.getA() == y && sub.getB() == found.first;
      if (isDifference ? !readMeans(sub, false) : !isFirst(user) && !isa<YieldOp>(user))
        return false;
    }
    for (Operation &op : *y.getParentBlock())
      if (ops.contains(&op))
        found.ops.push_back(&op);
    return found.first && found.shift && found.square;
  }
};

/// A convolution, the kernel that reads its result for the statistics, and what becomes of both.
class Absorption {
public:
  /// `candidates`: of the convolution, that with fewer products first; `lost`: microseconds that it
  /// takes longer alone than the one that was chosen.
  Absorption(FusionOp conv, FusionOp reader, ArrayRef<Candidate> candidates, double lost,
             const CompileOptions &options, const cpu::Target &target)
      : conv(conv), reader(reader), candidates(candidates), lost(lost), options(options),
        target(target), yield(reader.getBody().front().getTerminator()) {}

  bool run(Choices &choices) {
    auto at = llvm::find(reader.getInputs(), conv.getResult(0));
    argument = reader.getBody().getArgument(at - reader.getInputs().begin());
    auto found = matchStatistics(argument);
    if (!found || llvm::is_contained(yield->getOperands(), argument) || !restIsSmall(*found))
      return false;
    statistics = *found;
    for (Value v : yield->getOperands())
      if (!isStatistic(v))
        kept.push_back(v);
    buildConvolution();
    if (chosenCall(made, options.threads) && buildRest() &&
        pays(choices.at(reader).front().time())) {
      commit(choices);
      return true;
    }
    if (rest)
      rest.erase();
    made.erase();
    return false;
  }

private:
  bool isStatistic(Value v) const {
    return v == statistics.first || v == statistics.shift || v == statistics.square;
  }

  /// What else there is works on numbers of one channel, after the statistics.
  bool restIsSmall(const ChannelStatistics &found) {
    auto isSmall = [&](Value v) { return typeOf(v).getNumElements() <= shapeOf(argument)[1]; };
    for (Value input : reader.getInputs())
      if (input != conv.getResult(0) && !isSmall(input))
        return false;
    for (Operation &op : reader.getBody().front().without_terminator())
      if (!llvm::is_contained(found.ops, &op) && !llvm::all_of(op.getResults(), isSmall))
        return false;
    return true;
  }

  void buildConvolution() {
    OpBuilder b(conv);
    SmallVector<Type> types(conv.getResultTypes());
    for (Value v : {statistics.first, statistics.shift, statistics.square})
      types.push_back(v.getType());
    made = FusionOp::create(b, conv.getLoc(), types, conv.getInputs());
    made->setAttrs(conv->getAttrs());
    writeChoice(made, candidates);
    IRMapping map;
    Block &body = startBody(made, conv.getBody().getArguments(), map);
    b.setInsertionPointToEnd(&body);
    Block &old = conv.getBody().front();
    for (Operation &op : old.without_terminator())
      b.clone(op, map);
    Value y = map.lookup(old.getTerminator()->getOperand(0));
    map.map(argument, y);
    for (Operation *op : statistics.ops)
      b.clone(*op, map);
    YieldOp::create(b, conv.getLoc(),
                    ValueRange{y, map.lookup(statistics.first), map.lookup(statistics.shift),
                               map.lookup(statistics.square)});
  }

  /// The kernel without the statistics, which it reads; there need be none.
  bool buildRest() {
    if (kept.empty())
      return true;
    OpBuilder b(reader);
    SmallVector<Value> inputs, inner;
    for (auto [input, own] : llvm::zip(reader.getInputs(), reader.getBody().getArguments()))
      if (own != argument) {
        inputs.push_back(input);
        inner.push_back(own);
      }
    Value values[] = {statistics.first, statistics.shift, statistics.square};
    for (auto [i, v] : llvm::enumerate(values)) {
      bool isRead = llvm::any_of(v.getUsers(), [&](Operation *user) {
        return user != yield && !llvm::is_contained(statistics.ops, user);
      });
      if (isRead) {
        inputs.push_back(made.getResult(i + 1));
        inner.push_back(v);
      }
    }
    rest = FusionOp::create(b, reader.getLoc(), TypeRange(ValueRange(kept)), inputs);
    IRMapping map;
    Block &body = startBody(rest, inner, map);
    b.setInsertionPointToEnd(&body);
    for (Operation &op : reader.getBody().front().without_terminator())
      if (!llvm::is_contained(statistics.ops, &op))
        b.clone(op, map);
    SmallVector<Value> yielded;
    for (Value v : kept)
      yielded.push_back(map.lookup(v));
    YieldOp::create(b, reader.getLoc(), yielded);
    auto kernels = preferred(rest, options, target);
    if (kernels.empty())
      return false;
    writeChoice(rest, kernels);
    restEstimate = kernels.front().estimate;
    return true;
  }

  static Block &startBody(FusionOp fusion, ValueRange inner, IRMapping &map) {
    Block &body =
        fusion.getBody().empty() ? fusion.getBody().emplaceBlock() : fusion.getBody().front();
    body.clear();
    for (Value v : inner)
      map.map(v, body.addArgument(v.getType(), v.getLoc()));
    return body;
  }

  bool pays(double readerTime) const {
    CostModel cost(target, options.threads);
    double sums = cost.statistics(double(typeOf(argument).getNumElements()));
    return options.kernels == "winograd" || readerTime > lost + sums + restEstimate;
  }

  void commit(Choices &choices) {
    Value results[] = {made.getResult(1), made.getResult(2), made.getResult(3)};
    unsigned next = 0;
    for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
      Value to = v == statistics.first    ? results[0]
                 : v == statistics.shift  ? results[1]
                 : v == statistics.square ? results[2]
                                          : rest.getResult(next++);
      reader.getResult(i).replaceAllUsesWith(to);
    }
    conv.getResult(0).replaceAllUsesWith(made.getResult(0));
    for (FusionOp gone : {reader, conv}) {
      choices.erase(gone);
      gone.erase();
    }
  }

  FusionOp conv, reader;
  ArrayRef<Candidate> candidates;
  double lost;
  const CompileOptions &options;
  const cpu::Target &target;
  Operation *yield;
  Value argument; ///< the convolution's result within the reader
  ChannelStatistics statistics;
  SmallVector<Value> kept; ///< what the reader gives besides
  FusionOp made, rest;
  double restEstimate = 0;
};

/// The candidates with the first that takes fewer products in front, where there is one that may be
/// taken: what was asked for by name stays, and times that were measured are compared with such
/// only.
std::vector<Candidate> withFewerProducts(std::vector<Candidate> candidates,
                                         const CompileOptions &options) {
  auto isOne = [](const Candidate &c) { return c.kernel == "winograd"; };
  auto found = llvm::find_if(candidates, isOne);
  if (found == candidates.end() ||
      (found != candidates.begin() &&
       (!options.kernels.empty() ||
        found->measured.has_value() != candidates.front().measured.has_value())))
    return {};
  std::rotate(candidates.begin(), found, std::next(found));
  return candidates;
}

/// Kernels of generated code beside the convolution that read its result once.
SmallVector<FusionOp> readersOf(FusionOp conv) {
  SmallVector<FusionOp> readers;
  Value y = conv.getResult(0);
  for (Operation *user : y.getUsers())
    if (auto fusion = dyn_cast<FusionOp>(user);
        fusion && fusion->getBlock() == conv->getBlock() && runsOn(fusion, "generated") &&
        !fusion->hasAttr(kUpdatesAttr) && llvm::count(fusion.getInputs(), y) == 1)
      readers.push_back(fusion);
  return readers;
}

} // namespace

std::optional<ChannelStatistics> matchStatistics(Value y) {
  Reader reader{y, {}, {}};
  return reader.read() ? std::optional(std::move(reader.found)) : std::nullopt;
}

void absorbStatistics(ModuleOp module, const CompileOptions &options, const cpu::Target &target,
                      Choices &choices) {
  // Who has this choice is no reader, and stands until its own turn.
  SmallVector<std::pair<FusionOp, std::vector<Candidate>>> convolutions;
  module.walk([&](FusionOp fusion) {
    if (choices.contains(fusion) && fusion.getNumResults() == 1)
      if (auto candidates = withFewerProducts(choices.at(fusion), options); !candidates.empty())
        convolutions.emplace_back(fusion, std::move(candidates));
  });
  for (auto &[conv, candidates] : convolutions) {
    double lost = candidates.front().time() - choices.at(conv).front().time();
    for (FusionOp reader : readersOf(conv))
      if (choices.contains(reader) &&
          Absorption(conv, reader, candidates, lost, options, target).run(choices))
        break;
  }
}

} // namespace dlc

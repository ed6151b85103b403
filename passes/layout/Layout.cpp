//===- Layout.cpp - layout assignment for activations ---------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/Costs.h"
#include "passes/OpNames.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/layout/Alternatives.h"
#include "passes/layout/Boundary.h"
#include "passes/layout/Choose.h"
#include "passes/layout/DeviceLayouts.h"
#include "passes/layout/Tag.h"
#include "passes/layout/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {
namespace {

bool isProduct(Operation *op) { return op->hasTrait<Convolutional>(); }

/// Assigns layouts to the values of one block, from producers to consumers, so that the layouts of
/// all operands are already assigned when an operation is visited.
class BlockLayouts {
public:
  BlockLayouts(Block &block, const DeviceLayoutsRegistry &devices, Costs &costs)
      : block(block), devices(devices), costs(costs) {}

  LogicalResult run() {
    auto function = cast<func::FuncOp>(block.getParentOp());
    if (llvm::any_of(block, [](Operation &op) { return isProduct(&op); })) {
      std::map<int64_t, std::vector<std::string>> all = collectTags();
      for (const auto &[rank, list] : all) {
        sinkImageReshapes(block, rank);
        hoistImageTransposes(block, list, rank);
      }
      // transposeMatmuls() runs after the functions that move transpositions, because they must not
      // move the transpositions that it creates, which undoTransposes() may fold back into matmuls.
      // Ranks are visited from the highest to the lowest, because an image has a higher rank than
      // its reshape with merged dimensions.
      for (const auto &[rank, list] : llvm::reverse(all))
        llvm::append_range(transposed, transposeMatmuls(block, list, rank));
    }
    if (failed(applyArgumentLayouts(function)))
      return failure();
    if (followArguments() || !tags.empty()) {
      chosen =
          chooseLayouts(block, {[&](Operation *op) { return layoutOptionsOf(op); },
                                [&](Value value, const std::string &from, const std::string &to) {
                                  return reorderCost(value, from, to);
                                }});
    }
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<ConstantOp, ReorderOp>(op))
        continue;
      if (isa<func::ReturnOp>(op)) {
        leave(&op);
        continue;
      }
      auto option = chosen.find(&op);
      if (option != chosen.end())
        go(&op, option->second);
      else
        wantPlain(&op);
    }
    for (TransposedMatmul &product : transposed)
      undoTransposes(product);
    sinkViews(block);
    updateFunctionType(function);
    return success();
  }

  /// Appends one line for each convolution and weight gradient, such as "conv1: aBcd16b 61.2 us;
  /// acdb 61.5 us, plain 130.1 us". Appends nothing before run() was called.
  void report(SmallVectorImpl<std::string> &lines) {
    for (const auto &[op, layoutOptions] : asked) {
      SmallVector<StringRef> names;
      collectLocationNames(op->getLoc(), names);
      std::string name = names.empty() ? op->getName().stripDialect().str() : names.front().str();
      const LayoutOption &best = chosen[op];
      std::string text = name + ": " + textOf(best), rest;
      for (const LayoutOption &option : layoutOptions)
        if (option.operandLayouts != best.operandLayouts ||
            option.resultLayouts != best.resultLayouts)
          rest += (rest.empty() ? "; " : ", ") + textOf(option);
      lines.push_back(text + rest);
    }
  }

private:
  static std::string textOf(const LayoutOption &option) {
    auto named = [](const std::string &tag) { return tag.empty() ? std::string("plain") : tag; };
    std::string text = named(option.operandLayouts[0].second);
    const std::string &other = option.operandLayouts.size() > 1 ? option.operandLayouts[1].second
                                                                : option.resultLayouts[0];
    if (other != option.operandLayouts[0].second)
      text += " to " + named(other);
    return llvm::formatv("{0} {1:F1} us", text, option.cost).str();
  }

  /// Collects in `tags` the layouts that convolutions and their gradients in the block prefer, by
  /// kind of device and rank. Returns the layouts by rank only.
  std::map<int64_t, std::vector<std::string>> collectTags() {
    auto add = [](std::vector<std::string> &list, const std::string &tag) {
      if (!tag.empty() && !llvm::is_contained(list, tag))
        list.push_back(tag);
    };
    for (Operation &op : block) {
      findWeights(&op);
      DeviceLayouts *device = devices.of(&op);
      if (!device || !isProduct(&op))
        continue;
      auto &list = tags[{device, rankOf(op.getOperand(0))}];
      for (const std::string &tag : device->preferred(&op))
        add(list, tag);
    }
    std::map<int64_t, std::vector<std::string>> all;
    for (auto &[where, list] : tags) {
      for (const char *tag : where.first->ownTags(where.second))
        add(list, tag);
      for (const std::string &tag : list)
        add(all[where.second], tag);
    }
    return all;
  }

  /// Adds the layouts of function arguments to the candidate layouts. Returns whether any argument
  /// has a layout other than row-major.
  bool followArguments() {
    bool any = false;
    for (BlockArgument argument : block.getArguments()) {
      std::string layout = layoutOf(argument.getType()).str();
      if (layout.empty())
        continue;
      any = true;
      auto &list = tags[{devices.of(deviceOf(typeOf(argument))), rankOf(argument)}];
      if (!llvm::is_contained(list, layout))
        list.push_back(layout);
    }
    return any;
  }

  /// Collects convolution weights, their gradients, and values derived from these by elementwise
  /// operations.
  void findWeights(Operation *op) {
    if (isa<ConvOp, ConvTransposeOp>(op))
      weights.insert(op->getOperand(1));
    else if (isa<ConvWeightGradOp>(op) || (op->hasTrait<Elementwise>() && isOfWeights(op)))
      weights.insert(op->getResult(0));
  }

  bool isOfWeights(Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return weights.count(operand) && shapeOf(operand) == shapeOf(op->getResult(0));
    });
  }

  bool isWeightsWork(Operation *op) {
    return op->hasTrait<Elementwise>() && (weights.count(op->getResult(0)) || isOfWeights(op));
  }

  std::vector<LayoutOption> layoutOptionsOf(Operation *op) {
    if (isa<ReorderOp>(op))
      return {LayoutOption{{}, {layoutOf(op->getResult(0).getType()).str()}, 0}};
    if (isa<func::ReturnOp>(op))
      return {optionOfReturn(op)};
    DeviceLayouts *device = devices.of(op);
    if (!device || isa<ConstantOp>(op))
      return {};
    if (isProduct(op)) {
      asked.push_back({op, layoutOptionsOfProduct(op)});
      return asked.back().second;
    }
    if (!op->getNumOperands() || !op->getNumResults() || isWeightsWork(op))
      return {};
    auto list =
        tags.find({device, rankOf(isa<ReduceOp>(op) ? op->getOperand(0) : op->getResult(0))});
    if (list == tags.end())
      return {};
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return isReordered(transpose.getX()) ? layoutOptionsOfTranspose(transpose, list->second)
                                           : std::vector<LayoutOption>();
    std::vector<LayoutOption> layoutOptions;
    for (const std::string &tag : list->second)
      if (canFollow(op, tag))
        layoutOptions.push_back(uniformOption(op, tag));
    if (!layoutOptions.empty())
      layoutOptions.push_back(uniformOption(op, ""));
    return layoutOptions;
  }

  LayoutOption optionOfReturn(Operation *op) {
    LayoutOption option;
    for (OpOperand &operand : op->getOpOperands())
      if (!hasFreeResultLayout(operand))
        option.operandLayouts.push_back({operand.getOperandNumber(), ""});
    return option;
  }

  void leave(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!mayReturnLayout(operand))
        give(operand, "");
  }

  /// Returns whether undoTransposes() can fold the transposition into the transpose flag of a
  /// matmul.
  bool hasTaker(Operation *op) {
    return llvm::any_of(transposed, [&](TransposedMatmul &t) { return t.transpose == op; });
  }

  /// Returns the layout options of a transposition. If a layout makes the transposition a view, it
  /// costs nothing. Between row-major tensors it costs as much as a reorder.
  std::vector<LayoutOption> layoutOptionsOfTranspose(TransposeOp op, ArrayRef<std::string> tags) {
    RankedTensorType x = typeOf(op.getX()), y = typeOf(op.getY());
    std::vector<LayoutOption> layoutOptions;
    double moved = 0;
    for (const std::string &tag : tags) {
      if (preservesMemoryOrder(x, op.getPermutation(), withLayout(y, tag))) {
        layoutOptions.push_back({{{0, ""}}, {tag}, 0});
        moved = reorderCost(op.getY(), "", tag);
      }
      if (preservesMemoryOrder(withLayout(x, tag), op.getPermutation(), y)) {
        layoutOptions.push_back({{{0, tag}}, {""}, 0});
        moved = reorderCost(op.getX(), tag, "");
      }
    }
    if (!layoutOptions.empty())
      layoutOptions.push_back({{{0, ""}}, {""}, hasTaker(op) ? 0 : moved});
    return layoutOptions;
  }

  double reorderCost(Value value, const std::string &from, const std::string &to) {
    // Broadcasts and constants need no reorder at run time: a broadcast is recreated in the other
    // layout, and the reorder of a constant is evaluated at compile time.
    if (isStretched(value, to) || value.getDefiningOp<ConstantOp>())
      return 0;
    Type before = withLayout(typeOf(value), from), after = withLayout(typeOf(value), to);
    auto [at, isNew] =
        known.try_emplace({before.getAsOpaquePointer(), after.getAsOpaquePointer()}, 0);
    if (isNew)
      at->second = reorderTime(costs, before, after);
    return *at->second;
  }

  /// Returns whether the value is a broadcast that can be computed in this layout from the same
  /// operand, for example a broadcast of one value per channel.
  static bool isStretched(Value value, StringRef tag) {
    auto stretch = value.getDefiningOp<BroadcastOp>();
    return stretch && hasSameMemoryOrder(shapeOf(stretch.getX()), typeOf(value).getRank(), tag);
  }

  static int64_t rankOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 0;
  }

  /// Returns the layout option in which all images of the operation have the same layout.
  LayoutOption uniformOption(Operation *op, StringRef tag) {
    LayoutOption option;
    auto isImage = [&](Value value) {
      if (op->hasTrait<ChannelNorm>())
        return shapeOf(value) == shapeOf(op->getOperand(0));
      if (op->hasTrait<Elementwise>())
        return shapeOf(value) == shapeOf(op->getResult(0));
      if (isa<GatherOp>(op))
        return value != op->getOperand(1);
      return !isa<ReduceOp>(op) || value == op->getOperand(0);
    };
    for (OpOperand &operand : op->getOpOperands())
      option.operandLayouts.push_back(
          {operand.getOperandNumber(), isImage(operand.get()) ? tag.str() : ""});
    for (Value result : op->getResults())
      option.resultLayouts.push_back(isImage(result) ? tag.str() : "");
    return option;
  }

  /// Returns whether reorders support the element type of the value. The library supports 8- and
  /// 32-bit integers, but not f64.
  static bool isReordered(Value value) {
    Type element = typeOf(value).getElementType();
    return (isa<FloatType>(element) && !element.isF64()) || element.isInteger(1) ||
           element.isInteger(8) || element.isSignlessInteger(32);
  }

  /// Returns whether the operation is as fast on images in this layout as on row-major images.
  bool canFollow(Operation *op, const std::string &tag) {
    Value x = op->getOperand(0);
    auto gather = dyn_cast<GatherOp>(op);
    OperandRange images = gather ? op->getOperands().take_front(1) : op->getOperands();
    if (!llvm::all_of(llvm::concat<Value>(images, op->getResults()), isReordered))
      return false;
    if (gather)
      return gathersBlocks(gather, tag);
    if (op->hasTrait<Pooling>())
      return devices.of(op)->pools(op, tag);
    // The per-channel statistics of group_norm are row-major. If images have one element per
    // channel, they have the same shape as the statistics and must be row-major, too.
    if (isa<GroupNormOp>(op))
      return !hasPartialBlock(shapeOf(x), tag) &&
             llvm::any_of(shapeOf(x).drop_front(2), [](int64_t size) { return size != 1; });
    if (op->hasTrait<ChannelNorm>())
      return !hasPartialBlock(shapeOf(x), tag);
    if (op->hasTrait<Elementwise>()) {
      RankedTensorType type = typeOf(op->getResult(0));
      return llvm::all_of(op->getOperands(), [&](Value operand) {
        return shapeOf(operand) == staticShape(type) ||
               hasSameMemoryOrder(shapeOf(operand), type.getRank(), tag);
      });
    }
    if (isa<ConcatOp>(op))
      return llvm::all_of(op->getOperands(),
                          [&](Value part) { return !hasPartialBlock(shapeOf(part), tag); });
    if (auto slice = dyn_cast<SliceOp>(op))
      return slicesAlongBlocks(slice, tag);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return !hasPartialBlock(shapeOf(x), tag) && reducesSpatialDims(reduce, rankOf(x));
    // A transfer between devices of the same kind keeps the layout of an image, unless the layout
    // has padding.
    if (auto transfer = dyn_cast<TransferOp>(op))
      return devices.of(deviceOf(typeOf(x))) == devices.of(op) && !hasPartialBlock(shapeOf(x), tag);
    return false;
  }

  /// Returns the cache key for the cost of an operation with operands and results of these types,
  /// which contains everything that the cost depends on.
  std::vector<const void *> questionOf(Operation *op, TypeRange operands, TypeRange results) {
    std::vector<const void *> question = {op->getName().getAsOpaquePointer(),
                                          op->getAttrDictionary().getAsOpaquePointer()};
    for (TypeRange types : {operands, results})
      for (Type type : types)
        question.push_back(type.getAsOpaquePointer());
    for (Value operand : op->getOperands())
      question.push_back(operand.getDefiningOp<ConstantOp>() ? this : nullptr);
    return question;
  }

  /// Returns the layout options of a convolution or weight gradient. The options are cached,
  /// because networks contain many equal layers.
  const std::vector<LayoutOption> &layoutOptionsOfProduct(Operation *op) {
    auto [at, isNew] =
        knownOptions.try_emplace(questionOf(op, op->getOperandTypes(), op->getResultTypes()));
    if (isNew)
      at->second = queryLayoutOptions(op);
    return at->second;
  }

  std::vector<LayoutOption> queryLayoutOptions(Operation *op) {
    bool isGradient = isa<ConvWeightGradOp>(op);
    std::vector<LayoutOption> layoutOptions;
    auto add = [&](const ConvLayouts &offer) {
      LayoutOption option;
      option.operandLayouts = {{0, offer.source}};
      if (isGradient)
        option.operandLayouts.push_back({1, offer.destination});
      else if (!offer.weights.empty())
        option.operandLayouts.push_back({1, offer.weights});
      option.resultLayouts = {isGradient ? offer.weights : offer.destination};
      if (llvm::any_of(layoutOptions, [&](const LayoutOption &known) {
            return known.operandLayouts == option.operandLayouts &&
                   known.resultLayouts == option.resultLayouts;
          }))
        return;
      if (auto cost = costOf(op, option)) {
        option.cost = *cost;
        layoutOptions.push_back(option);
      }
    };
    DeviceLayouts *device = devices.of(op);
    for (const ConvLayouts &offer : device->offers(op, tags[{device, rankOf(op->getOperand(0))}]))
      add(offer);
    add({"", ""});
    if (layoutOptions.empty())
      layoutOptions.push_back(LayoutOption{{{0, ""}}, {""}, 0});
    return layoutOptions;
  }

  /// Returns the cost of the operation with its operands and results in the layouts of the option,
  /// or nullopt if no kernel supports these layouts.
  std::optional<double> costOf(Operation *op, const LayoutOption &option) {
    SmallVector<Type> operands(op->getOperandTypes()), results;
    for (auto &[number, tag] : option.operandLayouts)
      operands[number] = withLayout(cast<RankedTensorType>(operands[number]), tag);
    for (auto [result, tag] : llvm::zip(op->getResults(), option.resultLayouts))
      results.push_back(withLayout(typeOf(result), tag));
    auto [at, isNew] = known.try_emplace(questionOf(op, operands, results), std::nullopt);
    if (isNew)
      if (std::optional<KernelTime> time = costs.operation(op, operands, results))
        at->second = time->estimated;
    return at->second;
  }

  void go(Operation *op, const LayoutOption &option) {
    SmallVector<std::string> layouts(op->getNumOperands());
    for (auto &[number, tag] : option.operandLayouts)
      layouts[number] = tag;
    for (auto [operand, tag] : llvm::zip(op->getOpOperands(), layouts))
      give(operand, tag);
    // A transposition whose operand or result is not row-major becomes a view, which moves no data.
    auto transpose = dyn_cast<TransposeOp>(op);
    if (transpose && (!layouts.front().empty() || !option.resultLayouts.front().empty())) {
      llvm::erase_if(transposed, [&](TransposedMatmul &t) { return t.transpose == op; });
      return replaceByView(transpose,
                           withLayout(typeOf(transpose.getY()), option.resultLayouts.front()));
    }
    for (auto [result, tag] : llvm::zip(op->getResults(), option.resultLayouts))
      if (layoutOf(result.getType()) != tag)
        result.setType(withLayout(typeOf(result), tag));
  }

  void wantPlain(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      give(operand, "");
    // Operations in regions read values of the outer block in row-major order.
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (operand.get().getParentBlock() == &block)
            give(operand, "");
      });
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && !layoutOf(result.getType()).empty())
        result.setType(withLayout(typeOf(result), ""));
  }

  /// Changes the layout of an operand, if necessary by a reorder or broadcast that is created once
  /// for all users of the value in this layout.
  void give(OpOperand &operand, StringRef tag) {
    Value value = operand.get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || layoutOf(type) == tag || !deviceOf(type))
      return;
    Value &reordered = reorders[{value, tag.str()}];
    if (!reordered) {
      OpBuilder builder(block.getParentOp()->getContext());
      builder.setInsertionPointAfterValue(value);
      if (isStretched(value, tag))
        reordered = BroadcastOp::create(builder, value.getLoc(), withLayout(type, tag),
                                        value.getDefiningOp<BroadcastOp>().getX());
      else
        reordered =
            ReorderOp::create(builder, value.getLoc(), withLayout(type, tag), value).getResult();
    }
    operand.set(reordered);
  }

  struct KeyLess {
    bool operator()(const std::pair<Value, std::string> &a,
                    const std::pair<Value, std::string> &b) const {
      return std::make_pair(a.first.getAsOpaquePointer(), a.second) <
             std::make_pair(b.first.getAsOpaquePointer(), b.second);
    }
  };

  Block &block;
  const DeviceLayoutsRegistry &devices;
  Costs &costs;
  std::map<std::pair<DeviceLayouts *, int64_t>, std::vector<std::string>> tags; ///< by device, rank
  SmallVector<TransposedMatmul> transposed;
  llvm::DenseSet<Value> weights;
  llvm::DenseMap<Operation *, LayoutOption> chosen;
  std::vector<std::pair<Operation *, std::vector<LayoutOption>>>
      asked; ///< layout options of convolutions, in block order
  /// Cached costs of operations and reorders, by cache key (see questionOf()).
  std::map<std::vector<const void *>, std::optional<double>> known;
  std::map<std::vector<const void *>, std::vector<LayoutOption>> knownOptions;
  std::map<std::pair<Value, std::string>, Value, KeyLess> reorders;
};

struct LayoutPass : OptionPass<LayoutPass> {
  LayoutPass(const ModelOptions &options, CostsFactory kernels)
      : OptionPass("dlc-layout", "gives activations the layouts that kernels ask for", {"threads"},
                   options),
        kernels(std::move(kernels)) {}
  LayoutPass(const LayoutPass &other) : OptionPass(other), kernels(other.kernels) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    std::unique_ptr<Costs> costs = makeCosts(which, kernels, options, module);
    if (!costs)
      return failure();
    DeviceLayoutsRegistry devices(*costs);
    SmallVector<std::string> lines;
    for (auto function : module.getOps<func::FuncOp>())
      for (Block &block : function.getBody()) {
        applyAlternatives(block, *costs);
        BlockLayouts layouts(block, devices, *costs);
        if (failed(layouts.run()))
          return failure();
        layouts.report(lines);
      }
    module->removeAttr(kLayoutsAttr);
    if (!lines.empty())
      module->setAttr(kLayoutsAttr,
                      Builder(&getContext())
                          .getStrArrayAttr(SmallVector<StringRef>(lines.begin(), lines.end())));
    return success();
  }

  CostsFactory kernels;
  Option<std::string> which{*this, "costs", llvm::cl::desc(kCostsHelp), llvm::cl::init("kernels")};
};

} // namespace

std::unique_ptr<Pass> createLayoutPass(const ModelOptions &options, CostsFactory kernels) {
  return std::make_unique<LayoutPass>(options, std::move(kernels));
}

} // namespace dlc

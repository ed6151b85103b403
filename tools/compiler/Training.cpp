//===- Training.cpp - training step of a model file -----------------------===//
#include "tools/compiler/Training.h"

#include "codegen/Pipeline.h"
#include "dlc/step.hpp"
#include "frontend/trace/Inline.h"
#include "frontend/trace/Trace.h"
#include "ir/dlc/Attributes.h"

#include "ir/dlc/Dialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <regex>

using namespace mlir;

namespace dlc {
namespace {

using trace::Operand;
using trace::Tensor;

/// How the shape and type of the training target are derived from the model's output: class labels,
/// or the output's own type.
enum class TargetKind { Classes, LikeOutput };

struct LossEntry {
  const char *name;
  TargetKind target;
  Tensor (*value)(const Operand &, const Operand &, const TrainingOptions &);
};

const LossEntry losses[] = {
    {"cross_entropy", TargetKind::Classes,
     [](const Operand &x, const Operand &target, const TrainingOptions &o) {
       return loss::cross_entropy(
           x, target, {.ignoreIndex = o.ignoreIndex, .labelSmoothing = o.labelSmoothing});
     }},
    {"nll", TargetKind::Classes,
     [](const Operand &x, const Operand &target, const TrainingOptions &o) {
       return loss::nll_loss(x, target, loss::ClassOptions{.ignoreIndex = o.ignoreIndex});
     }},
    {"mse", TargetKind::LikeOutput,
     [](const Operand &x, const Operand &target, const TrainingOptions &) {
       return loss::mse_loss(x, target);
     }},
    {"l1", TargetKind::LikeOutput,
     [](const Operand &x, const Operand &target, const TrainingOptions &) {
       return loss::l1_loss(x, target);
     }},
    {"bce_with_logits", TargetKind::LikeOutput,
     [](const Operand &x, const Operand &target, const TrainingOptions &) {
       return loss::bce_with_logits(x, target);
     }},
};

/// A supported optimizer: its name, and the options that it accepts in addition to the learning
/// rate and weight decay.
struct OptimizerEntry {
  const char *name;
  std::vector<std::string> takes;
  optim::Optimizer (*make)(const TrainingOptions &);
};

template <typename Options> Options makeCommonOptions(const TrainingOptions &o) {
  Options result;
  if (o.lr)
    result.lr = *o.lr;
  result.weightDecay = o.weightDecay.value_or(result.weightDecay);
  return result;
}

template <typename Options> Options makeAdamOptions(const TrainingOptions &o) {
  auto result = makeCommonOptions<Options>(o);
  result.beta1 = o.beta1.value_or(result.beta1);
  result.beta2 = o.beta2.value_or(result.beta2);
  result.eps = o.eps.value_or(result.eps);
  return result;
}

const std::vector<OptimizerEntry> &optimizerEntries() {
  static const std::vector<OptimizerEntry> all = {
      {"sgd",
       {"momentum", "dampening", "nesterov"},
       [](const TrainingOptions &o) {
         auto s = makeCommonOptions<optim::SgdOptions>(o);
         s.momentum = o.momentum.value_or(s.momentum);
         s.dampening = o.dampening.value_or(s.dampening);
         s.nesterov = o.nesterov;
         return optim::sgd(s);
       }},
      {"adam",
       {"beta1", "beta2", "eps"},
       [](const TrainingOptions &o) {
         return optim::adam(makeAdamOptions<optim::AdamOptions>(o));
       }},
      {"adamw",
       {"beta1", "beta2", "eps"},
       [](const TrainingOptions &o) {
         return optim::adamw(makeAdamOptions<optim::AdamWOptions>(o));
       }},
      {"rmsprop",
       {"alpha", "eps", "momentum"},
       [](const TrainingOptions &o) {
         auto s = makeCommonOptions<optim::RmspropOptions>(o);
         s.momentum = o.momentum.value_or(s.momentum);
         s.alpha = o.alpha.value_or(s.alpha);
         s.eps = o.eps.value_or(s.eps);
         return optim::rmsprop(s);
       }},
  };
  return all;
}

template <typename List> std::vector<std::string> namesOf(const List &list) {
  std::vector<std::string> names;
  for (const auto &entry : list)
    names.push_back(entry.name);
  return names;
}

template <typename List>
const auto &findByName(const List &list, const std::string &name, const char *what) {
  for (const auto &entry : list)
    if (entry.name == name)
      return entry;
  throw Error(std::string(what) + ": required: one of " + llvm::join(namesOf(list), ", ") +
              "; found: '" + name + "'");
}

optim::Optimizer createOptimizer(const TrainingOptions &o) {
  const OptimizerEntry &rule = findByName(optimizerEntries(), o.optimizer, "--optimizer");
  const std::pair<const char *, bool> given[] = {{"momentum", o.momentum.has_value()},
                                                 {"dampening", o.dampening.has_value()},
                                                 {"nesterov", o.nesterov},
                                                 {"beta1", o.beta1.has_value()},
                                                 {"beta2", o.beta2.has_value()},
                                                 {"alpha", o.alpha.has_value()},
                                                 {"eps", o.eps.has_value()}};
  for (auto [name, isGiven] : given)
    if (isGiven && !llvm::is_contained(rule.takes, name))
      throw Error(std::string("--") + name + " has no effect with " + o.optimizer +
                  ", whose options are --lr, --weight-decay, --" + llvm::join(rule.takes, ", --"));
  optim::Optimizer optimizer = rule.make(o);
  for (const std::string &pattern : o.freeze)
    optimizer.group(pattern, optim::frozen());
  return optimizer;
}

/// Names and types of the inputs and of the first output of a model, for given shapes.
struct ModelSignature {
  std::vector<trace::Spec> inputs;
  trace::Spec output;
  bool endsInSoftmax = false;
};

trace::Spec makeSpec(const std::string &name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {name,
          {tensor.getShape().begin(), tensor.getShape().end()},
          *dtypeOf(tensor.getElementType())};
}

ModelSignature getModelSignature(Source &model, func::FuncOp function) {
  ModelSignature border;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (function.getArgAttr(i, kStateAttr) || function.getArgAttr(i, kParameterAttr))
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
    border.inputs.push_back(
        makeSpec(name ? name.str() : "arg" + std::to_string(i), function.getArgumentTypes()[i]));
    if (border.inputs.back().name == "target")
      throw Error(model.path() +
                  ": the input name 'target' is reserved for the loss; rename the input");
  }
  auto results = function.getBody().front().getTerminator()->getOperands();
  for (unsigned i = 0; i < results.size(); ++i) {
    if (function.getResultAttr(i, kStateAttr))
      continue;
    auto type = cast<RankedTensorType>(results[i].getType());
    border.output = makeSpec("output", type);
    if (!isa<FloatType>(type.getElementType()) || !type.hasStaticShape())
      throw Error(model.path() +
                  ": its first output: required: floats of a known shape, for the loss; found: " +
                  std::string(dtypeName(border.output.dtype)) + " " +
                  shapeText(border.output.shape));
    border.endsInSoftmax = isa_and_nonnull<SoftmaxOp>(results[i].getDefiningOp());
    return border;
  }
  throw Error(model.path() + ": required: an output for the loss; found none");
}

trace::Spec makeTargetSpec(Source &model, const LossEntry &loss, const trace::Spec &output) {
  trace::Spec target = output;
  target.name = "target";
  if (loss.target == TargetKind::LikeOutput)
    return target;
  if (output.shape.empty())
    throw Error(model.path() + ": " + loss.name +
                ": required: an output [N, classes, ..] or [classes]; found a 0-d one");
  target.dtype = DType::I64;
  target.shape.erase(target.shape.begin() + (output.shape.size() > 1));
  return target;
}

/// Removes the source location from an error message of the tracer: it is a location in the
/// compiler's own source, not in the user's code.
std::string stripCompilerLocation(llvm::StringRef text) {
  static const std::regex place(R"(^[^ ]*\.[ch]pp:\d+:\d+: )");
  return std::regex_replace(text.str(), place, "");
}

bool isCompilerLocation(Location location) {
  auto file = dyn_cast<FileLineColLoc>(location);
  return file && (file.getFilename().getValue().ends_with(".cpp") ||
                  file.getFilename().getValue().ends_with(".hpp"));
}

/// Replaces source locations in the compiler's own source: loss, gradients and update get the
/// model's location.
void replaceCompilerLocations(ModuleOp module, const std::string &path) {
  MLIRContext *context = module.getContext();
  Location file = FileLineColLoc::get(context, path, 0, 0);
  Location step = NameLoc::get(StringAttr::get(context, "training step"), file);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](LocationAttr location) -> std::optional<Attribute> {
    if (isCompilerLocation(location))
      return Attribute(step);
    return std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
}

} // namespace

std::shared_ptr<Source> sourceOfStep(const std::string &path,
                                     const std::function<trace::Graph()> &trace) {
  TracedModule traced;
  try {
    traced = trace::takeModule(trace());
  } catch (const Error &error) {
    throw Error(path + ": " + stripCompilerLocation(error.what()));
  }
  trace::eraseInlinedFunctions(*traced.module);
  replaceCompilerLocations(*traced.module, path);
  prepareContext(*traced.context);
  return std::make_shared<Source>(path, traced.context, std::move(traced.module));
}

bool usesBatchStatistics(ModuleOp module) {
  return module.walk([](BatchNormTrainOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

std::vector<std::string> trainingLosses() { return namesOf(losses); }
std::vector<std::string> trainingOptimizers() { return namesOf(optimizerEntries()); }

/// Warns if batch norm uses statistics of parts of the batch, and throws if --sync-batch-norm has
/// no effect.
static void checkBatchNorm(Source &model, const TrainingOptions &options, bool hasStatistics) {
  if (options.dataParallel && hasStatistics && !options.syncBatchNorm)
    llvm::errs()
        << "dlc: " << model.path()
        << ": batch norm uses the statistics of each process's batch, and the running statistics "
           "of rank 0 are saved; add --sync-batch-norm to use those of all processes\n";
  if (options.syncBatchNorm && !hasStatistics)
    throw Error(model.path() +
                ": --sync-batch-norm has no effect on a model without batch norm; remove it");
}

static StepOptions makeStepOptions(const TrainingOptions &options) {
  return {.clipNorm = options.clipNorm,
          .clipValue = options.clipValue,
          .microBatches = options.microBatches,
          .dataParallel = options.dataParallel,
          .syncBatchNorm = options.syncBatchNorm,
          .gradients = *parseDType(options.gradients),
          .world = options.world,
          .shardOptimizer = options.shardOptimizer,
          .chunks = options.chunks,
          .seed = options.seed};
}

/// Returns the description of the training that the program stores.
static nlohmann::json describeTraining(const TrainingOptions &options) {
  nlohmann::json about = {{"loss", options.loss}, {"optimizer", options.optimizer}};
  if (options.dataParallel)
    about["data_parallel"] = true;
  if (options.world)
    about["world"] = options.world;
  return about;
}

TrainingStep buildTrainingStep(Source &model, const Shapes &shapes,
                               const TrainingOptions &options) {
  const LossEntry &loss = findByName(losses, options.loss, "--loss");
  optim::Optimizer optimizer = createOptimizer(options);
  if (loss.target != TargetKind::Classes && (options.labelSmoothing != 0 || options.ignoreIndex))
    throw Error("--label-smoothing and --ignore-index have no effect with " + options.loss +
                ", whose targets are not classes");
  auto moduleIn = [&](MLIRContext &context, const Shapes &taken) {
    std::vector<std::string> needed;
    auto module = model.trainingModule(context, taken, options.seed, options.nchwcBlock, needed);
    if (!module)
      throw Error(
          model.path() + ": shapes depend on the value of input '" + needed.front() +
          "'; required for training: a model whose shapes depend only on the shapes of its inputs");
    return module;
  };
  ModelSignature border;
  {
    auto module = moduleIn(model.context(), shapes);
    border = getModelSignature(model, module->lookupSymbol<func::FuncOp>("main"));
    checkBatchNorm(model, options, usesBatchStatistics(*module));
  }
  bool isClasses = loss.target == TargetKind::Classes;
  if (isClasses && border.endsInSoftmax)
    llvm::errs() << "dlc: " << model.path() << ": the model ends with a softmax, but "
                 << options.loss
                 << " expects its input (nll: its logarithm); train a model without the softmax\n";
  trace::Spec target = makeTargetSpec(model, loss, border.output);
  std::vector<trace::Spec> inputs = border.inputs;
  inputs.push_back(target);

  StepOptions stepOptions = makeStepOptions(options);
  if (std::string mistake = mistakeIn(stepOptions); !mistake.empty())
    throw Error(model.path() + ": " + mistake);
  std::optional<trace::InlinedModule> inlined;
  Network network(border.inputs.size(), [&](const std::vector<Tensor> &xs) {
    if (!inlined) {
      // With micro-batches, the model is imported for the input shapes of one micro-batch.
      Shapes taken = shapes;
      for (size_t i = 0; partsOf(stepOptions) > 1 && i < xs.size(); ++i)
        taken[border.inputs[i].name] = xs[i].shape();
      inlined.emplace(moduleIn(trace::currentContext(), taken));
    }
    return (*inlined)(xs)[0];
  });
  TensorFunction value(2, [&](const std::vector<Tensor> &xs) {
    return trace::cast(loss.value(xs[0], xs[1], options), DType::F32);
  });
  if (options.lossScale)
    stepOptions.lossScale = LossScale{.start = *options.lossScale};
  if (isClasses)
    stepOptions.metrics = {{"accuracy", metric::accuracy}};
  std::shared_ptr<Source> source = sourceOfStep(
      model.path(), [&] { return traceStep(network, value, optimizer, inputs, stepOptions); });
  nlohmann::json about = describeTraining(options);
  if (isClasses) {
    about["classes"] = border.output.shape[border.output.shape.size() > 1];
    if (options.ignoreIndex)
      about["ignored"] = *options.ignoreIndex;
  }
  return {std::move(source), std::move(about)};
}

} // namespace dlc

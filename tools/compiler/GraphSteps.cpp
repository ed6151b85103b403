//===- GraphSteps.cpp - training steps from graphs of PyTorch operators ---===//
#include "tools/compiler/GraphSteps.h"

#include "dlc/step.hpp"
#include "frontend/trace/Inline.h"
#include "ir/dlc/Attributes.h"
#include "tools/compiler/Diagnostics.h"
#include "tools/compiler/GraphMemory.h"
#include "tools/compiler/Training.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;

namespace dlc {
namespace {

using nlohmann::json;

/// Reads the options of one optimizer group from JSON, and rejects unknown options, which are those
/// that were not read.
class OptimizerGroupReader {
public:
  explicit OptimizerGroupReader(const json &given) : given(given) {}
  void take(const char *name, double &value) {
    known.insert(name);
    value = given.value(name, value);
  }
  void take(const char *name, bool &value) {
    known.insert(name);
    value = given.value(name, value);
  }
  void finish() const {
    for (const auto &[name, value] : given.items())
      if (name != "parameters" && name != "optimizer" && !known.count(name))
        throw Error("optimizer '" + given.at("optimizer").get<std::string>() + "' has no option '" +
                    name + "'");
  }

private:
  const json &given;
  std::set<std::string> known;
};

template <typename Options> Options readCommonOptions(OptimizerGroupReader &group) {
  Options o;
  // Learning-rate schedule that is only a placeholder: the caller passes the learning rate of each
  // step as an input.
  o.lr = optim::Schedule([](int64_t) { return 0.0; });
  group.take("weight_decay", o.weightDecay);
  group.take("maximize", o.maximize);
  return o;
}

template <typename Options> Options readAdamOptions(OptimizerGroupReader &group) {
  auto o = readCommonOptions<Options>(group);
  group.take("beta1", o.beta1);
  group.take("beta2", o.beta2);
  group.take("eps", o.eps);
  group.take("amsgrad", o.amsgrad);
  return o;
}

struct OptimizerEntry {
  const char *name;
  optim::Optimizer (*make)(OptimizerGroupReader &);
};

const OptimizerEntry rules[] = {
    {"sgd",
     [](OptimizerGroupReader &group) {
       auto o = readCommonOptions<optim::SgdOptions>(group);
       group.take("momentum", o.momentum);
       group.take("dampening", o.dampening);
       group.take("nesterov", o.nesterov);
       return optim::sgd(o);
     }},
    {"adam",
     [](OptimizerGroupReader &group) {
       return optim::adam(readAdamOptions<optim::AdamOptions>(group));
     }},
    {"adamw",
     [](OptimizerGroupReader &group) {
       return optim::adamw(readAdamOptions<optim::AdamWOptions>(group));
     }},
    {"rmsprop",
     [](OptimizerGroupReader &group) {
       auto o = readCommonOptions<optim::RmspropOptions>(group);
       group.take("alpha", o.alpha);
       group.take("eps", o.eps);
       group.take("momentum", o.momentum);
       group.take("centered", o.centered);
       return optim::rmsprop(o);
     }},
};

optim::Optimizer parseGroupOptimizer(const json &given) {
  std::string name = given.at("optimizer");
  auto rule = llvm::find_if(rules, [&](const OptimizerEntry &each) { return each.name == name; });
  if (rule == std::end(rules))
    throw Error("unknown optimizer '" + name + "'");
  OptimizerGroupReader group(given);
  optim::Optimizer made = rule->make(group);
  group.finish();
  return made;
}

optim::Optimizer parseOptimizer(const json &options) {
  const json &groups = options.at("groups");
  optim::Optimizer all = parseGroupOptimizer(groups.at(0));
  for (size_t i = 1; i < groups.size(); ++i)
    all.group(groups[i].at("parameters").get<std::vector<std::string>>(),
              parseGroupOptimizer(groups[i]));
  return all;
}

DType parseGradientType(const json &options) {
  std::string name = options.value("gradients", std::string("f32"));
  if (std::optional<DType> type = parseDType(name))
    return *type;
  throw Error("the type of exchanged gradients must be f32 or bf16; found '" + name + "'");
}

StepOptions parseStepOptions(const json &options) {
  StepOptions step{.clipNorm = options.value("clip_norm", 0.0),
                   .clipValue = options.value("clip_value", 0.0),
                   .microBatches = options.value("accumulate", int64_t(1)),
                   .dataParallel = options.value("data_parallel", false),
                   .syncBatchNorm = options.value("sync_batch_norm", false),
                   .gradients = parseGradientType(options),
                   .seed = options.value("seed", uint64_t(0)),
                   .starts = false};
  if (options.contains("loss_scale") && !options["loss_scale"].is_null())
    step.lossScale = LossScale{.start = options["loss_scale"]};
  return step;
}

/// Marks the arguments and results of @main that are state (`dlc.state`), and the state arguments
/// that are trained.
void markStates(ModuleOp module, const std::set<std::string> &states,
                const std::set<std::string> &trained) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  auto unit = UnitAttr::get(module.getContext());
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto name = main.getArgAttrOfType<StringAttr>(i, kNameAttr);
    if (!states.count(name.str()))
      continue;
    main.setArgAttr(i, kStateAttr, unit);
    if (trained.count(name.str()))
      main.setArgAttr(i, kParameterAttr, unit);
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (states.count(main.getResultAttrOfType<StringAttr>(i, kNameAttr).str()))
      main.setResultAttr(i, kStateAttr, unit);
}

/// Returns the specifications of the graph's inputs that are not state, for one micro-batch.
std::vector<trace::Spec> getNonStateInputs(mlir::func::FuncOp main) {
  std::vector<trace::Spec> inputs;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    if (main.getArgAttr(i, kStateAttr))
      continue;
    auto type = cast<RankedTensorType>(main.getArgument(i).getType());
    inputs.push_back({main.getArgAttrOfType<StringAttr>(i, kNameAttr).str(),
                      {type.getShape().begin(), type.getShape().end()},
                      *dtypeOf(type.getElementType())});
  }
  return inputs;
}

std::set<std::string> getTrainedParameters(const json &options) {
  std::set<std::string> names;
  for (const json &group : options.at("groups"))
    for (const json &name : group.at("parameters"))
      names.insert(name.get<std::string>());
  return names;
}

} // namespace

std::shared_ptr<Source> graphStep(const std::string &text,
                                  std::map<std::string, ConstantMemory> constants,
                                  const std::string &optionsText) {
  json options = json::parse(optionsText);
  std::set<std::string> states = options.at("states"), trained = getTrainedParameters(options);
  optim::Optimizer optimizer = parseOptimizer(options);
  StepOptions step = parseStepOptions(options);
  auto moduleIn = [&](MLIRContext &context) {
    DiagnosticCollector diagnostics(context);
    auto module = importAtenText(context, text, makeConstantLookup(constants));
    if (failed(module))
      throw Error(diagnostics.take("the graph cannot be imported"));
    markStates(**module, states, trained);
    return std::move(*module);
  };
  std::vector<trace::Spec> inputs;
  {
    MLIRContext context;
    auto module = moduleIn(context);
    inputs = getNonStateInputs(module->lookupSymbol<mlir::func::FuncOp>("main"));
    if (step.syncBatchNorm && !usesBatchStatistics(*module))
      throw Error("sync_batch_norm has no effect on a module without batch norm in training mode; "
                  "remove it");
  }
  for (trace::Spec &input : inputs)
    if (!input.shape.empty())
      input.shape[0] *= step.microBatches;
  // The loss is part of the graph, so the traced network returns the loss, and the loss function
  // only casts it to f32.
  std::optional<trace::InlinedModule> inlined;
  Network network(inputs.size(), [&](const std::vector<trace::Tensor> &xs) {
    if (!inlined)
      inlined.emplace(moduleIn(trace::currentContext()));
    return (*inlined)(xs)[0];
  });
  TensorFunction loss(
      1, [](const std::vector<trace::Tensor> &xs) { return trace::cast(xs[0], DType::F32); });
  return sourceOfStep("module", [&] { return traceStep(network, loss, optimizer, inputs, step); });
}

} // namespace dlc

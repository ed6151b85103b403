//===- Annotations.cpp - user requests for devices ------------------------===//
#include "passes/place/Annotations.h"

#include "ir/dlc/Attributes.h"
#include "passes/Devices.h"
#include "passes/OpNames.h"
#include "passes/TensorBuilder.h"
#include "passes/place/DeviceLocations.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace mlir;

namespace dlc::place {
namespace {

/// Returns a hint with examples of device names. If the device kind is not available, the hint
/// includes the paths where its plugin was searched for.
std::string deviceHint(FailureOr<OnAttr> device) {
  std::string why = succeeded(device) ? getDeviceKind(*device).why : "";
  return "write for example cpu, cpu:1 or cuda:0" + (why.empty() ? "" : "; " + why);
}

bool isDevice(FailureOr<OnAttr> device) {
  return succeeded(device) && getDeviceKind(*device).table;
}

FailureOr<OnAttr> parseDevice(ModuleOp module, StringRef name, const Twine &where) {
  FailureOr<OnAttr> device = OnAttr::fromName(module.getContext(), name);
  if (isDevice(device))
    return device;
  return module.emitError() << where << ": '" << name << "' is not a device; "
                            << deviceHint(device);
}

/// Parses a size such as "64MiB", "2GiB" or "1000" into bytes. Returns nullopt if the text is not a
/// size.
std::optional<int64_t> parseBytes(StringRef text) {
  static constexpr std::pair<llvm::StringLiteral, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"B", 1}};
  double unit = 1, value = 0;
  for (auto [name, bytes] : units)
    if (text.consume_back(name)) {
      unit = bytes;
      break;
    }
  if (text.rtrim().getAsDouble(value) || !(value > 0) || value * unit >= 0x1p62)
    return std::nullopt;
  return int64_t(value * unit);
}

PlacementRequest requestFromTypes(TypeRange types) {
  OnAttr scalar;
  for (Type type : types) {
    OnAttr device = deviceOf(type);
    if (device && cast<RankedTensorType>(type).getRank() > 0)
      return {device, "set by its type", true};
    scalar = scalar ? scalar : device;
  }
  return scalar ? PlacementRequest{scalar, "set by its type", true} : PlacementRequest{};
}

FailureOr<PlacementRequest> requestFromAttribute(Operation *op, Attribute attribute) {
  if (!attribute)
    return PlacementRequest{};
  auto name = dyn_cast<StringAttr>(attribute);
  FailureOr<OnAttr> device = failure();
  if (name)
    device = OnAttr::fromName(op->getContext(), name.getValue());
  if (!isDevice(device))
    return op->emitError() << "`" << kDeviceAttr << "` must name a device; found " << attribute
                           << "; " << deviceHint(device);
  return PlacementRequest{*device, "set by dlc.device"};
}

} // namespace

std::string nameOf(Operation *op) {
  SmallVector<StringRef> names;
  collectLocationNames(op->getLoc(), names);
  if (names.empty())
    return op->getName().getStringRef().str();
  return ("'" + names.front() + "'").str();
}

std::string nameOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return nameOf(op);
  auto argument = cast<BlockArgument>(value);
  if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
      return ("'" + name.getValue() + "'").str();
  return "argument " + std::to_string(argument.getArgNumber());
}

LogicalResult PlacementOptions::addCandidates(ModuleOp module, StringRef text) {
  StringRef list = text;
  PlacementMode wanted = list.consume_front("auto:") ? PlacementMode::Auto : PlacementMode::Split;
  if (wanted == PlacementMode::Split)
    list.consume_front("split:");
  if (mode != PlacementMode::Bytes)
    return module.emitError()
           << "--place '" << text
           << "': required: `auto:` or `split:` once; found: twice; put all devices into one list";
  mode = wanted;
  SmallVector<StringRef> parts;
  // The device list is also split at semicolons, because the list options of pass pipelines already
  // split at commas.
  llvm::SplitString(list, parts, ",;");
  if (parts.empty())
    return module.emitError() << "--place '" << text
                              << "': required: devices, as in auto:cpu,cpu:1; found none";
  for (StringRef part : parts) {
    auto [name, size] = part.split('=');
    FailureOr<OnAttr> device = parseDevice(module, name, "--place '" + text + "'");
    if (failed(device))
      return failure();
    std::optional<int64_t> capacity = size.empty() ? 0 : parseBytes(size);
    if (!capacity || (part.contains('=') && size.empty()))
      return module.emitError() << "--place '" << text << "': required: bytes, as in " << name
                                << "=2GiB; found '" << size << "'";
    if (llvm::any_of(candidates,
                     [&](const DeviceCandidate &c) { return c.device.sameDevice(*device); }))
      return module.emitError() << "--place '" << text << "': " << name << " is listed twice";
    candidates.push_back({*device, *capacity});
  }
  return success();
}

LogicalResult PlacementOptions::addPattern(ModuleOp module, StringRef text) {
  Pattern added;
  added.text = text.str();
  // PATTERN ends at the last '=', because names may contain '='.
  auto [pattern, name] = text.rsplit('=');
  if (!text.contains('=') || pattern.empty())
    return module.emitError()
           << "--place '" << text
           << "': required: PATTERN=DEVICE, input:PATTERN=DEVICE, output:PATTERN=DEVICE, "
              "auto:DEVICE,... or split:DEVICE,...";
  if (pattern.consume_front("input:"))
    added.kind = Pattern::Inputs;
  else if (pattern.consume_front("output:"))
    added.kind = Pattern::Outputs;
  FailureOr<OnAttr> device = parseDevice(module, name, "--place '" + text + "'");
  if (failed(device))
    return failure();
  added.pattern = pattern.str();
  added.device = *device;
  patterns.push_back(added);
  return success();
}

FailureOr<PlacementOptions> PlacementOptions::parse(ModuleOp module, const ModelOptions &options) {
  PlacementOptions result;
  FailureOr<OnAttr> home = parseDevice(module, options.device, "--device");
  if (failed(home))
    return failure();
  result.home = *home;
  for (StringRef text : options.place) {
    bool isList = text.starts_with("auto:") || text.starts_with("split:");
    if (failed(isList ? result.addCandidates(module, text) : result.addPattern(module, text)))
      return failure();
  }
  return result;
}

PlacementRequest PlacementOptions::byPattern(Pattern::Kind kind, ArrayRef<StringRef> names) {
  PlacementRequest request;
  for (Pattern &each : patterns) {
    if (each.kind != kind ||
        !llvm::any_of(names, [&](StringRef name) { return matchesPattern(each.pattern, name); }))
      continue;
    // The first matching pattern determines the device. Later matching patterns are only marked as
    // matched.
    each.matched = true;
    if (!request.device)
      request = {each.device, "--place " + each.text};
  }
  return request;
}

/// Returns the device that the operations inside a branch or loop request. The whole branch or loop
/// is placed on this device.
FailureOr<PlacementRequest> PlacementOptions::ofRegions(Operation *op) {
  PlacementRequest found;
  Operation *first = nullptr;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      if (isa<ConstantOp, YieldOp>(inner))
        continue;
      FailureOr<PlacementRequest> request = of(&inner);
      if (failed(request))
        return failure();
      if (!request->device)
        continue;
      if (found.device && !found.device.sameDevice(request->device))
        return op->emitError() << "must be completely on one device; " << nameOf(first)
                               << " inside is requested on " << found.device.getDeviceName() << ", "
                               << nameOf(&inner) << " on " << request->device.getDeviceName()
                               << "; request one device for all of it";
      if (!found.device) {
        found = {request->device, nameOf(&inner) + " inside: " + request->why, request->byType};
        first = &inner;
      }
    }
  return found;
}

FailureOr<PlacementRequest> PlacementOptions::of(Operation *op) {
  SmallVector<StringRef> names;
  collectLocationNames(op->getLoc(), names);
  PlacementRequest own = byPattern(Pattern::Operations, names);
  SmallVector<Type> types(op->getResultTypes());
  for (Region &region : op->getRegions())
    llvm::append_range(types, region.getArgumentTypes());
  if (PlacementRequest typed = requestFromTypes(types); typed.device) {
    if (own.device && !own.device.sameDevice(typed.device))
      return op->emitError() << "is on " << typed.device.getDeviceName()
                             << " by its type, and requested on " << own.device.getDeviceName()
                             << " by " << own.why << "; remove one of the two";
    return typed;
  }
  if (!own.device) {
    FailureOr<PlacementRequest> asked = requestFromAttribute(op, op->getAttr(kDeviceAttr));
    if (failed(asked))
      return failure();
    own = *asked;
  }
  if (!own.device)
    if (OnAttr device = getLocationDevice(op->getLoc()))
      own = {device, "set by dlc.device"};
  if (!isa<IfOp, LoopOp>(op))
    return own;
  FailureOr<PlacementRequest> inner = ofRegions(op);
  if (failed(inner))
    return failure();
  if (own.device && inner->device && !own.device.sameDevice(inner->device))
    return op->emitError() << "must be completely on one device: it is requested on "
                           << own.device.getDeviceName() << " (" << own.why << "), but "
                           << inner->device.getDeviceName() << " is requested by " << inner->why
                           << "; request one device for all of it";
  return own.device ? own : *inner;
}

FailureOr<PlacementRequest> PlacementOptions::ofValue(func::FuncOp function, Pattern::Kind kind,
                                                      Type type, DictionaryAttr attributes) {
  if (PlacementRequest request = requestFromTypes(type); request.device)
    return request;
  SmallVector<StringRef> names;
  if (auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr())
    names.push_back(name.getValue());
  if (PlacementRequest request = byPattern(kind, names); request.device)
    return request;
  return requestFromAttribute(function, attributes ? attributes.get(kDeviceAttr) : Attribute());
}

FailureOr<PlacementRequest> PlacementOptions::ofInput(func::FuncOp function, unsigned argument) {
  return ofValue(function, Pattern::Inputs, function.getArgumentTypes()[argument],
                 function.getArgAttrDict(argument));
}

FailureOr<PlacementRequest> PlacementOptions::ofOutput(func::FuncOp function, unsigned result) {
  return ofValue(function, Pattern::Outputs, function.getResultTypes()[result],
                 function.getResultAttrDict(result));
}

LogicalResult PlacementOptions::checkAllMatched(ModuleOp module) const {
  for (const Pattern &each : patterns) {
    if (each.matched)
      continue;
    llvm::SmallSetVector<StringRef, 16> names;
    module.walk([&](Operation *op) {
      SmallVector<StringRef> own;
      if (each.kind == Pattern::Operations && op->getNumResults() > 0 && !isa<ConstantOp>(op))
        collectLocationNames(op->getLoc(), own);
      auto function = dyn_cast<func::FuncOp>(op);
      auto add = [&](DictionaryAttr attributes) {
        if (auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr())
          own.push_back(name.getValue());
      };
      for (unsigned i = 0;
           function && each.kind == Pattern::Inputs && i < function.getNumArguments(); ++i)
        add(function.getArgAttrDict(i));
      for (unsigned i = 0;
           function && each.kind == Pattern::Outputs && i < function.getNumResults(); ++i)
        add(function.getResultAttrDict(i));
      names.insert(own.begin(), own.end());
    });
    SmallVector<StringRef> known(names.begin(), names.end());
    std::stable_sort(known.begin(), known.end(), [&](StringRef a, StringRef b) {
      return a.edit_distance(each.pattern) < b.edit_distance(each.pattern);
    });
    StringRef what = each.kind == Pattern::Operations ? "operation"
                     : each.kind == Pattern::Inputs   ? "input"
                                                      : "output";
    InFlightDiagnostic error = module.emitError() << "--place '" << each.text << "': no " << what
                                                  << " has a name that matches; ";
    if (known.empty())
      return error << "none has a name";
    error << "found";
    for (StringRef name : ArrayRef(known).take_front(5))
      error << " '" << name << "'";
    if (known.size() > 5)
      error << " and " << known.size() - 5 << " more";
    return error;
  }
  return success();
}

} // namespace dlc::place

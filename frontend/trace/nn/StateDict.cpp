//===- StateDict.cpp - loads and saves a module's parameters --------------===//
#include "frontend/trace/Parameter.h"
#include "frontend/trace/Safetensors.h"

#include <set>

namespace dlc::nn {

namespace {
/// Formats a list of names for messages. Only the first names of a long list are included.
std::string formatFirstNames(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 5; ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > 5)
    text += " and " + std::to_string(names.size() - 5) + " more";
  return text;
}

std::string shapeText(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}
} // namespace

void Module::load(const std::string &path, const LoadOptions &options) {
  safetensors::SafetensorsFile file = safetensors::read(path);
  std::vector<Parameter> all = parameters();
  std::vector<std::string> missing, extra;
  std::set<std::string> names;
  std::vector<std::pair<Parameter, Array>> found;
  for (const Parameter &parameter : all) {
    names.insert(parameter.name());
    auto at = file.tensors.find(parameter.name());
    if (at == file.tensors.end()) {
      missing.push_back(parameter.name());
      continue;
    }
    Array array = at->second;
    if (array.shape != parameter.shape())
      throw Error(path + ": tensor '" + parameter.name() + "' must have the shape " +
                  shapeText(parameter.shape()) + " of the module's parameter; found " +
                  shapeText(array.shape) + "; load the file of a model built with the same sizes");
    if (array.dtype != parameter.dtype()) {
      auto isFloat = [](DType d) {
        return d == DType::F32 || d == DType::F16 || d == DType::BF16 || d == DType::F64;
      };
      bool floats = isFloat(array.dtype) && isFloat(parameter.dtype());
      if (!floats || !options.convert)
        throw Error(path + ": tensor '" + parameter.name() + "' must have element type " +
                    std::string(dtypeName(parameter.dtype())) + "; found " +
                    std::string(dtypeName(array.dtype)) +
                    (floats ? "; set LoadOptions::convert, or convert the module with to()" : ""));
      array = array.to(parameter.dtype());
    }
    found.emplace_back(parameter, std::move(array));
  }
  for (const auto &[name, array] : file.tensors)
    if (!names.count(name))
      extra.push_back(name);
  // `num_batches_tracked` does not affect a model's results, and many files omit it.
  std::erase_if(missing,
                [](const std::string &name) { return name.ends_with("num_batches_tracked"); });
  if (!missing.empty() && !options.allowMissing)
    throw Error(path + ": must contain all of the module's parameters; " +
                formatFirstNames(missing) +
                " not found; set LoadOptions::allowMissing to leave them as they are");
  if (!extra.empty() && !options.allowExtra)
    throw Error(path + ": the module has no parameter for " + formatFirstNames(extra) +
                "; set LoadOptions::allowExtra to ignore them");
  // The parameters are assigned only after all checks, so that an invalid file changes nothing.
  for (auto &[parameter, array] : found)
    parameter.set(std::move(array));
}

void Module::save(const std::string &path) const {
  safetensors::Tensors tensors;
  for (const Parameter &parameter : parameters())
    tensors[parameter.name()] = parameter.value();
  safetensors::write(path, tensors, {{"format", "pt"}});
}

} // namespace dlc::nn

//===- StateFile.cpp - reading and writing of checkpoint files ---------------===//
#include "runtime/device/Copy.h"
#include "runtime/session/state/Checkpoint.h"
#include "runtime/session/state/Parts.h"
#include "runtime/session/state/State.h"
#include "runtime/session/state/StateText.h"

#include <algorithm>
#include <set>

namespace dlc::runtime {

StateSet::Contents StateSet::contents(size_t index) const {
  const StateInfo &info = plan.states[index];
  Contents own{bound[index].data, info.bytes, nullptr};
  if (bound[index].device) {
    auto copy = std::make_shared<std::vector<char>>(info.bytes);
    read(bound[index], copy->data(), info.bytes);
    own = {copy->data(), info.bytes, copy};
  }
  if (!isPart(info))
    return own;
  Span whole = gatherRankParts(info, *world, own.data);
  return {static_cast<const char *>(whole.data), whole.bytes, whole.owner};
}

StateSet::Overlap StateSet::computeOverlap(const StateInfo &info,
                                           const SharedTensor &tensor) const {
  const uint64_t share = info.bytes / dtypeBytes(info.dtype),
                 begin = share * static_cast<uint64_t>(rank);
  const uint64_t first = std::max(begin, tensor.begin),
                 last = std::min(begin + share, tensor.begin + tensor.count);
  if (first >= last)
    return {0, 0, 0};
  return {first - tensor.begin, first - begin, last - first};
}

void StateSet::addShares(TensorViews &file, std::vector<Contents> &held) const {
  for (size_t i = 0; i < bound.size(); ++i) {
    const StateInfo &info = plan.states[i];
    const uint64_t size = dtypeBytes(info.dtype);
    if (info.sharers == 0)
      continue;
    const Contents &all = held.emplace_back(contents(i));
    for (const SharedTensor &tensor : info.sharedTensors) {
      Overlap here = computeOverlap(info, tensor);
      if (here.count == 0)
        continue;
      file.tensors[tensor.name] = {info.dtype,
                                   {static_cast<int64_t>(here.count)},
                                   all.data + here.inShare * size,
                                   here.count * size};
      file.metadata[kBeginKey + tensor.name] = std::to_string(here.inTensor);
    }
  }
}

void StateSet::requireAll() const {
  for (const StateInfo &info : plan.states)
    if (info.sharers > 0)
      fail("state '", info.name, "' is split over ", info.sharers,
           " ranks, so that one rank cannot save it; required: a checkpoint of all ranks, such as "
           "dlc train writes");
}

void StateSet::save(const std::string &path, std::map<std::string, std::string> metadata) const {
  requireAll();
  saveRest(path, std::move(metadata));
}

void StateSet::savePart(const std::string &path) const {
  Lock lock(*this);
  requireWhole("save the state");
  TensorViews file;
  std::vector<Contents> held;
  addShares(file, held);
  writeSafetensors(path, file);
}

void StateSet::saveRest(const std::string &path,
                        std::map<std::string, std::string> metadata) const {
  Lock lock(*this);
  requireWhole("save the state");
  TensorViews file;
  std::vector<Contents> held;
  // PyTorch-based readers of .safetensors files require format "pt".
  file.metadata = std::move(metadata);
  file.metadata.insert(
      {{"format", "pt"}, {kStateOfKey, plan.name}, {"dlc.made_by", plan.producer}});
  const bool writes = !world || world->rank() == 0;
  for (size_t i = 0; i < bound.size(); ++i)
    if (const StateInfo &info = plan.states[i]; info.sharers == 0) {
      Contents all = contents(i);
      if (!writes)
        continue;
      file.tensors[info.name] = {info.dtype, getUnshardedShape(info), all.data, all.bytes};
      held.push_back(std::move(all));
    }
  if (writes)
    writeSafetensors(path, file);
}

void StateSet::load(const std::string &path, bool allowMissing, bool allowExtra) {
  Checkpoint file = readCheckpoint(path);
  auto other = [&] {
    auto of = file.metadata.find(kStateOfKey);
    return message(path, ": this is a checkpoint of another model",
                   of == file.metadata.end() ? "" : " ('" + of->second + "')", ": ");
  };
  /// A range of elements of a checkpoint tensor and their destination in a state.
  struct Source {
    size_t state;
    const SavedTensor *tensor;
    Overlap where;
  };
  std::vector<std::string> missing, extra;
  std::vector<Source> found;
  std::set<std::string> names;
  auto find = [&](size_t state, const std::string &name, const std::vector<int64_t> &shape,
                  const Overlap &where) {
    const DType dtype = plan.states[state].dtype;
    names.insert(name);
    auto at = file.tensors.find(name);
    if (at == file.tensors.end()) {
      missing.push_back(name);
      return;
    }
    const SavedTensor &tensor = at->second;
    if (tensor.dtype != dtype || tensor.shape != shape)
      fail(other(), "tensor '", name, "' must be ", formatType(dtype, shape), " as in program '",
           plan.name, "'; found: ", formatType(tensor.dtype, tensor.shape));
    found.push_back({state, &tensor, where});
  };
  for (size_t i = 0; i < bound.size(); ++i) {
    const StateInfo &info = plan.states[i];
    if (info.sharers == 0)
      find(i, info.name, getUnshardedShape(info), {0, 0, info.bytes / dtypeBytes(info.dtype)});
    for (const SharedTensor &tensor : info.sharedTensors)
      find(i, tensor.name, tensor.shape, computeOverlap(info, tensor));
  }
  for (const auto &[name, tensor] : file.tensors)
    if (!names.count(name))
      extra.push_back(name);
  if (!missing.empty() && !allowMissing)
    fail(other(), "it lacks ", formatFirstNames(missing), " of program '", plan.name,
         "'; give a checkpoint of this program, or allow missing states, which keep their values");
  if (!extra.empty() && !allowExtra)
    fail(other(), "program '", plan.name, "' has no state for its ", formatFirstNames(extra),
         "; give a checkpoint of this program, or allow extra tensors, which are ignored");
  // States are changed only after all checks, so that an invalid file changes nothing.
  Lock lock(*this);
  for (const Source &source : found)
    place(source.state, *source.tensor, source.where);
  if (missing.empty())
    mend();
}

void StateSet::place(size_t state, const SavedTensor &tensor, const Overlap &where) {
  const uint64_t size = dtypeBytes(tensor.dtype), bytes = where.count * size;
  const Bound &to = bound[state];
  if (const StateInfo &info = plan.states[state]; isPart(info)) {
    std::vector<char> whole(info.bytes * static_cast<uint64_t>(info.part.ranks)), part(info.bytes);
    tensor.read(0, whole.size() / size, whole.data());
    extractRankPart(info, world->rank(), whole.data(), part.data());
    return write(to, part.data(), info.bytes);
  }
  if (!to.device)
    return tensor.read(where.inTensor, where.count, to.data + where.inShare * size);
  std::vector<char> copy(bytes);
  tensor.read(where.inTensor, where.count, copy.data());
  copyBytes(to.data + where.inShare * size, *to.device, copy.data(), hostDevice(), bytes);
}

} // namespace dlc::runtime

//===- OneDnnHelp.h - runs a oneDNN description on plain arrays ---------------===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_ONEDNNHELP_H
#define DLC_TEST_RUNTIME_LIBRARY_ONEDNNHELP_H

#include "Calls.h"
#include "test/runtime/Sample.h"

#include "runtime/library/onednn/Describe.h"

#include <cmath>
#include <cstring>
#include <map>

namespace dlc::test {

using onednn::OperationDescription;

inline json layout(std::vector<int64_t> dims, const std::string &tag = "any",
                   const std::string &dtype = "f32") {
  return {{"dims", std::move(dims)}, {"dtype", dtype}, {"tag", tag}};
}

inline std::string rowMajor(size_t rank) { return std::string("abcdefghijkl").substr(0, rank); }

inline int64_t elements(const std::vector<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

/// Returns small, exactly representable values without a period that divides a dimension.
inline std::vector<float> pattern(int64_t count, int seed) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 12345;
  for (float &value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(state >> 24) - 128) / 64.0f;
  }
  return values;
}

/// Creates a call with sufficiently large buffers. Returns nothing and the reason in `error` on
/// failure.
inline std::optional<Runnable> callOf(const OperationDescription &described, int threads,
                                      std::string &error) {
  std::vector<runtime::BufferInfo> buffers(described.arguments.size(), {UINT64_MAX, true});
  return Runnable::create("onednn", described.desc, buffers, threads, error);
}

struct Ran {
  OperationDescription described;
  std::map<std::string, std::vector<float>> outputs; // row-major f32
};

/// Resolves `desc`, packs the row-major f32 `inputs` into the resolved layouts, runs the call, and
/// unpacks the outputs.
inline Ran runDesc(const json &desc, const std::map<std::string, std::vector<float>> &inputs,
                   int threads = 2) {
  Ran ran;
  ran.described = onednn::describe(desc, threads);
  EXPECT_TRUE(ran.described.ok) << ran.described.error;
  if (!ran.described.ok)
    return ran;
  std::vector<std::shared_ptr<void>> owners;
  std::vector<void *> buffers;
  for (const onednn::Argument &argument : ran.described.arguments) {
    auto given = inputs.find(argument.name);
    if (given != inputs.end()) {
      onednn::PackedWeights packed = onednn::packWeights(ran.described.desc, argument.name,
                                                         given->second.data(), "", "f32", threads);
      EXPECT_TRUE(packed.ok) << argument.name << ": " << packed.error;
      EXPECT_EQ(packed.bytes, argument.bytes);
      owners.push_back(packed.data);
    } else {
      EXPECT_TRUE(argument.isOutput) << "no input " << argument.name;
      void *memory = std::aligned_alloc(64, (argument.bytes + 127) / 64 * 64);
      std::memset(memory, 0xff, argument.bytes);
      owners.emplace_back(memory, std::free);
    }
    buffers.push_back(owners.back().get());
  }
  std::string error;
  auto executable = callOf(ran.described, threads, error);
  EXPECT_TRUE(executable) << error;
  if (!executable)
    return ran;
  executable->run(buffers.data());
  executable->run(buffers.data());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const onednn::Argument &argument = ran.described.arguments[i];
    if (!argument.isOutput)
      continue;
    std::vector<float> plain(static_cast<size_t>(elements(argument.dims)));
    json from = {{"dims", argument.dims}, {"dtype", argument.dtype}, {"tag", argument.tag}};
    if (argument.tag == "strided")
      from = {{"dims", argument.dims}, {"dtype", argument.dtype}, {"strides", argument.strides}};
    error = onednn::reorder(from, buffers[i], layout(argument.dims, rowMajor(argument.dims.size())),
                            plain.data(), threads);
    EXPECT_EQ(error, "");
    ran.outputs[argument.name] = plain;
  }
  return ran;
}

inline void expectClose(const std::vector<float> &found, const std::vector<float> &expected,
                        double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double scale = 1e-6;
  for (float value : expected)
    scale = std::max(scale, static_cast<double>(std::fabs(value)));
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance * scale) << "at " << i;
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_LIBRARY_ONEDNNHELP_H

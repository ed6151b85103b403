//===- Layout.cpp - names for oneDNN's memory layouts -------------------------===//
#include "runtime/library/onednn/Layout.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace dlc::onednn {

static constexpr std::string_view kOpaque = "opaque:";

static const std::map<std::string_view, dnnl_format_tag_t> &tagsByName() {
  static const auto *tags = [] {
    auto *built = new std::map<std::string_view, dnnl_format_tag_t>;
    for (int tag = dnnl_format_tag_any; tag < dnnl_format_tag_last; ++tag)
      built->emplace(dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag)),
                     static_cast<dnnl_format_tag_t>(tag));
    return built;
  }();
  return *tags;
}

std::optional<dnnl_data_type_t> parseType(std::string_view name) {
  static constexpr std::pair<std::string_view, dnnl_data_type_t> types[] = {
      {"f32", dnnl_f32}, {"bf16", dnnl_bf16}, {"f16", dnnl_f16}, {"i8", dnnl_s8},
      {"u8", dnnl_u8},   {"bool", dnnl_u8},   {"i32", dnnl_s32}, {"f64", dnnl_f64}};
  for (const auto &[known, type] : types)
    if (known == name)
      return type;
  return std::nullopt;
}

std::optional<uint64_t> parseOpaqueBytes(std::string_view tag) {
  if (tag.substr(0, kOpaque.size()) != kOpaque)
    return std::nullopt;
  std::string_view digits = tag.substr(kOpaque.size());
  uint64_t bytes = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  if (error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return bytes;
}

/// Returns the strides of a plain permutation such as "cabd". oneDNN has tags for only some
/// permutations.
static std::optional<std::vector<int64_t>> permutationStrides(std::string_view tag,
                                                              const std::vector<int64_t> &dims) {
  if (tag.size() != dims.size())
    return std::nullopt;
  std::vector<int64_t> strides(dims.size(), 0);
  int64_t step = 1;
  for (size_t i = tag.size(); i-- > 0;) {
    size_t dim = static_cast<size_t>(tag[i] - 'a');
    if (dim >= dims.size() || strides[dim] != 0)
      return std::nullopt;
    strides[dim] = step;
    step *= std::max<int64_t>(dims[dim], 1);
  }
  return strides;
}

MemoryDesc parseTag(std::string_view tag, const std::vector<int64_t> &dims, dnnl_data_type_t type) {
  dnnl_memory_desc_t md = nullptr;
  int rank = static_cast<int>(dims.size());
  if (rank == 0 || rank > DNNL_MAX_NDIMS)
    return nullptr;
  if (parseOpaqueBytes(tag)) {
    dnnl_memory_desc_create_with_tag(&md, rank, dims.data(), type, dnnl_format_tag_any);
  } else if (auto found = tagsByName().find(tag); found != tagsByName().end()) {
    dnnl_memory_desc_create_with_tag(&md, rank, dims.data(), type, found->second);
  } else if (auto strides = permutationStrides(tag, dims)) {
    dnnl_memory_desc_create_with_strides(&md, rank, dims.data(), type, strides->data());
  }
  return MemoryDesc(md);
}

static int getRank(const_dnnl_memory_desc_t md) {
  int rank = 0;
  dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &rank);
  return rank;
}

static std::vector<int64_t> queryDims(const_dnnl_memory_desc_t md, dnnl_query_t what, int count) {
  const dnnl_dims_t *values = nullptr;
  if (dnnl_memory_desc_query(md, what, &values) != dnnl_success || !values)
    return {};
  return std::vector<int64_t>(*values, *values + count);
}

std::vector<int64_t> getDims(const_dnnl_memory_desc_t md) {
  return queryDims(md, dnnl_query_dims, getRank(md));
}

static bool isBlocked(const_dnnl_memory_desc_t md) {
  dnnl_format_kind_t kind = dnnl_format_kind_undef;
  dnnl_memory_desc_query(md, dnnl_query_format_kind, &kind);
  return kind == dnnl_blocked;
}

static int countInnerBlocks(const_dnnl_memory_desc_t md) {
  int count = 0;
  dnnl_memory_desc_query(md, dnnl_query_inner_nblks_s32, &count);
  return count;
}

std::vector<int64_t> getPlainStrides(const_dnnl_memory_desc_t md) {
  if (!isBlocked(md) || countInnerBlocks(md) != 0)
    return {};
  return queryDims(md, dnnl_query_strides, getRank(md));
}

uint64_t getMemoryBytes(const_dnnl_memory_desc_t md) {
  uint64_t bytes = dnnl_memory_desc_get_size(md);
  std::vector<int64_t> strides = getPlainStrides(md), dims = getDims(md);
  if (bytes == 0 || strides.empty())
    return bytes;
  int64_t elements = 1;
  for (size_t d = 0; d < dims.size(); ++d)
    elements += (dims[d] - 1) * strides[d];
  dnnl_data_type_t type = dnnl_data_type_undef;
  dnnl_memory_desc_query(md, dnnl_query_data_type, &type);
  return static_cast<uint64_t>(elements) * dnnl_data_type_size(type);
}

/// Returns the canonical layout tag of a memory descriptor: the dimensions from the outermost to
/// the innermost, then the blocks. Dimensions with equal strides (dimensions of one element) are in
/// logical order.
static std::string formatBlockedTag(const_dnnl_memory_desc_t md) {
  int rank = getRank(md), blocks = countInnerBlocks(md);
  std::vector<int64_t> strides = queryDims(md, dnnl_query_strides, rank);
  std::vector<int64_t> sizes = queryDims(md, dnnl_query_inner_blks, blocks);
  std::vector<int64_t> owners = queryDims(md, dnnl_query_inner_idxs, blocks);
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return strides[a] > strides[b]; });
  std::string name;
  for (int dim : order) {
    bool blocked = std::find(owners.begin(), owners.end(), dim) != owners.end();
    name += static_cast<char>((blocked ? 'A' : 'a') + dim);
  }
  for (int i = 0; i < blocks; ++i)
    name += std::to_string(sizes[i]) + static_cast<char>('a' + owners[i]);
  return name;
}

std::string getLayoutTag(const_dnnl_memory_desc_t md) {
  std::string opaque = std::string(kOpaque) + std::to_string(dnnl_memory_desc_get_size(md));
  if (!isBlocked(md))
    return opaque;
  std::vector<int64_t> dims = getDims(md);
  std::vector<int64_t> strides = queryDims(md, dnnl_query_strides, getRank(md));
  dnnl_data_type_t type = dnnl_data_type_undef;
  dnnl_memory_desc_query(md, dnnl_query_data_type, &type);
  auto matches = [&](std::string_view name, bool exactly) {
    MemoryDesc same = parseTag(name, dims, type);
    return same && dnnl_memory_desc_equal(same.get(), md) &&
           (!exactly || queryDims(same.get(), dnnl_query_strides, getRank(md)) == strides);
  };
  // Layouts compare equal if they differ only in the strides of dimensions of one element.
  // Implementations check those strides, too, so a tag with exactly these strides is preferred.
  std::string spelled = formatBlockedTag(md);
  size_t rank = dims.size();
  auto sameBlocks = [&](std::string_view name) {
    return name.size() == spelled.size() && name.substr(rank) == spelled.substr(rank);
  };
  for (bool exactly : {true, false}) {
    if (matches(spelled, exactly))
      return spelled;
    for (const auto &[name, tag] : tagsByName())
      if (tag != dnnl_format_tag_any && sameBlocks(name) && matches(name, exactly))
        return std::string(name);
  }
  return countInnerBlocks(md) == 0 ? "strided" : opaque;
}

} // namespace dlc::onednn

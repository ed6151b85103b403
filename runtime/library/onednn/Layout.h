//===- Layout.h - names for oneDNN's memory layouts ---------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_LAYOUT_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_LAYOUT_H

#include "runtime/library/onednn/Handles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::onednn {

std::optional<dnnl_data_type_t> parseType(std::string_view name);

/// A tag ("acdb", "aBcd16b", "any", "opaque:BYTES") to a descriptor; null if there is no such
/// layout for these dimensions. An opaque layout is `any` until a primitive has chosen it.
MemoryDesc parseTag(std::string_view tag, const std::vector<int64_t> &dims, dnnl_data_type_t type);

/// The name that parseTag() turns back into an equal descriptor; "strided" for a plain layout with
/// gaps (its strides say the rest), "opaque:BYTES" for what has no name.
std::string tagName(const_dnnl_memory_desc_t md);

/// Strides in elements; empty for layouts with blocks and opaque ones.
std::vector<int64_t> plainStrides(const_dnnl_memory_desc_t md);

std::vector<int64_t> dimsOf(const_dnnl_memory_desc_t md);

/// Bytes from the first element to the last, padding included. For a plain layout with gaps less
/// than what oneDNN says, which counts a gap after the last element too.
uint64_t bytesOf(const_dnnl_memory_desc_t md);

/// The size that an "opaque:BYTES" tag promises.
std::optional<uint64_t> opaqueBytes(std::string_view tag);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_LAYOUT_H

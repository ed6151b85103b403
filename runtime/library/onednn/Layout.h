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

/// Returns the descriptor of a tag ("acdb", "aBcd16b", "any", "opaque:BYTES"), or null if these
/// dimensions have no such layout. An opaque layout is parsed as `any`, until a primitive selects
/// its layout.
MemoryDesc parseTag(std::string_view tag, const std::vector<int64_t> &dims, dnnl_data_type_t type);

/// Returns the tag from which parseTag() creates an equal descriptor. Returns "strided" for a plain
/// layout with gaps, which its strides determine, and "opaque:BYTES" for a layout without a name.
std::string tagName(const_dnnl_memory_desc_t md);

/// Returns the strides in elements; empty for blocked and opaque layouts.
std::vector<int64_t> plainStrides(const_dnnl_memory_desc_t md);

std::vector<int64_t> dimsOf(const_dnnl_memory_desc_t md);

/// Returns the bytes from the first element to the last, padding included. For a plain layout with
/// gaps, the result is less than oneDNN's size, which includes a gap after the last element.
uint64_t bytesOf(const_dnnl_memory_desc_t md);

/// Returns the size in an "opaque:BYTES" tag.
std::optional<uint64_t> opaqueBytes(std::string_view tag);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_LAYOUT_H

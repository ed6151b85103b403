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

/// Returns the memory descriptor of a layout tag ("acdb", "aBcd16b", "any", "opaque:BYTES"), or
/// null if these dimensions have no such layout. An opaque layout is parsed as `any`, until a
/// primitive selects its layout.
MemoryDesc parseTag(std::string_view tag, const std::vector<int64_t> &dims, dnnl_data_type_t type);

/// Returns the layout tag of a memory descriptor; parseTag() creates an equal descriptor from it.
/// Returns "strided" for a plain layout with gaps, which its strides determine, and "opaque:BYTES"
/// for a layout without a name.
std::string getLayoutTag(const_dnnl_memory_desc_t md);

/// Returns the strides of a plain layout in elements, or an empty list for a blocked or opaque
/// layout.
std::vector<int64_t> getPlainStrides(const_dnnl_memory_desc_t md);

std::vector<int64_t> getDims(const_dnnl_memory_desc_t md);

/// Returns the number of bytes from a tensor's first element to its last, padding included. For a
/// plain layout with gaps, the result is less than oneDNN's size, which includes a gap after the
/// last element.
uint64_t getMemoryBytes(const_dnnl_memory_desc_t md);

/// Returns the number of bytes in an "opaque:BYTES" tag, or nullopt for any other tag.
std::optional<uint64_t> parseOpaqueBytes(std::string_view tag);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_LAYOUT_H

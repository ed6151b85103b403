//===- Handles.h - owning handles of oneDNN's C objects -----------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_HANDLES_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_HANDLES_H

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <type_traits>

namespace dlc::onednn {

template <typename T, dnnl_status_t (*Destroy)(T *)> struct Destroyer {
  void operator()(T *object) const { Destroy(object); }
};
template <typename T, dnnl_status_t (*Destroy)(T *)>
using Handle = std::unique_ptr<T, Destroyer<T, Destroy>>;

using MemoryDesc = Handle<dnnl_memory_desc, dnnl_memory_desc_destroy>;
using PrimitiveDesc = Handle<dnnl_primitive_desc, dnnl_primitive_desc_destroy>;
using Primitive = Handle<dnnl_primitive, dnnl_primitive_destroy>;
using Attributes = Handle<dnnl_primitive_attr, dnnl_primitive_attr_destroy>;
using PostOps = Handle<dnnl_post_ops, dnnl_post_ops_destroy>;
using Memory = Handle<dnnl_memory, dnnl_memory_destroy>;
using Stream = Handle<dnnl_stream, dnnl_stream_destroy>;

/// Returns oneDNN's CPU engine, which is stateless and shared by the process.
dnnl_engine_t getEngine();

/// Throws dlc::Error unless `status` is success. `doing` names the failed operation in the message.
void check(dnnl_status_t status, const char *doing);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_HANDLES_H

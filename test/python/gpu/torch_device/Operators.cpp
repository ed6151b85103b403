//===- Operators.cpp - operators of the emulated PyTorch device -------------------------------===//
//
// Allocation, copies and views. All other operators run on the CPU: PyTorch copies their operands
// to the host and their results back.
//
//===--------------------------------------------------------------------------------------------===//
#include "test/python/gpu/torch_device/Driver.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

namespace dlc_torch_device {

namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

bool isHere(const at::Tensor &tensor) { return tensor.device().type() == kType; }

Address addressOf(const at::Tensor &tensor) { return reinterpret_cast<Address>(tensor.data_ptr()); }

at::Tensor emptyInFormat(c10::IntArrayRef size, std::optional<c10::ScalarType> type,
                         std::optional<c10::Layout>, std::optional<c10::Device> device,
                         std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  const c10::DeviceGuard guard(device.value_or(c10::Device(kType)));
  return at::detail::empty_generic(size, c10::GetAllocator(kType),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(type), format);
}

at::Tensor emptyStrided(c10::IntArrayRef size, c10::IntArrayRef stride,
                        std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                        std::optional<c10::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(device.value_or(c10::Device(kType)));
  return at::detail::empty_strided_generic(size, stride, c10::GetAllocator(kType),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(type));
}

/// Returns whether the elements of both tensors are at the same offsets of contiguous memory.
bool haveSameLayout(const at::Tensor &a, const at::Tensor &b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.is_neg() == b.is_neg() &&
         a.is_conj() == b.is_conj() &&
         ((a.is_contiguous() && b.is_contiguous()) ||
          (a.strides() == b.strides() && a.is_non_overlapping_and_dense()));
}

/// Returns a CPU tensor with sizes and strides of `tensor`, and memory of its own.
at::Tensor hostLike(const at::Tensor &tensor) {
  return at::empty_strided(tensor.sizes(), tensor.strides(),
                           tensor.options().device(c10::DeviceType::CPU));
}

size_t spannedBytes(const at::Tensor &tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(),
                                          tensor.dtype().itemsize());
}

/// Copies the memory that a tensor spans to a CPU tensor with the same strides. Waits for the copy.
at::Tensor readHost(const at::Tensor &tensor) {
  at::Tensor host = hostLike(tensor);
  if (const size_t bytes = spannedBytes(tensor); bytes && tensor.numel()) {
    const int device = tensor.device().index();
    const driver::Current current(device);
    driver::copyToHost(host.data_ptr(), addressOf(tensor), bytes, currentStream(device));
    driver::synchronize(currentStream(device));
  }
  if (tensor.is_neg())
    host = host._neg_view();
  return tensor.is_conj() ? host.conj() : host;
}

/// Copies the memory of a CPU tensor to a tensor with the same strides.
void writeHost(const at::Tensor &tensor, const at::Tensor &host, bool waits) {
  const size_t bytes = spannedBytes(tensor);
  if (!bytes || !tensor.numel())
    return;
  const int device = tensor.device().index();
  const driver::Current current(device);
  driver::copyFromHost(addressOf(tensor), host.data_ptr(), bytes, currentStream(device));
  if (waits)
    driver::synchronize(currentStream(device));
}

void copyToDevice(const at::Tensor &from, const at::Tensor &to, bool nonBlocking) {
  if (haveSameLayout(from, to)) {
    writeHost(to, from, !(nonBlocking && from.is_pinned()));
    return;
  }
  // Elements between those of a view must remain, so the memory is read and written back.
  at::Tensor host = to.is_non_overlapping_and_dense() ? hostLike(to) : readHost(to);
  host.copy_(from);
  writeHost(to, host, true);
}

/// Implements `to.copy_(from)` if at least one of the tensors is on the device.
at::Tensor copyFrom(const at::Tensor &given, const at::Tensor &to, bool nonBlocking) {
  const at::Tensor from = given.sizes() == to.sizes() ? given : given.expand(to.sizes());
  if (to.numel() == 0 || from.is_same(to))
    return to;
  if (!isHere(from)) {
    copyToDevice(from, to, nonBlocking);
  } else if (!isHere(to)) {
    const int device = from.device().index();
    if (nonBlocking && haveSameLayout(from, to) && to.is_pinned()) {
      const driver::Current current(device);
      driver::copyToHost(to.data_ptr(), addressOf(from), spannedBytes(from), currentStream(device));
    } else {
      to.copy_(readHost(from));
    }
  } else if (from.device() == to.device() && haveSameLayout(from, to)) {
    const int device = to.device().index();
    const driver::Current current(device);
    driver::copyWithin(addressOf(to), addressOf(from), spannedBytes(from), currentStream(device));
  } else {
    copyToDevice(readHost(from), to, false);
  }
  return to;
}

at::Tensor copyFromAndResize(const at::Tensor &from, const at::Tensor &to) {
  if (to.sizes() != from.sizes())
    to.resize_(from.sizes());
  return copyFrom(from, to, false);
}

at::Scalar readScalar(const at::Tensor &tensor) { return readHost(tensor).item(); }

at::Tensor &setStorage(at::Tensor &tensor, at::Storage storage, int64_t offset,
                       c10::IntArrayRef size, c10::IntArrayRef stride) {
  return at::native::set_storage_cpu_(tensor, std::move(storage), offset, size, stride);
}

at::Tensor &setWholeStorage(at::Tensor &tensor, at::Storage storage) {
  const auto count = int64_t(storage.nbytes() / tensor.dtype().itemsize());
  return at::native::set_storage_cpu_(tensor, std::move(storage), 0, {count}, {});
}

at::Tensor &setTensor(at::Tensor &tensor, const at::Tensor &source) {
  return at::native::set_tensor_(tensor, source);
}

const at::Tensor &resize(const at::Tensor &tensor, c10::SymIntArrayRef size,
                         std::optional<c10::MemoryFormat> format) {
  return at::native::resize_(tensor, C10_AS_INTARRAYREF_SLOW(size), format);
}

at::Tensor convolution(const at::Tensor &input, const at::Tensor &weight,
                       const std::optional<at::Tensor> &bias, c10::SymIntArrayRef stride,
                       c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation, bool transposed,
                       c10::SymIntArrayRef outputPadding, c10::SymInt groups) {
  std::optional<at::Tensor> shift;
  if (bias && bias->defined())
    shift = bias->cpu();
  return at::convolution_symint(input.cpu(), weight.cpu(), shift, stride, padding, dilation,
                                transposed, outputPadding, std::move(groups))
      .to(input.device());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
convolutionBackward(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &weight,
                    c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                    c10::SymIntArrayRef dilation, bool transposed,
                    c10::SymIntArrayRef outputPadding, c10::SymInt groups,
                    std::array<bool, 3> mask) {
  const std::vector<c10::SymInt> bias = {weight.sym_size(transposed ? 1 : 0) *
                                         (transposed ? groups : c10::SymInt(1))};
  auto [dx, dw, db] = at::convolution_backward_symint(
      gradient.cpu(), input.cpu(), weight.cpu(), c10::SymIntArrayRef(bias), stride, padding,
      dilation, transposed, outputPadding, std::move(groups), mask);
  auto back = [&](const at::Tensor &each) {
    return each.defined() ? each.to(input.device()) : each;
  };
  return {back(dx), back(dw), back(db)};
}

/// Runs batch norm on the CPU, and copies the updated running statistics back. The CPU fallback
/// would discard them, because the operator's schema does not mark them as modified.
std::tuple<at::Tensor, at::Tensor, at::Tensor>
batchNorm(const at::Tensor &x, const std::optional<at::Tensor> &weight,
          const std::optional<at::Tensor> &bias, const std::optional<at::Tensor> &mean,
          const std::optional<at::Tensor> &variance, bool trains, double momentum, double eps) {
  auto toHost = [](const std::optional<at::Tensor> &each) {
    return each && each->defined() ? std::optional(each->cpu()) : std::nullopt;
  };
  const auto hostMean = toHost(mean), hostVariance = toHost(variance);
  auto [y, saved, inverse] = at::native_batch_norm(x.cpu(), toHost(weight), toHost(bias), hostMean,
                                                   hostVariance, trains, momentum, eps);
  if (trains && hostMean)
    mean->copy_(*hostMean), variance->copy_(*hostVariance);
  return {y.to(x.device()), saved.to(x.device()), inverse.to(x.device())};
}

void runOnCpu(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&runOnCpu>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", emptyInFormat);
  m.impl("empty_strided", emptyStrided);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("view", at::native::view);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("resize_", resize);
  m.impl("set_.source_Storage", setWholeStorage);
  m.impl("set_.source_Storage_storage_offset", setStorage);
  m.impl("set_.source_Tensor", setTensor);
  m.impl("_copy_from", copyFrom);
  m.impl("_copy_from_and_resize", copyFromAndResize);
  m.impl("_local_scalar_dense", readScalar);
  m.impl("native_batch_norm", batchNorm);
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolutionBackward);
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

/// Types of operators under autocast, as for CUDA. The lists name types of the namespace at.
using namespace at;

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define DLC_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
  AT_FORALL_LOWER_PRECISION_FP(DLC_LOWER)
#define DLC_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
  AT_FORALL_FP32(DLC_FP32)
#define DLC_OPTIONAL(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
  AT_FORALL_FP32_SET_OPT_DTYPE(DLC_OPTIONAL)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
#define DLC_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_PROMOTE(DLC_PROMOTE)
}

} // namespace

} // namespace dlc_torch_device

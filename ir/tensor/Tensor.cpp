//===- Tensor.cpp - dense tensor in host memory ---------------------------===//
#include "ir/tensor/Tensor.h"

#include "ir/tensor/BlobOwners.h"
#include "ir/tensor/FilePages.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

namespace dlc::ref {

/// Maximum size of a dense attribute: 16 KiB. Larger results become resource blobs, because
/// attributes are copied and hashed, and blobs are not.
static constexpr int64_t largestDenseBytes = 16 * 1024;
/// Alignment of new tensors in bytes: one AVX-512 vector, because kernels read constants in whole
/// vectors.
static constexpr size_t alignment = 64;

std::optional<Element> findElement(mlir::Type type) {
  if (type.isF16())
    return Element::F16;
  if (type.isBF16())
    return Element::BF16;
  if (type.isF32())
    return Element::F32;
  if (type.isF64())
    return Element::F64;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return std::nullopt;
  const bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(Element::Bool);
  case 4:
    return isUnsigned ? Element::U4 : Element::I4;
  case 8:
    return isUnsigned ? Element::U8 : Element::I8;
  case 16:
    return isUnsigned ? Element::U16 : Element::I16;
  case 32:
    return isUnsigned ? Element::U32 : Element::I32;
  case 64:
    return isUnsigned ? Element::U64 : Element::I64;
  default:
    return std::nullopt;
  }
}

Element toElement(mlir::Type type) {
  if (std::optional<Element> element = findElement(type))
    return *element;
  llvm::report_fatal_error(
      "a tensor of the reference evaluator has an element type that dlc lacks");
}

static int64_t elementBytes(Element element) {
  return dispatchStorageType(element, [](auto zero) { return int64_t(sizeof(zero)); });
}

int64_t elementBytes(mlir::Type element) { return elementBytes(toElement(element)); }

void failOnPacked() {
  llvm::report_fatal_error("4-bit integers have no bytes of their own: use storageBytes()");
}

bool isPackedElement(mlir::Type element) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  return integer && integer.getWidth() == 4;
}

/// Returns the number of elements in a row (the last dimension).
static int64_t rowSize(mlir::RankedTensorType type) {
  return type.getRank() ? type.getShape().back() : 1;
}

int64_t storageBytes(mlir::RankedTensorType type) {
  const int64_t count = type.getNumElements();
  if (!isPackedElement(type.getElementType()))
    return count * elementBytes(type.getElementType());
  return count == 0 ? 0 : count / rowSize(type) * packedRowBytes(rowSize(type));
}

mlir::RankedTensorType getPackedBytesType(mlir::RankedTensorType packed) {
  llvm::SmallVector<int64_t> shape(packed.getShape());
  if (!shape.empty())
    shape.back() = packedRowBytes(shape.back());
  auto byte = mlir::IntegerType::get(packed.getContext(), 8, mlir::IntegerType::Unsigned);
  return mlir::RankedTensorType::get(shape, byte, packed.getEncoding());
}

std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

Tensor::Tensor(mlir::RankedTensorType type, const char *data, std::shared_ptr<const void> keep)
    : type(type), element(toElement(type.getElementType())), count(type.getNumElements()),
      bytesPtr(data), keep(std::move(keep)) {}

/// Lazily made aligned copy of a tensor's elements, created by the first thread that accesses them.
struct Tensor::AlignedCopy {
  std::once_flag once;
  std::atomic<const char *> made = nullptr;
  Tensor copy;
};

const char *Tensor::aligned() const {
  if (const char *made = unaligned->made.load(std::memory_order_acquire))
    return made;
  std::call_once(unaligned->once, [&] {
    unaligned->copy = uninitialised(type);
    // Copies 4 MiB at a time and releases the source pages after each copy, so that source and copy
    // are never both resident.
    constexpr size_t step = size_t(4) << 20;
    for (size_t at = 0, all = size_t(bytes()); at < all; at += step) {
      size_t some = std::min(step, all - at);
      std::memcpy(unaligned->copy.mutableData() + at, bytesPtr + at, some);
      dropFilePages(bytesPtr + at, some);
    }
    unaligned->made.store(unaligned->copy.data(), std::memory_order_release);
  });
  return unaligned->made.load(std::memory_order_acquire);
}

/// Allocates memory; returns null if memory is exhausted. Large tensors are mapped separately, so
/// that their pages return to the system when they are freed. In the heap, half of the copies of a
/// model's weights stayed allocated.
static std::shared_ptr<void> allocate(size_t bytes) {
  constexpr size_t large = size_t(1) << 20;
  if (bytes < large)
    return {std::aligned_alloc(alignment, bytes), std::free};
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return nullptr;
  return {pages, [bytes](void *mapped) { munmap(mapped, bytes); }};
}

Tensor Tensor::uninitialised(mlir::RankedTensorType type) {
  const size_t bytes = size_t(storageBytes(type));
  const size_t whole = bytes / alignment * alignment, rounded = whole + alignment;
  std::shared_ptr<void> memory = allocate(rounded);
  if (!memory)
    llvm::report_fatal_error(
        "not enough memory for the slow reference evaluator; evaluate smaller tensors");
  // Zeroes the padding after the elements, which vector loads of the last elements read.
  std::memset(static_cast<char *>(memory.get()) + whole, 0, alignment);
  // The bytes of packed tensors are zeroed: two elements share a byte and are written one at a
  // time.
  if (isPackedElement(type.getElementType()))
    std::memset(memory.get(), 0, whole);
  const char *data = static_cast<const char *>(memory.get());
  return Tensor(type, data, std::move(memory));
}

Tensor Tensor::empty(mlir::RankedTensorType type) {
  Tensor result = uninitialised(type);
  std::memset(result.mutableData(), 0, result.bytes());
  return result;
}

Tensor Tensor::borrow(mlir::RankedTensorType type, const void *data,
                      std::shared_ptr<const void> owner) {
  assert((type.getNumElements() == 0 || owner.use_count() > 0) &&
         "a tensor of borrowed memory needs an owner of the memory");
  return Tensor(type, static_cast<const char *>(data), std::move(owner));
}

std::shared_ptr<const void> Tensor::owner() const {
  if (!unaligned)
    return keep;
  aligned();
  return unaligned->copy.keep;
}

int64_t Tensor::bytes() const { return storageBytes(type); }

int64_t Tensor::getPacked(int64_t index) const {
  const int64_t row = rowSize(type), column = index % row;
  const auto byte = uint8_t(data()[index / row * packedRowBytes(row) + column / 2]);
  const int64_t bits = (byte >> (column % 2 * 4)) & 15;
  return element == Element::I4 ? (bits ^ 8) - 8 : bits;
}

void Tensor::setPacked(int64_t index, int64_t value) {
  const int64_t row = rowSize(type), column = index % row, shift = column % 2 * 4;
  char &byte = mutableData()[index / row * packedRowBytes(row) + column / 2];
  byte = char((uint8_t(byte) & ~(15 << shift)) | (value & 15) << shift);
}

double Tensor::getDouble(int64_t index) const {
  if (isPacked(element))
    return double(getPacked(index));
  return dispatchStorageType(element, [&](auto zero) {
    return convert<double>(reinterpret_cast<const decltype(zero) *>(data())[index]);
  });
}

int64_t Tensor::getInt(int64_t index) const {
  if (isPacked(element))
    return getPacked(index);
  return dispatchStorageType(element, [&](auto zero) {
    return convert<int64_t>(reinterpret_cast<const decltype(zero) *>(data())[index]);
  });
}

void Tensor::setDouble(int64_t index, double value) {
  if (isPacked(element)) {
    const double low = element == Element::I4 ? -8 : 0;
    return setPacked(index, std::isnan(value) ? 0 : int64_t(std::clamp(value, low, low + 15)));
  }
  dispatchStorageType(element, [&](auto zero) {
    using T = decltype(zero);
    reinterpret_cast<T *>(mutableData())[index] = convert<T>(value);
  });
}

void Tensor::setInt(int64_t index, int64_t value) {
  if (isPacked(element))
    return setPacked(index, value);
  dispatchStorageType(element, [&](auto zero) {
    using T = decltype(zero);
    reinterpret_cast<T *>(mutableData())[index] = convert<T>(value);
  });
}

Tensor Tensor::withType(mlir::RankedTensorType other) const {
  assert(other.getNumElements() == count && toElement(other.getElementType()) == element &&
         (!isPacked(element) || rowSize(other) == rowSize(type)));
  Tensor result = *this;
  result.type = other;
  return result;
}

mlir::FailureOr<Tensor> Tensor::fromBlob(mlir::RankedTensorType type,
                                         const mlir::AsmResourceBlob *blob) {
  if (!blob || int64_t(blob->getData().size()) != storageBytes(type))
    return mlir::failure();
  const int64_t width =
      isPackedElement(type.getElementType()) ? 1 : elementBytes(type.getElementType());
  llvm::ArrayRef<char> bytes = blob->getData();
  const BlobOwners *owners = BlobOwners::of(type.getContext());
  std::shared_ptr<const void> owner = owners ? owners->find(bytes) : nullptr;
  if (!owner) {
    Tensor copy = uninitialised(type);
    std::copy(bytes.begin(), bytes.end(), copy.mutableData());
    return copy;
  }
  Tensor view = borrow(type, bytes.data(), std::move(owner));
  // Files store weights at any address, but elements are read at their natural alignment, so
  // misaligned elements are copied.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % width != 0)
    view.unaligned = std::make_shared<AlignedCopy>();
  return view;
}

mlir::FailureOr<Tensor> Tensor::fromAttr(mlir::ElementsAttr attr) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(attr.getShapedType());
  if (!type || !type.hasStaticShape() || !findElement(type.getElementType()))
    return mlir::failure();

  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(attr))
    return fromBlob(type, resource.getRawHandle().getBlob());

  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(attr);
  if (!dense)
    return mlir::failure();
  Tensor result = uninitialised(type);
  if (result.size() == 0)
    return result;
  if (result.element == Element::Bool) {
    // Dense attributes store bools as packed bits.
    if (dense.isSplat())
      std::memset(result.mutableData(), dense.getSplatValue<bool>(), result.size());
    else
      std::copy(dense.value_begin<bool>(), dense.value_end<bool>(), result.mutableData());
    return result;
  }
  llvm::ArrayRef<char> raw = dense.getRawData();
  if (isPacked(result.element)) {
    // Dense attributes store each 4-bit integer in a whole byte.
    for (int64_t i = 0; i < result.size(); ++i)
      result.setPacked(i, raw[dense.isSplat() ? 0 : i]);
    return result;
  }
  const int64_t width = elementBytes(result.element);
  if (dense.isSplat()) {
    if (int64_t(raw.size()) != width)
      return mlir::failure();
    for (int64_t i = 0; i < result.size(); ++i)
      std::memcpy(result.mutableData() + i * width, raw.data(), width);
    return result;
  }
  if (int64_t(raw.size()) != result.bytes())
    return mlir::failure();
  std::memcpy(result.mutableData(), raw.data(), raw.size());
  return result;
}

/// Returns whether all elements, of `width` bytes each, have the same bits.
static bool isSplat(llvm::ArrayRef<char> data, int64_t width) {
  return int64_t(data.size()) >= width &&
         std::memcmp(data.data(), data.data() + width, data.size() - width) == 0;
}

mlir::DenseResourceElementsAttr Tensor::toResource(llvm::StringRef name) const {
  llvm::ArrayRef<char> raw(data(), bytes());
  // The blob declares the actual alignment of its memory: readers rely on it, and borrowed memory
  // may be less aligned than memory allocated here.
  const auto address = reinterpret_cast<uintptr_t>(raw.data());
  const size_t lowestBit = address & -address;
  const size_t known = address ? std::min(alignment, lowestBit) : alignment;
  return mlir::DenseResourceElementsAttr::get(type, name,
                                              makeBlob(type.getContext(), raw, known, owner()));
}

mlir::ElementsAttr Tensor::toAttr() const {
  if (isPacked(element) && count > 0) {
    if (bytes() > largestDenseBytes)
      return toResource("folded");
    llvm::SmallVector<llvm::APInt> values;
    for (int64_t i = 0; i < count; ++i)
      values.emplace_back(4, uint64_t(getPacked(i) & 15));
    return mlir::DenseElementsAttr::get(type, values);
  }
  const int64_t width = isPacked(element) ? 1 : elementBytes(element);
  llvm::ArrayRef<char> raw(data(), bytes());
  if (count == 0)
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<mlir::Attribute>());
  if (isSplat(raw, width))
    raw = raw.take_front(width);
  if (int64_t(raw.size()) > largestDenseBytes)
    return toResource("folded");
  if (element == Element::Bool) {
    // Normalizes bools: a byte of a blob may hold any non-zero value for true, but a dense bool
    // attribute must not.
    llvm::SmallVector<bool> values;
    for (char byte : raw)
      values.push_back(byte != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  return mlir::DenseElementsAttr::getFromRawBuffer(type, raw);
}

} // namespace dlc::ref

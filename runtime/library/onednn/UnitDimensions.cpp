//===- UnitDimensions.cpp - order of the spatial dimensions of convolutions ---===//
#include "runtime/library/onednn/UnitDimensions.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace dlc::onednn {

using nlohmann::json;

namespace {

/// Returns whether a list has at least `count` entries and the last one is the number `value`.
bool endsWith(const json &list, size_t count, int64_t value) {
  return list.is_array() && list.size() >= count && list.back().is_number_integer() &&
         list.back() == value;
}

/// Returns whether a tag describes the same memory after a dimension of one element is moved among
/// the last `count` of `rank` dimensions: if there is only one other such dimension, if the library
/// chooses the order (also in an opaque layout), or if the tag lists these dimensions in ascending
/// order.
bool keepsMemoryIfMoved(const std::string &tag, size_t rank, size_t count) {
  if (count <= 2 || tag == "any" || tag.rfind("opaque:", 0) == 0)
    return true;
  size_t before = 0;
  for (size_t d = rank - count; d < rank; ++d) {
    const char letter = static_cast<char>('a' + d);
    const size_t at = std::min(tag.find(letter), tag.find(static_cast<char>(std::toupper(letter))));
    if (at == std::string::npos || at < before)
      return false;
    before = at;
  }
  return true;
}

/// Returns whether the last spatial dimension of an argument has one element, and whether its
/// layout permits moving this dimension.
bool endsInUnit(const json &argument, size_t spatial) {
  if (!argument.is_object() || !argument.contains("dims") || argument.contains("strides") ||
      !endsWith(argument["dims"], spatial + 2, 1))
    return false;
  for (const char *name : {"tag", "outside"})
    if (auto tag = argument.find(name); tag != argument.end())
      if (!tag->is_string() ||
          !keepsMemoryIfMoved(tag->get<std::string>(), argument["dims"].size(), spatial))
        return false;
  return true;
}

void rotate(json &list, size_t count) {
  std::rotate(list.end() - std::ptrdiff_t(count), list.end() - 1, list.end());
}

constexpr const char *kArguments[] = {"src",      "weights",  "dst",
                                      "diff_src", "diff_dst", "diff_weights"};
constexpr const char *kWindow[] = {"strides", "dilations", "pads_l", "pads_r"};

/// Returns whether the last spatial dimension can be moved in front of the other ones.
bool canMoveLast(const json &desc, size_t spatial) {
  bool isMovable = true;
  for (const char *name : kArguments)
    if (auto argument = desc.find(name); argument != desc.end())
      isMovable &= endsInUnit(*argument, spatial);
  for (const char *name : kWindow)
    if (auto list = desc.find(name); list != desc.end())
      isMovable &= list->is_array() && list->size() == spatial;
  for (const char *name : {"pads_l", "pads_r"})
    isMovable &= !desc.contains(name) || endsWith(desc[name], spatial, 0);
  if (auto ops = desc.find("post_ops"); isMovable && ops != desc.end() && ops->is_array())
    for (const json &op : *ops)
      isMovable &= !op.is_object() || !op.contains("dims") || endsInUnit(op, spatial);
  return isMovable;
}

} // namespace

json moveUnitDimensions(const json &desc) {
  auto kind = desc.find("kind");
  if (kind == desc.end() || !kind->is_string())
    return desc;
  const std::string name = kind->get<std::string>();
  if (name.find("convolution") == std::string::npos)
    return desc;
  auto image = desc.find(desc.contains("src") ? "src" : "diff_src");
  if (image == desc.end() || !image->is_object() || !image->contains("dims") ||
      !(*image)["dims"].is_array() || (*image)["dims"].size() < 4)
    return desc;
  const size_t spatial = (*image)["dims"].size() - 2;
  json moved = desc;
  for (size_t count = 1; count < spatial && canMoveLast(moved, spatial); ++count) {
    for (const char *argument : kArguments)
      if (moved.contains(argument))
        rotate(moved[argument]["dims"], spatial);
    for (const char *list : kWindow)
      if (moved.contains(list))
        rotate(moved[list], spatial);
    if (moved.contains("post_ops"))
      for (json &op : moved["post_ops"])
        if (op.is_object() && op.contains("dims"))
          rotate(op["dims"], spatial);
  }
  return moved;
}

} // namespace dlc::onednn

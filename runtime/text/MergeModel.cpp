//===- MergeModel.cpp - byte pair encoding with an ordered list of merges -----===//
#include "runtime/text/Model.h"

#include <deque>

namespace dlc::text {
namespace {

/// Hash table from pairs of pieces to merges, with open addressing.
class PairTable {
public:
  explicit PairTable(size_t size) {
    size_t capacity = 16;
    while (capacity < size * 2)
      capacity *= 2;
    entries.resize(capacity);
  }
  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  /// Does nothing if the pair has a merge already.
  void insert(int32_t left, int32_t right, Merge merge) {
    Entry &entry = entries[slot(key(left, right))];
    if (entry.key == free)
      entry = {key(left, right), merge};
  }
  Merge find(int32_t left, int32_t right) const {
    return left < 0 || right < 0 ? Merge() : entries[slot(key(left, right))].merge;
  }

private:
  static constexpr uint64_t free = UINT64_MAX;
  struct Entry {
    uint64_t key = free;
    Merge merge;
  };
  size_t slot(uint64_t key) const {
    size_t mask = entries.size() - 1;
    size_t i = (key * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (entries[i].key != key && entries[i].key != free)
      i = (i + 1) & mask;
    return i;
  }
  std::vector<Entry> entries;
};

class MergeModel : public Model {
public:
  MergeModel(const TokenizerData &data, const TokenIndex &index)
      : data(data), index(index), fallback(data, index), merges(data.merges.size()) {
    for (uint32_t rank = 0; rank < data.merges.size(); ++rank) {
      const auto &[left, right] = data.merges[rank];
      joined.push_back(left + right);
      int32_t first = piece(left), second = piece(right), result = piece(joined.back());
      if (!isControl(result))
        merges.insert(first, second, {rank, result});
    }
  }

  void encode(std::string_view word, std::vector<TokenId> &tokens) const override {
    TokenId whole = data.ignoreMerges ? findOrdinary(data, index, word) : -1;
    if (whole >= 0) {
      tokens.push_back(whole);
      return;
    }
    Symbols symbols(word);
    for (auto &symbol : symbols.list)
      symbol.id = find(word.substr(symbol.begin, symbol.size));
    mergeSymbols(symbols, [&](const auto &left, const auto &right) {
      return merges.find(left.id, right.id);
    });
    bool unknown = false;
    for (const auto &symbol : symbols.list) {
      if (symbol.size == 0)
        continue;
      bool known = symbol.id >= 0 && static_cast<size_t>(symbol.id) < data.tokens.size() &&
                   !isControl(symbol.id);
      if (known)
        tokens.push_back(symbol.id);
      unknown = !known && fallback.append(word.substr(symbol.begin, symbol.size), unknown, tokens);
    }
  }

private:
  bool isControl(int32_t id) const {
    auto i = static_cast<size_t>(id);
    return i < data.tokens.size() && !isOrdinary(data.tokens[i]);
  }
  /// Returns the id of a piece, or -1.
  int32_t find(std::string_view text) const {
    if (auto found = index.find(text); found != index.end())
      return found->second;
    auto found = extra.find(text);
    return found == extra.end() ? -1 : found->second;
  }
  /// Returns the id of a piece. Pieces that are not tokens have ids above those of the tokens.
  int32_t piece(std::string_view text) {
    int32_t id = find(text);
    if (id < 0) {
      id = static_cast<int32_t>(data.tokens.size() + extra.size());
      extra.emplace(text, id);
    }
    return id;
  }

  const TokenizerData &data;
  const TokenIndex &index;
  Fallback fallback;
  PairTable merges;
  /// Results of the merges, to which the keys of `extra` refer.
  std::deque<std::string> joined;
  /// Ids of the pieces that are not tokens.
  std::unordered_map<std::string_view, int32_t> extra;
};

} // namespace

std::unique_ptr<Model> makeMergeModel(const TokenizerData &data, const TokenIndex &index) {
  return std::make_unique<MergeModel>(data, index);
}

} // namespace dlc::text

//===- Mutate.h - random mutations of files --------------------------------------===//
#ifndef DLC_TEST_FUZZ_MUTATE_H
#define DLC_TEST_FUZZ_MUTATE_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dlc::fuzz {

using Engine = std::mt19937_64;

/// Applies one or a few mutations at random positions. Some of them insert pieces of `others`.
std::string mutateBytes(std::string bytes, const std::vector<std::string> &others, Engine &engine);
/// Mutates text: drops, duplicates and exchanges words, numbers and punctuation.
std::string mutateText(std::string text, const std::vector<std::string> &others, Engine &engine);

inline size_t below(Engine &engine, size_t n) { return n ? engine() % n : 0; }

} // namespace dlc::fuzz

#endif // DLC_TEST_FUZZ_MUTATE_H

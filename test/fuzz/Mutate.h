//===- Mutate.h - small damages to files -----------------------------------------===//
#ifndef DLC_TEST_FUZZ_MUTATE_H
#define DLC_TEST_FUZZ_MUTATE_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dlc::fuzz {

using Engine = std::mt19937_64;

/// One to a few damages at random places; `others` are spliced in now and then.
std::string mutateBytes(std::string bytes, const std::vector<std::string> &others, Engine &engine);
/// The same for text: words, numbers and punctuation are dropped, doubled, exchanged.
std::string mutateText(std::string text, const std::vector<std::string> &others, Engine &engine);

inline size_t below(Engine &engine, size_t n) { return n ? engine() % n : 0; }

} // namespace dlc::fuzz

#endif // DLC_TEST_FUZZ_MUTATE_H

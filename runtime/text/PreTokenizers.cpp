//===- PreTokenizers.cpp - table of the pre-tokenizers that GGUF files name ---===//
#include "runtime/text/PreTokenizers.h"

namespace dlc::text {

// Parts of the regular expressions.
#define CONTRACTIONS "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define LETTERS R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define SYMBOLS R"( ?[^\s\p{L}\p{N}]+[\r\n]*)"
#define SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CASED(END)                                                                                 \
  R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" END "|"                                              \
  R"([^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" END
#define CASED_END(DIGITS) "|" DIGITS R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES
#define DEEPSEEK                                                                                   \
  R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"       \
  R"( ?[\p{P}\p{S}]+[\r\n]*|)" SPACES
// Letters of scripts with upper and lower case, as the tokenizer of DeepSeek LLM lists them.
#define CASED_SCRIPTS                                                                              \
  R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"      \
  R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A})"    \
  R"(\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556})"          \
  R"(\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF})"       \
  R"(\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D})"       \
  R"(\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D})"                 \
  R"(\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"                \
  R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4})"       \
  R"(\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"         \
  R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F})"                 \
  R"(\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"                 \
  R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F})"        \
  R"(\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17})"       \
  R"(\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"                    \
  R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF})"                \
  R"(\x{1E900}-\x{1E943}]+)"

std::span<const PreTokenizer> preTokenizers() {
  static const std::vector<PreTokenizer> table = {
      {{"default"}, {R"([\p{P}\$\+<=>\^~\|]+)", GPT2, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "lfm2"},
       {CONTRACTIONS "|" LETTERS R"(|\p{N}{1,3}|)" SYMBOLS "|" SPACES},
       true,
       true},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"},
       {CONTRACTIONS "|" LETTERS R"(|\p{N}{1,3}|)" SYMBOLS "|" SPACES}},
      {{"glm4", "glm5"}, {CONTRACTIONS "|" LETTERS R"(|\p{N}{1,3}|)" SYMBOLS "|" SPACES}, true},
      {{"minicpm5"},
       {R"(\p{N}{1,3})", CONTRACTIONS "|" LETTERS R"(|\p{N}+|)" SYMBOLS "|" SPACES},
       true},
      {{"qwen2", "deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"},
       {CONTRACTIONS "|" LETTERS R"(|\p{N}|)" SYMBOLS "|" SPACES}},
      {{"qwen35"},
       {CONTRACTIONS
        R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" SPACES}},
      {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "mellum", "modern-bert", "exaone4", "trillion",
        "granite-docling"},
       {GPT2}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
        "mellum2"},
       {R"(\p{N})", GPT2}},
      {{"falcon"}, {R"([\p{P}\$\+<=>\^~\|`]+)", GPT2, "[0-9][0-9][0-9]"}},
      {{"deepseek-llm"},
       {"[\r\n]", CASED_SCRIPTS,
        R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
        "\\s+$", R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N}+)"}},
      {{"deepseek-coder"},
       {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
        R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N})"}},
      {{"deepseek-v3", "hunyuan-dense"},
       {R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)", DEEPSEEK}},
      {{"tekken"}, {CASED("") CASED_END(R"(\p{N})")}, true, true},
      {{"gpt-4o", "llama4", "kanana2"}, {CASED(CONTRACTIONS "?") CASED_END(R"(\p{N}{1,3})")}},
      {{"tiny_aya"},
       {R"(\d{1,3}(?=(?:\d{3})*\b))", CASED(CONTRACTIONS "?") CASED_END(R"(\p{N}{1,3})")}},
      {{"seed-coder"}, {CONTRACTIONS "|" LETTERS R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" SPACES}},
      {{"poro-chat", "bloom", "gpt3-finnish"},
       {R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)"}},
      {{"viking"},
       {R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)", R"(\p{N})"}},
      {{"gemma4"}, {R"([^\n]+|[\n]+)"}, false, true, true},
  };
  return table;
}

} // namespace dlc::text

//===- Tool.cpp - tokenizes and renders for the Python tests -------------------===//
//
// usage: dlc_text_tool vectors FILE.gguf...      compares with FILE.gguf.inp and FILE.gguf.out
//        dlc_text_tool encode GGUF-OR-JSON       reads a JSON string per line; writes {"ids",
//        "text"} dlc_text_tool render                    reads {"template", "input", "trusted"} per
//        line;
//                                                writes {"pieces"}
//        dlc_text_tool speed FILE.gguf           prints CPU seconds for texts of 1 MB
//
//===---------------------------------------------------------------------------===//
#include "test/runtime/text/GgufFile.h"

#include <nlohmann/json.hpp>

#include <ctime>
#include <iostream>

using namespace dlc::text;
using Json = nlohmann::json;

namespace {

Tokenizer open(const std::string &path) {
  bool gguf = path.size() > 5 && path.substr(path.size() - 5) == ".gguf";
  return Tokenizer(gguf ? tokenizerFromGguf(readMetadata(path))
                        : tokenizerFromJson(readFile(path)));
}

/// Returns the number of texts whose tokens differ.
int compareVectors(const std::string &path) {
  Tokenizer tokenizer = open(path);
  std::string texts = readFile(path + ".inp");
  std::istringstream expected(readFile(path + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  int count = 0, different = 0;
  for (size_t begin = 0, end; (end = texts.find(separator, begin)) != texts.npos;
       begin = end + separator.size(), ++count) {
    std::string line;
    std::getline(expected, line);
    std::istringstream numbers(line);
    std::vector<TokenId> ids;
    for (TokenId id; numbers >> id;)
      ids.push_back(id);
    if (tokenizer.encode(texts.substr(begin, end - begin), {.addSpecial = false}) != ids) {
      ++different;
      std::cout << path << ": different tokens for: " << texts.substr(begin, end - begin) << "\n";
    }
  }
  std::cout << path.substr(path.rfind('/') + 1) << ": " << count - different << " of " << count
            << "\n";
  return different + (count == 0);
}

Json encode(const Tokenizer &tokenizer, const std::string &line) {
  auto ids = tokenizer.encode(Json::parse(line).get<std::string>(), {.parseSpecial = true});
  return {{"ids", ids}, {"text", tokenizer.decode(ids, true)}};
}

Json render(const std::string &line) {
  Json request = Json::parse(line), pieces = Json::array();
  ChatTemplate chat(request["template"].get<std::string>());
  for (const Piece &piece :
       chat.render(request["input"].get<std::string>(), request["trusted"].get<std::string>()))
    pieces.push_back({piece.text, piece.trusted});
  return {{"pieces", pieces}};
}

void measure(const std::string &path) {
  std::clock_t begin = std::clock();
  Metadata metadata = readMetadata(path);
  std::cout << path.substr(path.rfind('/') + 1) << ": file "
            << static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  begin = std::clock();
  Tokenizer tokenizer(tokenizerFromGguf(metadata));
  std::cout << ", load " << static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  for (std::string part : {"a", " ", "\n", "\u4e2d", "Hello, world 123! "}) {
    std::string text;
    while (text.size() < 1'000'000)
      text += part;
    begin = std::clock();
    tokenizer.encode(text, {.addSpecial = false});
    std::cout << ", " << Json(part) << " "
              << static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::cout << " s\n";
}

/// Writes an answer for each line of the input; errors are {"error": message}.
template <typename Answer> void answerAll(Answer answer) {
  for (std::string line; std::getline(std::cin, line);) {
    Json result;
    try {
      result = answer(line);
    } catch (const dlc::Error &error) {
      result = {{"error", error.what()}};
    }
    std::cout << result.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
}

} // namespace

int main(int count, char **arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() >= 2 && words[0] == "vectors") {
      int different = 0;
      for (size_t i = 1; i < words.size(); ++i)
        different += compareVectors(words[i]);
      return different != 0;
    }
    if (words.size() == 2 && words[0] == "encode") {
      Tokenizer tokenizer = open(words[1]);
      answerAll([&](const std::string &line) { return encode(tokenizer, line); });
      return 0;
    }
    if (words.size() == 2 && words[0] == "speed")
      return measure(words[1]), 0;
    if (words.size() == 1 && words[0] == "render")
      return answerAll(render), 0;
  } catch (const dlc::Error &error) {
    std::cout << Json({{"error", error.what()}}) << std::endl;
    return 1;
  }
  std::cerr << "usage: dlc_text_tool vectors FILE... | encode FILE | speed FILE | render\n";
  return 2;
}

//===- JsonTokenizer.cpp - tokenizers from tokenizer.json of Hugging Face -----===//
#include "runtime/program/Message.h"
#include "runtime/text/JsonSteps.h"

#include <algorithm>

namespace dlc::text {
namespace {

using namespace json;
constexpr size_t maxBytes = 256 << 20;

Json parsed(std::string_view text, const char *file) {
  if (text.size() > maxBytes)
    runtime::fail(file, " is too large: required: at most ", maxBytes,
                  " bytes; found: ", text.size(), "; check the model folder");
  checkDepth(text, file);
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_object())
    runtime::fail(file, " is not a JSON object; download the file again");
  return value;
}

class Reader {
public:
  Reader(const Json &root, const Json &config) : root(root), config(config) {}

  TokenizerData read() {
    readModel(object(root, "model"));
    readAdded();
    if (const Json *steps = optional(root, "normalizer"))
      readNormalizer(*steps, data);
    if (const Json *steps = optional(root, "pre_tokenizer"))
      readSplits(*steps, data);
    if (const Json *steps = optional(root, "decoder"))
      readDecoder(*steps, data);
    if (const Json *steps = optional(root, "post_processor"))
      readAffixes(*steps);
    readConfig();
    return std::move(data);
  }

private:
  void readModel(const Json &model) {
    // Old files have no type for BPE.
    std::string type = model.contains("type") ? string(model, "type") : "BPE";
    using Algorithm = TokenizerData::Algorithm;
    if (type == "Unigram") {
      data.algorithm = Algorithm::Unigram;
      readPieces(model);
      return;
    }
    readVocabulary(object(model, "vocab"));
    if (type == "BPE") {
      readMerges(model);
    } else if (type == "WordPiece") {
      data.algorithm = Algorithm::WordPiece;
      data.continuationPrefix = string(model, "continuing_subword_prefix", "##");
      data.maxWordCharacters = count(model, "max_input_chars_per_word", 100);
    } else {
      refuse("model", type, "BPE, Unigram or WordPiece");
    }
    if (optional(model, "unk_token"))
      data.unknown = find(string(model, "unk_token"));
  }

  void readVocabulary(const Json &vocabulary) {
    data.tokens.resize(vocabulary.size());
    for (const auto &[text, id] : vocabulary.items())
      at(index(id, "vocab")).text = text;
  }

  void readPieces(const Json &model) {
    for (const Json &entry : array(model, "vocab")) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        runtime::fail("tokenizer.json: invalid entry of the vocabulary: required: a text and a "
                      "score; found: ",
                      shown(entry), "; download the file again");
      data.tokens.push_back({entry[0].get<std::string>(), entry[1].get<float>()});
    }
    data.byteFallback = flag(model, "byte_fallback", false);
    data.fuseUnknown = true;
    if (const Json *id = optional(model, "unk_id"))
      data.unknown = static_cast<TokenId>(index(*id, "unk_id"));
  }

  void readMerges(const Json &model) {
    for (const char *key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!string(model, key, "").empty())
        refuse(key, string(model, key), "an empty string");
    if (const Json *dropout = optional(model, "dropout"); dropout && *dropout != 0)
      refuse("dropout", shown(*dropout), "0");
    data.ignoreMerges = flag(model, "ignore_merges", false);
    data.byteFallback = flag(model, "byte_fallback", false);
    data.fuseUnknown = flag(model, "fuse_unk", false);
    for (const Json &merge : array(model, "merges")) {
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        data.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        continue;
      }
      std::string text = merge.is_string() ? merge.get<std::string>() : "";
      size_t space = text.find(' ');
      if (space == text.npos)
        runtime::fail("tokenizer.json: invalid merge: required: two pieces; found: ", shown(merge),
                      "; download the file again");
      data.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
  }

  void readAdded() {
    if (!optional(root, "added_tokens"))
      return;
    for (const Json &entry : array(root, "added_tokens")) {
      if (!entry.is_object() || !entry.contains("id"))
        runtime::fail("tokenizer.json: invalid added token: required: an object with 'id'; found: ",
                      shown(entry), "; download the file again");
      VocabularyToken &token = at(index(entry["id"], "added_tokens"));
      token.text = string(entry, "content");
      token.kind = flag(entry, "special", false) ? TokenKind::Control : TokenKind::UserDefined;
      token.stripLeft = flag(entry, "lstrip", false);
      token.stripRight = flag(entry, "rstrip", false);
      token.singleWord = flag(entry, "single_word", false);
      token.normalized = flag(entry, "normalized", true);
    }
  }

  /// Reads the tokens that the post-processor adds to a single sequence.
  void readAffixes(const Json &step) {
    std::string type = string(step, "type");
    if (type == "Sequence") {
      for (const Json &each : array(step, "processors"))
        readAffixes(each);
    } else if (type == "TemplateProcessing") {
      readTemplate(step);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      addPair(step, "cls", data.prefix);
      addPair(step, "sep", data.suffix);
    } else if (type != "ByteLevel") {
      refuse("post-processor", type,
             "Sequence, TemplateProcessing, BertProcessing, RobertaProcessing or ByteLevel");
    }
  }

  void addPair(const Json &step, const char *key, std::vector<TokenId> &to) {
    const Json &pair = array(step, key);
    if (pair.size() != 2)
      runtime::fail("tokenizer.json: invalid '", key,
                    "': required: a token and its id; found: ", shown(pair),
                    "; download the file again");
    to.push_back(static_cast<TokenId>(index(pair[1], key)));
  }

  void readTemplate(const Json &step) {
    std::vector<TokenId> *to = &data.prefix;
    for (const Json &part : array(step, "single")) {
      if (part.is_object() && part.contains("Sequence")) {
        to = &data.suffix;
        continue;
      }
      std::string name = string(object(part, "SpecialToken"), "id");
      for (const Json &id : array(object(object(step, "special_tokens"), name.c_str()), "ids"))
        to->push_back(static_cast<TokenId>(index(id, "ids")));
    }
  }

  /// Reads tokenizer_config.json.
  void readConfig() {
    auto token = [&](const char *key) -> std::optional<TokenId> {
      const Json *value = optional(config, key);
      if (value && value->is_object())
        value = optional(*value, "content");
      return value && value->is_string() ? find(value->get<std::string>()) : std::nullopt;
    };
    data.bos = token("bos_token");
    data.eos = token("eos_token");
    data.pad = token("pad_token");
    data.separator = token("sep_token");
    data.mask = token("mask_token");
    if (!data.unknown)
      data.unknown = token("unk_token");
    if (data.eos)
      data.endOfGeneration.push_back(*data.eos);
    if (data.prefix.empty() && data.bos && flag(config, "add_bos_token", false))
      data.prefix.push_back(*data.bos);
    if (data.suffix.empty() && data.eos && flag(config, "add_eos_token", false))
      data.suffix.push_back(*data.eos);
    const Json *chat = optional(config, "chat_template");
    if (chat && chat->is_string())
      data.chatTemplate = chat->get<std::string>();
    // A list of templates by name; the one named `default` is used for chats.
    for (const Json &each : chat && chat->is_array() ? *chat : Json::array())
      if (each.is_object() && each.value("name", Json()) == "default")
        data.chatTemplate = string(each, "template");
  }

  /// Returns the token with this text, or std::nullopt.
  std::optional<TokenId> find(std::string_view text) {
    auto found = std::find_if(data.tokens.begin(), data.tokens.end(),
                              [&](const VocabularyToken &token) { return token.text == text; });
    return found == data.tokens.end() ? std::nullopt
                                      : std::optional(TokenId(found - data.tokens.begin()));
  }
  /// Returns the token with this id. Ids that are not used get empty tokens.
  VocabularyToken &at(size_t id) {
    if (id >= data.tokens.size())
      data.tokens.resize(id + 1);
    return data.tokens[id];
  }

  const Json &root, &config;
  TokenizerData data;
};

} // namespace

TokenizerData tokenizerFromJson(std::string_view tokenizer, std::string_view config) {
  Json root = parsed(tokenizer, "tokenizer.json");
  Json settings = config.empty() ? Json::object() : parsed(config, "tokenizer_config.json");
  return Reader(root, settings).read();
}

} // namespace dlc::text

//===- SchemaTest.cpp - random descriptions drawn from the schemas --------===//
//
// DLC_SCHEMA_CASES is the number of descriptions, 4000 by default.
//
//===---------------------------------------------------------------------------===//
#include "Calls.h"

#include "runtime/epilogue/ConvertOps.h"
#include "runtime/epilogue/EpilogueTable.h"
#include "runtime/library/schema/Visit.h"

#include <functional>
#include <map>

using namespace dlc;
using namespace dlc::schema;
using dlc::test::json;

namespace {

/// Visitor that adds a random value of each field to a description: small and in range, or, if
/// `wild` is set, also at the bounds, out of range, of another type, or none.
class Drawer {
public:
  Drawer(std::mt19937_64 &random, bool wild, json &desc) : random(random), wild(wild), desc(desc) {}

  template <typename T> void operator()(const Field<T> &field, const T &) {
    switch (wild ? below(24) : 2) {
    case 0:
      return;
    case 1:
      desc[field.name] = drawWrong();
      return;
    default:
      desc[field.name] = draw(field.rule, T());
    }
  }

  template <typename R> static json drawRecord(std::mt19937_64 &random, bool wild) {
    json drawn = json::object();
    Drawer drawer(random, wild, drawn);
    const R record;
    visitFields(record, drawer);
    return drawn;
  }

private:
  uint64_t below(uint64_t limit) { return random() % limit; }

  json drawWrong() {
    static const json wrong[] = {nullptr,       true,           -1,           1.5,      "word",
                                 json::array(), json::object(), uint64_t(-1), {1, "x"}, 1e300};
    return wrong[below(std::size(wrong))];
  }

  json draw(const Rule &rule, int64_t) {
    const int64_t low = rule.low, high = rule.high;
    switch (wild ? below(24) : 4) {
    case 0:
      return low;
    case 1:
      return high;
    case 2:
      return low > INT64_MIN ? low - 1 : low;
    case 3:
      return high < INT64_MAX ? high + 1 : high;
    default:
      const int64_t first = std::max<int64_t>(low, low < 0 ? -2 : low);
      const auto span = uint64_t(std::min<int64_t>(high - std::max<int64_t>(first, 0), 20)) + 1;
      const auto value = first + int64_t(below(span));
      return std::max(value - value % rule.step, low);
    }
  }
  json draw(const Rule &rule, Size) { return draw(rule, int64_t()); }
  json draw(const Rule &rule, const Integers &) {
    json list = json::array();
    const size_t count = rule.count ? rule.count : below(8) ? rank : below(6);
    for (size_t i = 0; i < count; ++i)
      list.push_back(draw(rule, int64_t()));
    return list;
  }
  json draw(const Rule &rule, const Sizes &) { return draw(rule, Integers()); }
  json draw(const Rule &rule, const PackedOrStrides &) {
    return below(2) ? json("packed") : draw(rule, Integers());
  }
  json draw(const Rule &, bool) { return below(2) == 1; }
  json draw(const Rule &, double) {
    return !wild || below(8) ? json(double(below(5)) / 2 - 1) : json(1e300);
  }
  json draw(const Rule &, const std::string &) {
    static const char *words[] = {"relu", "add",  "mul",    "tanh", "add_channels", "nothing",
                                  "",     "clip", "linear", "abcd", "any"};
    return words[below(std::size(words))];
  }
  json draw(const Rule &, DType) {
    const DType type = below(2) ? DType::F32 : DType(below(kDTypeCount - (wild ? 0 : 2)));
    return std::string(dtypeName(type));
  }
  json draw(const Rule &rule, const std::vector<double> &) {
    return json{draw(rule, 1.0), draw(rule, 1.0)};
  }
  template <typename T> json draw(const Rule &rule, const OrBuffer<T> &) {
    return below(2) ? json("buffer") : draw(rule, T());
  }
  template <typename E>
  requires std::is_enum_v<E> json draw(const Rule &, E) {
    const auto names = namesOf(E());
    const char *name = "";
    while (!*name) // an enumerator without a text form
      name = names[below(names.size())].second;
    return name;
  }
  template <typename R>
  requires std::is_base_of_v<Record, R> json draw(const Rule &, const R &) {
    return drawRecord<R>(random, wild);
  }
  template <typename R> json draw(const Rule &, const std::vector<R> &) {
    json list = json::array();
    for (size_t i = below(4); i-- > 0;)
      list.push_back(drawRecord<R>(random, wild));
    return list;
  }
  template <typename T> json draw(const Rule &rule, const Maybe<T> &) {
    return below(2) ? json() : draw(rule, T());
  }

  std::mt19937_64 &random;
  bool wild;
  json &desc;
  size_t rank = below(4) ? 4 : below(5);
};

/// Reads the description and checks that its text form is read as an equal record.
template <typename R> void readTwice(const json &desc) {
  const R record = R::read(desc, "test");
  const R again = R::read(record.toJson(), "test");
  EXPECT_TRUE(record == again) << desc;
  EXPECT_EQ(record.toJson(), again.toJson());
}

struct Schema {
  std::string library, kind;
  json (*draw)(std::mt19937_64 &random, bool wild);
  void (*read)(const json &desc);
};

const std::vector<Schema> &schemas() {
  static const std::vector<Schema> all = {
#define ENUM(Name)
#define VALUE(Name, Value, text)
#define END_ENUM(Name)
#define RECORD(Name, Base)
#define FIELD(Type, member, text, initial, rule, documentation)
#define END_RECORD(Name)
#define CALL(library, kind, Record) {library, kind, Drawer::drawRecord<Record>, readTwice<Record>},
#include "runtime/library/schema/All.def"
  };
  return all;
}

/// Returns true if a call of the library is created without a device and without other ranks.
bool isOfHost(const std::string &library) {
  return library != "onednn" && library != "cublaslt" && library != "cudnn" &&
         library != "collective" && library != "own_rows";
}

/// Runs the body. Fails if it throws anything but an error with a message.
bool succeeds(const json &desc, const std::function<void()> &body) {
  try {
    body();
    return true;
  } catch (const Error &error) {
    EXPECT_STRNE(error.what(), "") << desc;
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what() << ": " << desc;
  }
  return false;
}

TEST(Schema, EnumeratorsOfEpilogueOpsHaveTheNamesOfTheLibraries) {
  constexpr Activation activations[] = {
#define ACTIVATION(enumerator, ...) Activation::enumerator,
#define PARAMETRIC_ACTIVATION(enumerator, ...) Activation::enumerator,
#include "runtime/epilogue/EpilogueOps.def"
  };
  for (Activation activation : activations) {
    const ActivationInfo &info = infoOf(activation);
    const auto step = convertOp<ConvolutionStepOp>(activation);
    const auto op = convertOp<PostOpAlgorithm>(activation);
    const auto algorithm = convertOp<OnednnAlgorithm>(activation);
    EXPECT_STREQ(nameOf(step), info.name);
    EXPECT_STREQ(nameOf(op), info.name);
    EXPECT_STREQ(nameOf(algorithm), info.onednn);
    EXPECT_EQ(parse<ConvolutionStepOp>(info.name), step);
    EXPECT_EQ(parse<PostOpAlgorithm>(info.name), op);
    EXPECT_EQ(activationOf(step), activation);
    EXPECT_EQ(activationOf(op), activation);
    EXPECT_EQ(activationOf(algorithm), activation);
  }
  constexpr EpilogueBinary binaries[] = {
#define BINARY(enumerator, ...) EpilogueBinary::enumerator,
#include "runtime/epilogue/EpilogueOps.def"
  };
  for (EpilogueBinary binary : binaries) {
    const auto op = convertOp<PostOpAlgorithm>(binary);
    EXPECT_STREQ(nameOf(op), infoOf(binary).name);
    EXPECT_STREQ(nameOf(convertOp<OnednnAlgorithm>(binary)), infoOf(binary).onednn);
    EXPECT_EQ(activationOf(op), std::nullopt);
  }
  EXPECT_EQ(activationOf(ConvolutionStepOp::AddTensor), std::nullopt);
}

TEST(Schema, AnEnumeratorWithoutANameHasNoTextForm) {
  EXPECT_EQ(parse<OnednnAlgorithm>(""), std::nullopt);
  EXPECT_EQ(parse<OnednnAlgorithm>("softsign"), std::nullopt);
  EXPECT_EQ(parse<PostOpAlgorithm>("softsign"), PostOpAlgorithm::Softsign);
}

TEST(Schema, RandomDescriptionsAreReadOrRefused) {
  const char *cases = std::getenv("DLC_SCHEMA_CASES");
  std::mt19937_64 random(7);
  std::map<std::string, std::pair<int, int>> counts;
  for (int i = 0, count = cases ? std::atoi(cases) : 4000; i < count; ++i) {
    const Schema &schema = schemas()[random() % schemas().size()];
    json desc = json::object();
    const bool wild = random() % 2;
    for (const Schema &part : schemas())
      if (part.library == schema.library && part.kind == schema.kind)
        desc.update(part.draw(random, wild));
    if (!wild || random() % 16)
      desc["kind"] = schema.kind;
    if (random() % 16 == 0)
      desc["unknown"] = 1;
    auto &[read, created] = counts[schema.library + " " + schema.kind];
    read += succeeds(desc, [&] { schema.read(desc); });
    if (!isOfHost(schema.library))
      continue;
    std::vector<runtime::BufferInfo> buffers(random() % 8);
    for (runtime::BufferInfo &buffer : buffers)
      buffer = {random() % 8 ? uint64_t(1) << 20 : random() % 64, random() % 4 != 0};
    created += succeeds(desc, [&] { runtime::createCall(schema.library, desc, buffers, 2); });
  }
  for (const auto &[name, of] : counts)
    std::cout << name << ": " << of.first << " read, " << of.second << " created\n";
}

} // namespace

// The files under config/ say what the code says.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "config/describe/effective.hpp"
#include "config/describe/reference.hpp"
#include "config/describe/schema.hpp"
#include "config/file/document.hpp"
#include "support/places.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

using nlohmann::json;

// The schema at a path of the file: through lists, class names, references and, of what may also be
// a number or a word, the object.
const json& resolve(const json& schema, const json& root) {
  if (schema.contains("anyOf")) return schema["anyOf"].back();
  if (!schema.contains("allOf")) return schema;
  const std::string reference = schema["allOf"][0]["$ref"];
  return root.at(json::json_pointer(reference.substr(1)));
}

// Every key of the value is known to the schema.
void check_keys(const json& value, const json& found_schema, const json& root) {
  const json& schema = resolve(found_schema, root);
  if (value.is_array() && schema.contains("items")) {
    for (const json& item : value) check_keys(item, schema["items"], root);
  }
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    CAPTURE(key);
    if (schema.contains("properties") && schema["properties"].contains(key)) {
      check_keys(inner, schema["properties"][key], root);
    } else {
      REQUIRE(schema["additionalProperties"].is_object());
      check_keys(inner, schema["additionalProperties"], root);
    }
  }
}

}  // namespace

TEST_CASE("the shipped schema is the code's") {
  CHECK_MESSAGE(read_source("config/spillway.schema.json") == schema().dump(2) + "\n",
                "regenerate: build/release/spillway schema > config/spillway.schema.json");
}

TEST_CASE("the reference table in the README is the code's") {
  const std::string readme = read_source("config/README.md");
  const std::string begin = "<!-- reference table: begin -->\n";
  const auto from = readme.find(begin);
  const auto to = readme.find("<!-- reference table: end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string table = reference_table();
  CHECK_MESSAGE(readme.substr(from + begin.size(), to - from - begin.size()) == table,
                "put the output of `spillway schema --reference` between the markers");
}

TEST_CASE("the shipped configuration and every example load") {
  CHECK(load_file(support::in_source("config/spillway.json")).config.has_value());
  std::size_t examples = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(support::in_source("config/examples"))) {
    if (entry.path().extension() != ".json") continue;  // what an example names
    const auto result = load_file(entry.path());
    CHECK_MESSAGE(result.config.has_value(), entry.path().string(), listing(result.problems));
    ++examples;
  }
  CHECK(examples >= 6);
}

TEST_CASE("the shipped configuration says the defaults it says it does") {
  auto shipped = effective(load_good(read_source("config/spillway.json")));
  auto implied = effective(load_good(with("")));
  shipped["routes"] = implied["routes"];
  CHECK(shipped.dump(2) == implied.dump(2));
}

TEST_CASE("every key of the shipped configuration and of a dump is in the schema") {
  const json root = schema();
  check_keys(*parse(read_source("config/spillway.json"), "f").root, root, root);
  for (const char* name : {"shop", "ladder", "cache"}) {
    const auto example =
        load_file(support::in_source("config/examples/") + std::string(name) + ".json");
    REQUIRE_MESSAGE(example.config.has_value(), listing(example.problems));
    check_keys(json(effective(*example.config)), root, root);
  }
}

TEST_CASE("every key of the schema has a sentence and a section refuses unknown keys") {
  const json root = schema();
  CHECK(root["required"] == json::array({"upstreams"}));
  CHECK(root["additionalProperties"] == false);
  for (const auto& [key, property] : root["properties"].items()) {
    CAPTURE(key);
    CHECK(property["description"].get<std::string>().size() > 10);
  }
  CHECK(root["properties"]["listen"]["properties"]["port"]["default"] == 8080);
  CHECK(root["properties"]["dispatch"]["properties"]["discipline"]["enum"] ==
        json::array({"pq", "rr", "wrr", "drr", "wfq", "aging", "edf"}));
}

}  // namespace spillway::config

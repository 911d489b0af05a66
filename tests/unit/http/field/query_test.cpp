#include "http/field/query.hpp"

#include <doctest/doctest.h>

#include <string>

namespace spillway::http {
namespace {

std::string shown(std::string_view query) {
  const auto read = read_query(query);
  if (const auto* const wrong = std::get_if<std::string>(&read)) return "wrong: " + *wrong;
  std::string text;
  for (const Parameter& each : std::get<Parameters>(read))
    text += "[" + each.name + "|" + each.value + "]";
  return text;
}

}  // namespace

TEST_CASE("a query is names and values, percent-encoded") {
  CHECK(shown("") == "");
  CHECK(shown("a=1&b=2") == "[a|1][b|2]");
  CHECK(shown("&&a=1&") == "[a|1]");
  CHECK(shown("a") == "[a|]");
  CHECK(shown("a=b=c") == "[a|b=c]");
  CHECK(shown("a=%41%2b+") == "[a|A++]");
  CHECK(shown("%61=1") == "[a|1]");
  CHECK(shown("=1") == "[|1]");
}

TEST_CASE("a query that is encoded badly, or names something twice, is refused") {
  CHECK(shown("a=%4") == "wrong: the query is not percent-encoded");
  CHECK(shown("a=%4g") == "wrong: the query is not percent-encoded");
  CHECK(shown("%=1") == "wrong: the query is not percent-encoded");
  CHECK(shown("a=1&%61=2") == "wrong: \"a\" is given twice");
}

TEST_CASE("what is encoded is read as it was") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  CHECK(shown("a=" + percent_encoded(all)) == "[a|" + all + "]");
  CHECK(percent_encoded("a b/c?&=~") == "a%20b%2Fc%3F%26%3D~");
}

}  // namespace spillway::http

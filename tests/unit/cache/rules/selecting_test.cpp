#include "cache/rules/selecting.hpp"

#include <doctest/doctest.h>

using namespace spillway::cache;

namespace {

std::string normal(std::string_view name, std::string_view value) {
  std::string text = "key, A " + std::string(value);
  normalise(name, text, 7);
  REQUIRE(text.starts_with("key, A "));
  return text.substr(7);
}

}  // namespace

TEST_CASE("equal wishes have equal values") {
  struct Case {
    std::string_view name, value, normal;
  };
  const Case cases[] = {
      {"Accept-Language", "en", "en"},
      {"accept-language", "EN-us", "en-us"},
      {"Accept-Language", "en , de;q=0.5 ,\tfr ; Q=0.1", "en,de;q=0.5,fr;q=0.1"},
      {"Accept-Language", ", en,, de ,", "en,de"},
      {"Accept-Language", "de, en", "de,en"},  // servers may go by the order
      {"Accept-Language", "", ""},
      {"Accept-Language", " , ", ""},
      {"Accept-Encoding", "gzip, br", "br,gzip"},
      {"Accept-Encoding", "br,GZIP", "br,gzip"},
      {"Accept-Encoding", "identity;q=0, *", "*,identity;q=0"},
      // What is malformed is told apart from what is not.
      {"Accept-Language", "e n", "e n"},
      {"Accept-Language", "en;q =0.5", "en;q =0.5"},
      {"Accept-Encoding", "gz ip, br", "br,gz ip"},
      // Nothing is known of others.
      {"Accept", "A/B , c/d", "A/B , c/d"},
      {"X-Foo", "b, A", "b, A"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    CAPTURE(one.value);
    CHECK(normal(one.name, one.value) == one.normal);
  }
}

TEST_CASE("long lists keep their order and their length") {
  std::string many;
  for (int i = 99; i > 0; --i) many += "c" + std::to_string(i) + ",";
  many.pop_back();
  CHECK(normal("Accept-Encoding", many) == many);
}

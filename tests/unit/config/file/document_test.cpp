#include "config/file/document.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

void check_syntax_error(const std::string& text, std::string_view position,
                        std::string_view fragment) {
  CAPTURE(text);
  const auto document = parse(text, "f.json");
  CAPTURE(listing(document.problems));
  CHECK_FALSE(document.root.has_value());
  REQUIRE(document.problems.size() == 1);
  CHECK(document.problems[0].path == position);
  CHECK(document.problems[0].message.find(fragment) != std::string::npos);
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("a syntax error has a line and a column") {
  check_syntax_error("", "f.json:1:1", "not JSON: the file is empty");
  check_syntax_error(" \n\n", "f.json:3:1", "not JSON: the file is empty");
  check_syntax_error("upstreams:\n  - name: app\n", "f.json:1:1",
                     "not JSON, which begins with '{' (YAML is not read)");
  check_syntax_error("# a comment\n", "f.json:1:1", "(YAML is not read)");
  check_syntax_error("{\n  \"a\": 1,\n  \"b\" 2\n}", "f.json:3:7", "expected ':'");
  check_syntax_error("{\"a\":1} x", "f.json:1:9", "expected end of input");
  check_syntax_error("{\"a\":1,}", "f.json:1:8", "expected string literal");
  check_syntax_error("{\"a\":\"\x01\"}", "f.json:1:7", "control character");
  check_syntax_error("{\"a\":\"\xff\"}", "f.json:1:7", "UTF-8");
  check_syntax_error("/* open", "f.json:1:8", "comment");
}

TEST_CASE("a syntax error does not quote the file which has secrets in it") {
  for (const std::string text : {R"({"token" "s3cret-s3cret"})", R"({"token": "s3cret-s3cret})",
                                 R"({"token":s3cret-s3cret})", R"({"token": "s3cret-s3cret" "x"})",
                                 "{\"token\": \"s3cret-s3cret\x01\"}",
                                 R"({"token": "s3cret'; expected s3cret" x})", "[1e9993]"}) {
    CAPTURE(text);
    const auto document = parse(text, "f.json");
    REQUIRE(document.problems.size() == 1);
    CHECK(document.problems[0].message.find("cret") == std::string::npos);
    CHECK(document.problems[0].message.find("9993") == std::string::npos);
    CHECK_FALSE(document.problems[0].message.empty());
  }
}

TEST_CASE("comments are allowed and a byte order mark is skipped") {
  const auto document = parse("\xef\xbb\xbf// one\n{ /* two */ \"a\": 1 } // three", "f");
  REQUIRE(document.root.has_value());
  CHECK((*document.root)["a"] == 1);
}

TEST_CASE("a NUL byte does not end the file early") {
  using namespace std::string_literals;
  check_syntax_error("{\"a\":1}\0{"s, "f.json:1:8", "NUL");
  check_syntax_error("\0"s, "f.json:1:1", "NUL");
  check_syntax_error("{\n\"a\0\":1}"s, "f.json:2:3", "NUL");
}

TEST_CASE("numbers beyond a double are a syntax error and beyond 64 bits no integer") {
  check_syntax_error("[1e999]", "f.json:1:6", "number out of range");
  CHECK(parse("[18446744073709551616]", "f").root->front().is_number_float());
}

TEST_CASE("nesting is bounded") {
  CHECK(parse(nested(kMaxDepth), "f").root.has_value());
  check_syntax_error(nested(kMaxDepth + 1), "f.json", "nested more than 32 levels");
  check_syntax_error(std::string(1'000'000, '['), "f.json", "nested more than 32 levels");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  check_syntax_error(objects, "f.json", "nested more than 32 levels");
}

TEST_CASE("a file is bounded in size") {
  CHECK(parse(std::string(kMaxFileBytes, ' ') + "1", "f").problems.size() == 1);
  CHECK(parse(std::string(kMaxFileBytes - 1, ' ') + "1", "f").root.has_value());
}

TEST_CASE("every duplicate key is named with its path and the first value stays") {
  const auto document = parse(
      R"({"a":1,"b":[{"x":1},{"x":1,"y":{"z":1,"z":2},"x":{"x":1}}],"a":{"b":2,"b":3}})", "f");
  REQUIRE(document.root.has_value());
  CHECK((*document.root)["a"] == 1);
  CHECK((*document.root)["b"][1]["x"] == 1);
  REQUIRE(document.problems.size() == 4);
  CHECK(document.problems[0].path == "$.b[1].y.z");
  CHECK(document.problems[1].path == "$.b[1].x");
  CHECK(document.problems[2].path == "$.a");
  CHECK(document.problems[3].path == "$.a.b");
}

}  // namespace spillway::config

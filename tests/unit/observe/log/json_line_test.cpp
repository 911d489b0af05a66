#include "observe/log/json_line.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace spillway::observe {
namespace {

// Throws when the line is not JSON in valid UTF-8.
nlohmann::json parsed(const JsonLine& line) {
  return nlohmann::json::parse("{" + std::string(line.members()) + "}");
}

std::string round_trip(std::string_view text) {
  JsonLine line;
  line.text("t", text);
  return parsed(line)["t"];
}

TEST_CASE("a JSON line holds text and numbers and one nested object") {
  JsonLine line;
  line.text("a", "x").open("n").integer("b", 7).number("c", 1.5).close().integer("d", 8);
  CHECK(line.members() == R"("a":"x","n":{"b":7,"c":1.500},"d":8)");
  JsonLine empty;
  empty.open("n").close().integer("d", 8);
  CHECK(empty.members() == R"("n":{},"d":8)");
}

TEST_CASE("quotes and backslashes and control characters survive a JSON line") {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  CHECK(round_trip(all) == all);
  CHECK(round_trip("\"}\n{\"event\":\"forged\"") == "\"}\n{\"event\":\"forged\"");
  JsonLine line;
  line.text("t", "a\nb\x7f");
  CHECK(line.members() == "\"t\":\"a\\u000ab\\u007f\"");
}

TEST_CASE("characters that deceive whoever looks at a line are escaped") {
  const std::pair<const char*, const char*> cases[] = {
      {"a\u0085b", "a\\u0085b"},           // NEL
      {"\u009b31m", "\\u009b31m"},         // CSI: colours in a terminal
      {"\u0080\u009f", "\\u0080\\u009f"},  // the first and last of C1
      {"\u202e", "\\u202e"},               // RLO
      {"\u202a\u202b\u202c\u202d", "\\u202a\\u202b\\u202c\\u202d"},
      {"\u2066\u2067\u2068\u2069", "\\u2066\\u2067\\u2068\\u2069"},
      {"\u200e\u200f\u061c", "\\u200e\\u200f\\u061c"},
      {"\u2028\u2029", "\\u2028\\u2029"},  // line separators
      {"\u200b\u200d\ufeff\u00ad", "\\u200b\\u200d\\ufeff\\u00ad"},
      {"\U000e0041", "\\udb40\\udc41"},  // a tag
      {"\u00a0\u00e4\u20ac\u2027\u202f\U0001F600", "\u00a0\u00e4\u20ac\u2027\u202f\U0001F600"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(expected);
    JsonLine line;
    line.text("t", text);
    CHECK(line.members() == "\"t\":\"" + std::string(expected) + "\"");
    CHECK(round_trip(text) == text);
  }
}

TEST_CASE("valid UTF-8 passes and every other byte becomes a replacement character") {
  const std::string fine = "\u00e9 \u20ac \U0001F600 \ud7ff \ue000";
  CHECK(round_trip(fine) == fine);
  const std::string r = "\ufffd";
  CHECK(round_trip("\xff") == r);
  CHECK(round_trip("\x80x") == r + "x");
  CHECK(round_trip("\xc3") == r);                          // cut short
  CHECK(round_trip("\xc0\xaf") == r + r);                  // overlong
  CHECK(round_trip("\xe0\x80\xaf") == r + r + r);          // overlong
  CHECK(round_trip("\xed\xa0\x80") == r + r + r);          // surrogate
  CHECK(round_trip("\xf4\x90\x80\x80") == r + r + r + r);  // beyond U+10FFFF
  CHECK(round_trip("\xe2\x82\x41") == r + r + "A");
}

TEST_CASE("any two bytes make a valid JSON line") {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char text[] = {static_cast<char>(a), static_cast<char>(b)};
      JsonLine line;
      line.text("t", {text, 2});
      REQUIRE_NOTHROW(parsed(line));
    }
  }
}

TEST_CASE("a member that does not fit is left out whole") {
  for (std::size_t size = JsonLine::kCapacity - 40; size < JsonLine::kCapacity + 10; ++size) {
    JsonLine line;
    line.integer("first", 1)
        .text("long", std::string(size, 'x'))
        .open("nested")
        .integer("inner", 2)
        .close()
        .integer("last", 3);
    nlohmann::json json;
    REQUIRE_NOTHROW(json = parsed(line));
    CHECK(json["first"] == 1);
    CHECK((!json.contains("long") || json["long"] == std::string(size, 'x')));
    CHECK(line.members().size() <= JsonLine::kCapacity);
  }
}

TEST_CASE("numbers that JSON does not know become null") {
  JsonLine line;
  line.number("a", std::numeric_limits<double>::infinity()).number("b", std::nan(""));
  line.number("c", std::numeric_limits<double>::max());
  CHECK(parsed(line)["a"].is_null());
  CHECK(parsed(line)["b"].is_null());
  CHECK(parsed(line)["c"] == std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace spillway::observe

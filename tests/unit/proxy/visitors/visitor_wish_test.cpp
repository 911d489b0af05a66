// What visitors ask for, as they write it: in JSON, and in a link.
#include "proxy/visitors/visitor_wish.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/random.hpp"

namespace spillway::proxy {
namespace {

using waiting::Ask;

std::optional<Ask> in_body(std::string_view body) {
  auto read = read_ask(body);
  return std::holds_alternative<Ask>(read) ? std::optional(std::get<Ask>(read)) : std::nullopt;
}

std::optional<Ask> in_link(std::string_view target) {
  auto read = ask_in_link(target);
  return std::holds_alternative<Ask>(read) ? std::optional(std::get<Ask>(read)) : std::nullopt;
}

const Ask kLarge{.type = "gpu",
                 .sizes = {{"memory_gb", 64}},
                 .duration = Milliseconds(60'000),
                 .max_wait = Milliseconds(1'000)};

}  // namespace

TEST_CASE("a body says a type, sizes and times, each of them or none") {
  CHECK(in_body("{}") == Ask{});
  CHECK(in_body(R"({"sizes":{}})") == Ask{});
  CHECK(in_body(R"({"type":"gpu","sizes":{"memory_gb":64},"duration_ms":60000,
                    "max_wait_ms":1000})") == kLarge);
  CHECK(in_body(R"({"sizes":{"memory_gb":4294967295}})"));
}

TEST_CASE("control: a body that says something else, or something twice, is refused") {
  for (const char* const body :
       {"",
        "null",
        "[]",
        "1",
        "{",
        R"({"tier":"vip"})",
        R"({"user":"a"})",
        R"({"type":""})",
        R"({"type":null})",
        R"({"type":"a b"})",
        R"({"type":"a\u0000b"})",
        R"({"type":"gpu","type":"gpu"})",
        R"({"sizes":[]})",
        R"({"sizes":{"":1}})",
        R"({"sizes":{"a":-1}})",
        R"({"sizes":{"a":1.0}})",
        R"({"sizes":{"a":4294967296}})",
        R"({"sizes":{"a":"1"}})",
        R"({"sizes":{"a":1,"a":1}})",
        R"({"sizes":{"a":{"b":1}}})",
        R"({"sizes":{"a":[[[[1]]]]}})",
        R"({"duration_ms":0})",
        R"({"duration_ms":-1})",
        R"({"duration_ms":1e3})",
        R"({"max_wait_ms":true})",
        R"({"sizes":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}})",
        R"({"sizes":{"<b>":1}})"}) {
    CAPTURE(body);
    CHECK_FALSE(in_body(body));
  }
  CHECK_FALSE(in_body(std::string(1024, '[')));
  std::string nested;
  for (int n = 0; n < 200; ++n) nested += R"({"a":)";
  CHECK_FALSE(in_body(nested));
}

TEST_CASE("a link says the same in one parameter, among others of any kind") {
  const std::string want = "spillway-want=gpu;memory_gb=64;duration_ms=60000;max_wait_ms=1000";
  CHECK(in_link("/page") == Ask{});
  CHECK(in_link("/page?a=1&b") == Ask{});
  CHECK(in_link("/page?" + want) == kLarge);
  CHECK(in_link("/page?a=1&a=2&%zz&" + want + "&b=%") == kLarge);
  CHECK(in_link("/page?spillway-want=gpu%3Bmemory_gb%3D64") ==
        Ask{.type = "gpu", .sizes = {{"memory_gb", 64}}});
  CHECK(in_link("/page?spillway-wanted=;;;") == Ask{});
  CHECK(in_link("/spillway-want=x") == Ask{});
  CHECK(in_link("/page?spillway-want=") == Ask{});
  for (const char* const wrong : {"gpu;", "gpu;memory_gb", "gpu%", "%00", "gpu;a=1;a=1", "a b"}) {
    CAPTURE(wrong);
    const auto read = in_link("/page?spillway-want=" + std::string(wrong));
    // A line end at the end of the text is no part of it.
    if (std::string(wrong) == "gpu;")
      CHECK(read == Ask{.type = "gpu"});
    else
      CHECK_FALSE(read);
  }
}

TEST_CASE("any bytes are an answer, and what is understood is read back from its text") {
  Random random(7);
  const std::string alphabet = "gpu;=,memory_64{}[]\":&?%0 spillway-want\\\xff\x01";
  for (int n = 0; n < 20'000; ++n) {
    std::string text;
    const auto size = static_cast<std::size_t>(random.uniform() * 60);
    while (text.size() < size)
      text += alphabet[static_cast<std::size_t>(random.uniform() *
                                                static_cast<double>(alphabet.size()))];
    (void)in_body(text);
    if (const auto ask = in_link("/?spillway-want=" + text))
      CHECK(waiting::parse_ask(to_text(*ask)) == ask);
    if (const auto ask = waiting::parse_ask(text)) CHECK(waiting::parse_ask(to_text(*ask)) == ask);
  }
}

TEST_CASE("a refusal is a problem that says which requirement fails") {
  const LocalReply unmet = unmet_response({"memory_gb", "The most is \"64\"."});
  CHECK(unmet.status == 422);
  CHECK(unmet.content.find(R"("requirement":"memory_gb")") != std::string::npos);
  CHECK(unmet.content.find(R"(\"64\")") != std::string::npos);
  CHECK(unmet.lines.find("no-store") != std::string::npos);
  CHECK(malformed_ask("No.").status == 400);
}

}  // namespace spillway::proxy

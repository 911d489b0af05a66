// What visitors may ask for, in words and in numbers.
#include <doctest/doctest.h>

#include "unit/waiting/lab.hpp"
#include "waiting/resources/catalog.hpp"

namespace spillway::waiting {
namespace {

Wish understood(const Catalog& catalog, const Ask& ask) {
  const auto answer = catalog.understand(ask);
  REQUIRE(std::holds_alternative<Wish>(answer));
  return std::get<Wish>(answer);
}

std::string unmet(const Catalog& catalog, const Ask& ask) {
  const auto answer = catalog.understand(ask);
  const auto* const unmet = std::get_if<Unmet>(&answer);
  return unmet != nullptr ? unmet->requirement : std::string();
}

}  // namespace

TEST_CASE("what is asked for is written in one line, and read back") {
  const Ask ask{.type = "gpu",
                .sizes = {{"memory_gb", 64}, {"cores", 8}},
                .duration = Milliseconds(3'600'000),
                .max_wait = Milliseconds(60'000)};
  const std::string text = "gpu;memory_gb=64;cores=8;duration_ms=3600000;max_wait_ms=60000";
  CHECK(to_text(ask) == text);
  CHECK(parse_ask(text) == ask);
  CHECK(parse_ask("") == Ask{});
  CHECK(to_text(Ask{}).empty());
  CHECK(parse_ask(";memory_gb=1")->type.empty());
}

TEST_CASE("control: a line that says something twice, or nothing, is not read") {
  for (const char* const text :
       {"gpu;memory_gb", "gpu;memory_gb=", "gpu;memory_gb=x", "gpu;memory_gb=-1",
        "gpu;memory_gb=1;memory_gb=2", "gpu;duration_ms=1;duration_ms=1", "gpu;duration_ms=0",
        "gpu;=1", "g pu", "gpu;memory_gb=4294967296", "gpu;a=1;b=1;c=1;d=1;e=1;f=1;g=1;h=1;i=1",
        "gpu\"", "<gpu>"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ask(text));
  }
  CHECK_FALSE(parse_ask("gpu;" + std::string(kMostAsk, 'a')));
}

TEST_CASE("what nothing could ever meet is told with the requirement that fails") {
  const Catalog catalog(lab_resources());
  CHECK(unmet(catalog, ask_for("gpu", 64)).empty());
  CHECK(unmet(catalog, {}).empty());
  CHECK(unmet(catalog, ask_for("laser")) == "type");
  CHECK(unmet(catalog, ask_for("gpu", 65)) == "memory_gb");
  CHECK(unmet(catalog, ask_for("scope", 1)) == "memory_gb");
  CHECK(unmet(catalog, {.type = "gpu", .sizes = {{"lasers", 1}}}) == "lasers");
  CHECK(unmet(catalog, {.type = "gpu", .sizes = {}, .duration = Milliseconds(1)}) == "duration_ms");
  CHECK(unmet(catalog, {.type = "gpu", .sizes = {}, .duration = 2 * kHour}) == "duration_ms");
  CHECK(unmet(catalog, {.type = "gpu", .sizes = {}, .duration = {}, .max_wait = kHour}) ==
        "max_wait_ms");
  // Nothing is asked of a size of which 0 is enough.
  CHECK(unmet(catalog, {.type = "scope", .sizes = {{"memory_gb", 0}, {"lasers", 0}}}).empty());
}

TEST_CASE("each size is there, but of no single device") {
  Resources resources = lab_resources();
  resources.groups = {{"gpu", "memory", 0, {{"memory_gb", 64}, {"cores", 1}}},
                      {"gpu", "cores", 0, {{"memory_gb", 1}, {"cores", 64}}}};
  const Catalog catalog(resources);
  CHECK(unmet(catalog, {.type = "gpu", .sizes = {{"memory_gb", 64}, {"cores", 64}}}) == "sizes");
  CHECK(unmet(catalog, {.type = "gpu", .sizes = {{"memory_gb", 64}, {"cores", 1}}}).empty());
}

TEST_CASE("without a type the only one is meant, or the default; else one is needed") {
  Resources resources = lab_resources();
  CHECK(understood(Catalog(resources), {}).type == 0);
  resources.default_type.clear();
  CHECK(unmet(Catalog(resources), {}) == "type");
  resources.groups.pop_back();
  CHECK(understood(Catalog(resources), {}).type == 0);
}

TEST_CASE("requirements that the same devices meet are of one kind, however many are thought up") {
  const Catalog catalog(lab_resources());
  for (std::uint32_t gb = 0; gb <= 16; ++gb)
    CHECK(understood(catalog, ask_for("gpu", gb)).kind == 0);
  const std::uint8_t large = understood(catalog, ask_for("gpu", 17)).kind;
  CHECK(large != 0);
  for (std::uint32_t gb = 17; gb <= 64; ++gb)
    CHECK(understood(catalog, ask_for("gpu", gb)).kind == large);
}

TEST_CASE("a wish in words is what was asked for, with the duration that holds") {
  const Catalog catalog(lab_resources());
  const Ask ask = ask_for("gpu", 17, Milliseconds(60'000));
  CHECK(catalog.say(understood(catalog, ask)) == ask);
  CHECK(catalog.say(understood(catalog, {})).duration == kHour);
}

TEST_CASE("other names make another fingerprint, other devices do not") {
  Resources resources = lab_resources();
  const std::uint32_t before = Catalog(resources).fingerprint();
  resources.groups[0].count = 7;
  CHECK(Catalog(resources).fingerprint() == before);
  resources.groups[0].sizes[0].name = "memory";
  CHECK(Catalog(resources).fingerprint() != before);
}

}  // namespace spillway::waiting

#include "bench/hostile/places.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "bench/hostile/cell.hpp"
#include "support/places.hpp"

using namespace spillway;
using namespace spillway::hostile;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("the configuration of each contender can be given a small limit of connections") {
  for (const std::string_view name : contender_names()) {
    CAPTURE(name);
    const auto cells =
        plan({.behaviours = {"keep-alive-hoarder"}, .contenders = {std::string(name)}});
    const bench::Contender& contender = *cells.front().contender;
    std::ifstream file(support::in_source("bench/peers/" + std::string(contender.configuration)));
    const std::string given(std::istreambuf_iterator<char>(file), {});
    REQUIRE(!given.empty());
    const std::string text = with_places(contender.program, given, 123);
    switch (contender.program) {
      case bench::Program::spillway:
        CHECK(count(text, "\n  \"limits\": { \"connections\": 123 },\n") == 1);
        CHECK(count(text, "\"limits\"") == 1);
        break;
      case bench::Program::haproxy:
        CHECK(count(text, "\n  maxconn 123\n") == 1);
        CHECK(count(text, "\n  maxconn ") == 1);
        CHECK(text.find("  maxconn 123\n") < text.find("\ndefaults\n"));
        break;
      case bench::Program::nginx:
        CHECK(count(text, "\nevents { worker_connections 163; }\n") == 1);
        CHECK(count(text, "{ worker_connections") == 1);
        break;
      case bench::Program::none: FAIL("it has no configuration");
    }
  }
}

TEST_CASE("a configuration without a place for a limit of connections is refused") {
  CHECK_THROWS_AS(with_places(bench::Program::haproxy, "defaults\n", 5), std::invalid_argument);
}

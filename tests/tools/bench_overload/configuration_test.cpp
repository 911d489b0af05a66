#include "bench/overload/configuration.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "bench/overload/contender.hpp"
#include "bench/overload/scenario.hpp"
#include "support/places.hpp"

using namespace spillway::bench;
namespace fs = std::filesystem;

namespace {

const fs::path kPeers = spillway::support::in_source("bench/peers");

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::set<const Contender*> all_contenders() {
  std::set<const Contender*> all;
  for (const Scenario& scenario : scenarios()) {
    for (const auto name : scenario.contenders) all.insert(find_contender(name));
    for (const auto name : scenario.others) all.insert(find_contender(name));
  }
  return all;
}

}  // namespace

TEST_CASE("names between at signs are filled in and everything else stays") {
  CHECK(fill_in("bind 127.0.0.1:@PORT@ @PORT@", {{"PORT", "80"}}) == "bind 127.0.0.1:80 80");
  CHECK(fill_in("a@b.example @NAMES@ @ @@ @lower@", {}) == "a@b.example @NAMES@ @ @@ @lower@");
  CHECK(fill_in("@A_1@@B@", {{"A_1", "@"}, {"B", "x"}}) == "@x");
  CHECK(fill_in("", {}) == "");
}

TEST_CASE("a name without a value is an error and not a port zero") {
  CHECK_THROWS_AS(fill_in("listen @PORT@;", {{"PROT", "80"}}), std::runtime_error);
}

TEST_CASE("every contender has a configuration that says which peers it fills in") {
  const Values values{{"PORT", "1"},         {"ADMIN", "3"},           {"BACKEND", "2"},
                      {"CONCURRENCY", "16"}, {"CONCURRENCY_P1", "13"}, {"CONCURRENCY_P2", "10"},
                      {"TENANT_RATE", "80"}, {"WORK", "/work"}};
  for (const Contender* contender : all_contenders()) {
    CAPTURE(contender->name);
    if (contender->program == Program::none) {
      CHECK(contender->configuration.empty());
      continue;
    }
    const std::string text = read(kPeers / contender->configuration);
    CHECK(text.find("@PORT@") != std::string::npos);
    CHECK(text.find("@BACKEND@") != std::string::npos);
    CHECK_NOTHROW(fill_in(text, values));
  }
}

TEST_CASE("no configuration of this benchmark is left over") {
  std::set<std::string> used;
  for (const Contender* contender : all_contenders()) used.emplace(contender->configuration);
  for (const auto& file : fs::directory_iterator(kPeers)) {
    const std::string name = file.path().filename();
    if (name.starts_with("overload-")) CHECK_MESSAGE(used.count(name) == 1, name);
  }
}

TEST_CASE("each program is told its file and stays in the foreground") {
  const ProgramPaths paths{"S", "N", "H"};
  using Words = std::vector<std::string>;
  CHECK(command_of(*find_contender("spillway"), paths, "f", "w") ==
        Words{"S", "run", "--config", "f"});
  CHECK(command_of(*find_contender("haproxy-tuned"), paths, "f", "w") ==
        Words{"H", "-db", "-f", "f"});
  CHECK(command_of(*find_contender("nginx"), paths, "f", "w") == Words{"N", "-p", "w", "-c", "f"});
  CHECK(command_of(*find_contender("direct"), paths, "f", "w").empty());
  for (const Contender* contender : all_contenders()) {
    if (contender->program != Program::nginx) continue;
    CHECK(read(kPeers / contender->configuration).find("daemon off;") != std::string::npos);
  }
}

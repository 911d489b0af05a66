// The table against the proxy, NGINX and HAProxy beside it, and against those that must fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "system/wire/cases.hpp"
#include "system/wire/subjects.hpp"
#include "system/wire/wrong_subjects.hpp"

namespace spillway::conformance {
namespace {

constexpr std::size_t kLanes = 4;
// So many hold for any proxy that is none too odd: fewer, and it is the table that is wrong.
constexpr std::size_t kLeastForOthers = 200;
constexpr std::size_t kLeastCases = 300;

TEST_CASE("every rule of HTTP on the wire holds for the proxy with NGINX and HAProxy beside it") {
  const std::vector<Case> cases = all_cases();
  Spillways spillways(kLanes);
  Nginxes nginxes(kLanes);
  HAProxies haproxies(kLanes);
  const std::vector<Subject> subjects{spillways.subject(), nginxes.subject(), haproxies.subject()};
  const std::vector<Column> columns = play_all(cases, subjects);
  const std::string table = printed(cases, subjects, columns);
  MESSAGE(table);
  std::ofstream(SPILLWAY_BINARY_DIR "/conformance-table.md") << table;

  for (std::size_t n = 0; n < cases.size(); ++n) {
    const std::string& trouble = columns[0][n];
    if (cases[n].reason().empty()) {
      CHECK_MESSAGE(trouble.empty(), cases[n].sentence(), ": ", trouble);
    } else {
      CHECK_MESSAGE(!trouble.empty(), cases[n].sentence(), ": it does hold");
      CHECK_MESSAGE(cases[n].level() != Level::must, cases[n].sentence());
    }
  }
  CHECK(support::count(columns[1]).passed >= kLeastForOthers);
  CHECK(support::count(columns[2]).passed >= kLeastForOthers);
}

// Whoever sends on what he does not understand, or takes nothing at all, must be found out; and so
// must be who makes a whole of what breaks off.
TEST_CASE("each case fails where bytes are relayed blindly or refused blindly") {
  const std::vector<Case> cases = all_cases();
  Relays relays(kLanes);
  Relays completing(kLanes, Relays::Ending::completes);
  Refusers refusers(kLanes);
  const std::vector<Column> columns =
      play_all(cases, {relays.subject(), refusers.subject(), completing.subject()});
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const bool fails = !columns[0][n].empty() || !columns[1][n].empty() ||
                       (cases[n].breaks_off() && !columns[2][n].empty());
    CHECK_MESSAGE(fails, cases[n].sentence());
  }
}

TEST_CASE("no two cases of the table say the same") {
  std::set<std::string> sentences;
  for (const Case& each : all_cases()) {
    CHECK_MESSAGE(sentences.insert(each.sentence()).second, each.sentence());
    CHECK_MESSAGE(each.sentence().find('|') == std::string::npos, each.sentence());
  }
  CHECK(sentences.size() >= kLeastCases);
}

}  // namespace
}  // namespace spillway::conformance

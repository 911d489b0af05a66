// Both tables: against the proxy with others beside it, and against those that must fail.
#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "support/places.hpp"
#include "system/wire/caching/cases.hpp"
#include "system/wire/http/cases.hpp"
#include "system/wire/table.hpp"
#include "system/wire/wrong_proxies.hpp"

namespace spillway::wire {
namespace {

using caching::caching_cases;

constexpr std::size_t kLanes = 4;

// Every case holds for the first of the proxies, whatever its level, or says why not. For each of
// the others `least` hold, as for any proxy that is none too odd: fewer, and the table is wrong.
void check_table(const std::vector<Case>& cases, const std::vector<ProxyUnderTest>& proxies,
                 const std::string& file, std::size_t least) {
  const std::vector<Column> columns = play_all(cases, proxies);
  const std::string text = table(cases, columns);
  MESSAGE(text);
  std::ofstream(support::in_build(file)) << text;

  for (std::size_t n = 0; n < cases.size(); ++n) {
    const Verdict& verdict = columns[0].verdicts[n];
    if (cases[n].reason().empty()) {
      CHECK_MESSAGE(verdict.empty(), cases[n].sentence(), ": ", verdict);
    } else {
      CHECK_MESSAGE(!verdict.empty(), cases[n].sentence(), ": it does hold");
      CHECK_MESSAGE(cases[n].level() != Level::must, cases[n].sentence());
    }
  }
  for (std::size_t p = 1; p < columns.size(); ++p) CHECK(held(columns[p].verdicts) >= least);
}

void check_sentences(const std::vector<Case>& cases, std::size_t least) {
  std::set<std::string> sentences;
  for (const Case& each : cases) {
    CHECK_MESSAGE(sentences.insert(each.sentence()).second, each.sentence());
    CHECK_MESSAGE(each.sentence().find('|') == std::string::npos, each.sentence());
  }
  CHECK(sentences.size() >= least);
}

TEST_CASE("every rule of HTTP on the wire holds for the proxy with NGINX and HAProxy beside it") {
  check_table(http_cases(), {spillway(kLanes), nginx(kLanes), haproxy(kLanes)},
              "wire-http-table.md", 200);
}

// A proxy that passes on what it does not understand, or takes nothing at all, must be found out;
// and so must one that completes what breaks off.
TEST_CASE("each case of HTTP fails where bytes are relayed blindly or refused blindly") {
  const std::vector<Case> cases = http_cases();
  const std::vector<Column> columns =
      play_all(cases, {relay(kLanes), refuser(kLanes), relay(kLanes, Ending::completes)});
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const bool fails = !columns[0].verdicts[n].empty() || !columns[1].verdicts[n].empty() ||
                       (cases[n].breaks_off() && !columns[2].verdicts[n].empty());
    CHECK_MESSAGE(fails, cases[n].sentence());
  }
}

TEST_CASE("no two cases of HTTP say the same") { check_sentences(http_cases(), 621); }

TEST_CASE("every rule of HTTP caching holds for the proxy with NGINX beside it") {
  check_table(caching_cases(), {spillway(kLanes), nginx(kLanes)}, "wire-caching-table.md", 120);
}

// A case that wants a stored answer must fail without a store.
TEST_CASE("each case of caching fails where nothing is stored or everything") {
  const std::vector<Case> cases = caching_cases();
  const std::vector<Column> columns =
      play_all(cases, {spillway(kLanes, Caching::nothing), nginx(kLanes, Caching::everything)},
               support::Milliseconds{0});
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const bool fails = !columns[0].verdicts[n].empty() ||
                       (!cases[n].wants_stored() && !columns[1].verdicts[n].empty());
    CHECK_MESSAGE(fails, cases[n].sentence());
  }
}

TEST_CASE("no two cases of caching say the same") { check_sentences(caching_cases(), 279); }

}  // namespace
}  // namespace spillway::wire

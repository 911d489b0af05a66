#include "resilience/server_search.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::resilience {
namespace {

ServerSet set_of(std::initializer_list<std::size_t> servers) {
  ServerSet set;
  for (const std::size_t server : servers) set.insert(server);
  return set;
}

// Takes the first candidate until a server accepts or none is left. By server: '+' accepts, '-'
// refuses the connection, 'o' has an open circuit. Returns the servers in the order in which they
// were chosen, those with open circuits in brackets.
std::string attempt(ServerSearch& search, std::string_view servers) {
  std::string chosen;
  search.begin_attempt(ServerSet::first(servers.size()));
  for (ServerSet left = search.candidates(); !left.empty(); left = search.candidates()) {
    const std::size_t server = left.front();
    const std::string digit = std::to_string(server);
    if (servers[server] == 'o') {
      search.refuse(server);
      chosen += "(" + digit + ")";
      continue;
    }
    search.try_at(server);
    chosen += digit;
    if (servers[server] == '+') break;
  }
  return chosen;
}

}  // namespace

TEST_CASE("a request tries each server once in an attempt and the rest of the round first") {
  struct Step {
    std::string_view servers, chosen;
    bool is_any_tried = true;
    bool has_untried = true;
  };
  struct Case {
    const char* what;
    std::vector<Step> attempts;
  };
  const std::vector<Case> cases{
      {"the first accepts", {{"+++", "0"}}},
      {"failed connections lead to the next", {{"--+", "012", true, false}}},
      {"all refuse the connection", {{"---", "012", true, false}}},
      {"a single server is tried again", {{"-", "0", true, false}, {"-", "0", true, false}}},
      {"what failed before comes last", {{"+++", "0"}, {"+++", "1"}, {"+++", "2", true, false}}},
      {"a new round", {{"--", "01", true, false}, {"++", "0"}, {"++", "1", true, false}}},
      {"an attempt does not begin a second round", {{"+--", "0"}, {"---", "12", true, false}}},
      {"open circuits are passed over", {{"o+", "(0)1"}, {"+o", "0", true, false}}},
      {"all circuits are open", {{"ooo", "(0)(1)(2)", false}}},
      {"all others have open circuits: those tried before are left",
       {{"+++", "0"}, {"+oo", "(1)(2)0"}}},
      {"all circuits have opened meanwhile: nothing is asked",
       {{"+++", "0"}, {"ooo", "(1)(2)(0)", false}}},
      {"a circuit refuses for one attempt only", {{"o-", "(0)1"}, {"+-", "0", true, false}}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    ServerSearch search;
    for (const Step& step : one.attempts) {
      CHECK(attempt(search, step.servers) == step.chosen);
      CHECK(search.is_any_tried() == step.is_any_tried);
      CHECK(search.has_untried() == step.has_untried);
    }
  }
}

TEST_CASE("a request that every circuit refuses keeps what it has tried") {
  ServerSearch search;
  attempt(search, "++");
  search.begin_attempt(ServerSet::first(2));
  CHECK(search.candidates() == set_of({1}));
  search.refuse(1);
  CHECK(search.candidates() == set_of({0}));  // a new round, without the one that was refused
  search.refuse(0);
  CHECK(search.candidates().empty());
}

TEST_CASE("a server whose kept connection was dead may be asked again before the others") {
  ServerSearch search;
  CHECK(attempt(search, "++") == "0");
  search.try_again(0);
  search.begin_attempt(ServerSet::first(2));
  CHECK(search.candidates() == set_of({0, 1}));
}

}  // namespace spillway::resilience

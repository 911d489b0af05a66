// The matrix, and that it can fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "support/faulty_backend.hpp"
#include "support/places.hpp"
#include "support/raw_client.hpp"
#include "support/rounds.hpp"
#include "support/scripted_peer.hpp"
#include "system/faults/at_peers.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {
namespace {

using namespace support;

// How NGINX and HAProxy fare is told, not judged. But at each of them `least` rows of a kind hold,
// as they do at any proxy that is none too odd: fewer, or one whose backends were not asked, and
// the column is wrong.
std::vector<PeerColumn> columns_of_peers(Rows rows, const std::vector<Row>& wanted,
                                         std::size_t least) {
  const auto results = play_at_peers(rows, [&](const std::string& name) {
    return std::ranges::any_of(wanted, [&](const Row& row) { return row.name == name; });
  });
  std::vector<PeerColumn> columns;
  for (std::size_t p = 0; p < results.size(); ++p) {
    PeerColumn& column = columns.emplace_back(PeerColumn{name_of(kPeers[p]), {}});
    for (std::size_t n = 0; n < results[p].size(); ++n) {
      const PeerResult& result = results[p][n];
      column.cells.push_back(cell(result));
      CHECK_MESSAGE((result.requests > 0 || !result.was_played()), column.name,
                    " was not asked: ", wanted[n].name, ": ",
                    result.besides.empty() ? "" : result.besides.front());
    }
    const long held = std::ranges::count_if(results[p], &PeerResult::holds);
    CHECK_MESSAGE(held >= static_cast<long>(least), "only ", held, " rows hold at ", column.name);
  }
  return columns;
}

// Plays the rows of one kind and keeps their table. The columns of the others are a comparison:
// they wait for the nightly run, and under a sanitizer they would be no different.
void check(const std::string& kind, Rows all, std::size_t least) {
  const char* only = std::getenv("FAULT");
  std::vector<Row> rows = all();
  std::erase_if(rows, [&](const Row& row) {
    return only != nullptr && row.name.find(only) == std::string::npos;
  });
  std::vector<Result> results;
  for (const Row& row : rows) {
    results.push_back(play(row));
    for (const std::string& trouble : results.back().troubles) {
      FAIL_CHECK(row.name, ": ", trouble);
    }
  }
  std::vector<PeerColumn> others;
  if (plays_all_rounds() && !is_sanitized()) {
    others = columns_of_peers(all, rows, only == nullptr ? least : 0);
  }
  const std::string table = printed(rows, results, others);
  MESSAGE(table);
  if (only == nullptr) std::ofstream(support::in_build("faults-") + kind + ".md") << table;
}

std::vector<Row> connection_and_client_rows() {
  std::vector<Row> rows = connection_rows();
  for (Row& row : client_rows()) rows.push_back(std::move(row));
  for (Row& row : abandoned_rows()) rows.push_back(std::move(row));
  return rows;
}

std::vector<Row> greedy_and_reading_rows() {
  std::vector<Row> rows = greedy_rows();
  for (Row& row : reading_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

// Each kind is a test of its own, so that they can run at the same time.
TEST_CASE("no fault of a backend hangs or leaks or brings a wrong answer") {
  check("backend", backend_rows, 15);
}

TEST_CASE("no backend that cannot be reached and no client that vanishes leaves anything") {
  check("connections", connection_and_client_rows, 8);
}

TEST_CASE("no client that holds what it does not pay for costs others an answer") {
  check("greedy", greedy_and_reading_rows, 3);
}

TEST_CASE("what fails for some costs others no answer, for many only until refusing is given up") {
  check("errors", error_rows, 3);
}

TEST_CASE("neither the log nor the clock nor descriptors nor reloads cost an answer") {
  check("process", process_rows, 1);
}

TEST_CASE("no fault in a tunnel or an event stream leaves anything") {
  check("tunnels", tunnel_rows, 6);
}

TEST_CASE("every fault of the backend has its row") {
  std::set<std::string> names;
  for (std::vector<Row> (*kind)() :
       {backend_rows, connection_and_client_rows, greedy_and_reading_rows, error_rows, process_rows,
        tunnel_rows}) {
    for (const Row& row : kind()) CHECK_MESSAGE(names.insert(row.name).second, row.name);
  }
  for (const std::string& fault : FaultyBackend::faults()) {
    CHECK_MESSAGE(names.contains(fault), fault);
  }
}

// Without a proxy in between that knows better, what is wrong is seen to be.
TEST_CASE("a client of the matrix tells a wrong answer from a right one") {
  const auto asked_of = [](std::string answer, std::size_t way = 0) {
    ScriptedPeer peer([&](PeerConnection& client) {
      if (client.read_head()) client.send(answer);
    });
    return ask(peer.port(), way, {.target = "/good/7"}).word;
  };
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const auto with_length = [&](const std::string& body) {
    return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  CHECK(asked_of(with_length(body_of("/good/7"))) == "200");
  CHECK(asked_of(with_length(body_of("/good/8"))).starts_with("WRONG"));
  CHECK(asked_of(with_length(body_of("/good/7").substr(0, 100))).starts_with("WRONG"));
  // Until the end of the connection: what is missing is not seen by the framing.
  CHECK(asked_of(head + "\r\n" + body_of("/good/7").substr(0, 100), 7).starts_with("WRONG"));
  CHECK(asked_of(with_length(body_of("/good/7")).substr(0, 150)) == "aborted");
  CHECK(asked_of("") == "closed");
  CHECK(asked_of("hello\r\n\r\n").starts_with("WRONG"));
  CHECK(asked_of("HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n") == "502");
}

TEST_CASE("what is left over is seen") {
  Stand stand({});
  CHECK(stand.left_over() == "");
  RawClient idle(stand.port());
  idle.send(get("/sound/2"));
  CHECK(idle.read_response().status() == 200);
  CHECK(stand.left_over().find("client connections 1") != std::string::npos);
  RawClient waiting(stand.port());
  waiting.send(get("/stalls-before-head/2"));
  CHECK(stand.left_over().find("inflight 1") != std::string::npos);
  idle.close();
  waiting.close();
  CHECK(stand.left_over() == "");
}

TEST_CASE("a row fails when a client sees what it must not or no client sees the fault") {
  const auto troubles = [](std::vector<std::string> words, const std::string& must) {
    return play({.name = "made up",
                 .settings = {},
                 .client =
                     [](Stand& stand, Client client) {
                       const std::string number = std::to_string(client.number);
                       return ask(stand.port(), 0, {.target = "/closes-before-head/" + number});
                     },
                 .allows = any_of(std::move(words)),
                 .must = must})
        .troubles;
  };
  CHECK(troubles({"502"}, "502").empty());
  CHECK(troubles({"200"}, "").size() == kRounds * kClients);
  CHECK(troubles({"502", "504"}, "504").size() == 1);
}

TEST_CASE("where refusing for errors is not given up, clients go on losing answers to it") {
  const Result result = play(refused_for_errors_that_stay());
  CHECK(result.outcomes.at("refused") > 2 * kClients / 4);
  CHECK(std::ranges::count_if(result.troubles, [](const std::string& trouble) {
          return trouble.find(" saw refused") != std::string::npos;
        }) > static_cast<long>(kClients / 4));
}

}  // namespace spillway::faults

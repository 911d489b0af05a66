// The matrix, and that it can fail.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "faults/row.hpp"
#include "support/faulty_backend.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::faults {
namespace {

using namespace support;

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (std::vector<Row> (*kind)() : {backend_rows, connection_rows, client_rows, process_rows}) {
    std::vector<Row> rows = kind();
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

TEST_CASE("no fault hangs or leaks or brings a wrong answer") {
  std::vector<Row> rows;
  std::vector<Result> results;
  const char* only = std::getenv("FAULT");
  for (const Row& row : all_rows()) {
    if (only != nullptr && row.name.find(only) == std::string::npos) continue;
    rows.push_back(row);
    results.push_back(play(row));
    for (const std::string& trouble : results.back().troubles) {
      FAIL_CHECK(row.name, ": ", trouble);
    }
  }
  const std::string table = printed(rows, results);
  MESSAGE(table);
  if (only == nullptr) std::ofstream(SPILLWAY_BINARY_DIR "/fault-matrix.md") << table;
}

TEST_CASE("every fault of the backend has its row") {
  std::set<std::string> names;
  for (const Row& row : all_rows()) CHECK_MESSAGE(names.insert(row.name).second, row.name);
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

TEST_CASE("a row fails when a client sees what it must not or nobody sees the fault") {
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

}  // namespace spillway::faults

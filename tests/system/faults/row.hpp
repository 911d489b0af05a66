// One row of the matrix: one fault, many clients at once, what they may come to see.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "system/faults/asking.hpp"
#include "system/faults/stand.hpp"

namespace spillway::faults {

inline constexpr std::size_t kClients = 64;
inline constexpr std::size_t kRounds = 4;  // at least

// A client of a round: `number` tells it from all others of the row, `place` is its place in the
// round.
struct Client {
  std::size_t number;
  std::size_t place;
};

// How a row is played at NGINX and HAProxy, where what clients and backends see is judged, and only
// that.
struct AtPeers {
  std::string not_because = {};  // "Spillway's log": why it is not; empty: it is
  std::size_t first_round = 0;   // what comes before waits for what Spillway does
  std::size_t rounds = 1;
  bool must_be_seen = true;  // Row::must, there too
  // Those who have done nothing to lose an answer by: how many of them do is said.
  std::function<bool(Client)> is_other = {};
  // What clients may end with there, besides what they may at Spillway.
  std::function<bool(Client, const std::string& word)> allows = {};
  // What they want that is not in Spillway's configuration.
  std::function<void(Wanted&)> adjust = {};
};

struct Row {
  std::string name;
  Stand::Settings settings;
  // What each client does; all of a round at once.
  std::function<Outcome(Stand&, Client)> client;
  // The words it may end with.
  std::function<bool(Client, const std::string& word)> allows;
  // A word that a client has to see: without it the fault did not happen.
  std::string must;
  // Done while the clients of a round are at it; ends with them.
  std::function<void(Stand&, std::size_t round, const std::function<bool()>& at_it)> meanwhile;
  // Asked when all is over; answered 200.
  std::string afterwards = "/good/0";
  // Whether the clients know how many of their requests the proxy counts.
  bool is_counted = true;
  // What has to be true besides of what came to the backends, and of Spillway; empty: it is.
  std::function<std::string(Stand&)> at_backends;
  std::function<std::string(Stand&)> besides;
  std::shared_ptr<void> needs;  // lives as long as the row
  AtPeers at_peers;
};

// All rows of a kind. They are made anew for each proxy, since some keep what their clients know.
using Rows = std::vector<Row> (*)();

// What one client of a round came to see.
struct Seen {
  Client client;
  Outcome outcome;
  bool is_allowed;
};
std::vector<Seen> play_round(const Row& row, Stand& stand, std::size_t number);

struct Result {
  std::map<std::string, std::size_t> outcomes;
  std::vector<std::string> troubles;  // none: the row holds
  long milliseconds = 0;
  long grown_kib = 0;  // memory over the last two rounds
};

Result play(const Row& row);

// Everything but those with a word of this list is in order.
std::function<bool(Client, const std::string&)> any_of(std::vector<std::string> words);

// The row of others where one of two servers does `fault` to all: it is ejected. Until then they
// may see `at_first`, and from the second round on `good` alone.
Row beside_one_that(const std::string& fault, Row row, const std::string& good,
                    std::vector<std::string> at_first);

std::vector<Row> backend_rows();
std::vector<Row> connection_rows();
std::vector<Row> client_rows();
std::vector<Row> abandoned_rows();
std::vector<Row> greedy_rows();
std::vector<Row> reading_rows();
std::vector<Row> error_rows();
std::vector<Row> process_rows();
std::vector<Row> tunnel_rows();

// The row of error_rows() where requests are refused for errors as long as they come: its control.
Row refused_for_errors_that_stay();

// Columns of others: a heading, and what each row says.
struct PeerColumn {
  std::string name;
  std::vector<std::string> cells;
};

// The table, in Markdown.
std::string printed(const std::vector<Row>& rows, const std::vector<Result>& results,
                    const std::vector<PeerColumn>& others = {});

}  // namespace spillway::faults

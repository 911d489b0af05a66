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

struct Row {
  std::string name;
  Stand::Settings settings;
  // What each client does; all of a round at once.
  std::function<Outcome(Stand&, Client)> client;
  // The words it may end with.
  std::function<bool(Client, const std::string& word)> allows;
  // A word that somebody has to see: without it the fault did not happen.
  std::string must;
  // Done while the clients of a round are at it; ends with them.
  std::function<void(Stand&, std::size_t round, const std::function<bool()>& at_it)> meanwhile;
  // Asked when all is over; answered 200.
  std::string afterwards = "/good/0";
  // Whether the clients know how many of their requests the proxy counts.
  bool is_counted = true;
  // What has to be true besides; empty: it is.
  std::function<std::string(Stand&)> besides;
  std::shared_ptr<void> needs;  // lives as long as the row
};

struct Result {
  std::map<std::string, std::size_t> outcomes;
  std::vector<std::string> troubles;  // none: the row holds
  long milliseconds = 0;
  long grown_kib = 0;  // memory over the last two rounds
};

Result play(const Row& row);

// Everything but those with a word of this list is in order.
std::function<bool(Client, const std::string&)> any_of(std::vector<std::string> words);

// All rows of a kind.
std::vector<Row> backend_rows();
std::vector<Row> connection_rows();
std::vector<Row> client_rows();
std::vector<Row> greedy_rows();
std::vector<Row> error_rows();
std::vector<Row> process_rows();
std::vector<Row> tunnel_rows();

// The row of error_rows() where requests are refused for errors as long as they come: its control.
Row refused_for_errors_that_stay();

// The table, in Markdown.
std::string printed(const std::vector<Row>& rows, const std::vector<Result>& results);

}  // namespace spillway::faults

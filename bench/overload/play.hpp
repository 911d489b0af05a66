// Plays one cell: a fresh backend, a fresh contender before it, the load, and what came of it.
#pragma once

#include <string>

#include <boost/asio/io_context.hpp>

#include "base/time.hpp"
#include "bench/load/client.hpp"
#include "bench/overload/contender.hpp"
#include "bench/overload/plan.hpp"
#include "bench/overload/result.hpp"

namespace spillway::bench {

struct Stage {
  ProgramPaths programs;
  std::string configurations;  // the folder with the contenders' files
  std::string work;            // a folder for what they write, which others may read
  bool pinned = true;          // proxy and load have a core each
  // For a look at what happens on a busy machine: no figures to compare.
  bool late_is_fine = false;
  bool (*stopped)() = [] { return false; };  // true: end as soon as possible
};

// A cell that cannot be played or says nothing has a failure. Throws std::exception only for what
// ails the benchmark itself, such as a folder that cannot be written.
Result play(const Cell& cell, const Stage& stage);

// Runs `io` while the client sends its schedule from `start` on, until it has ended or `stopped`.
void send(load::Client& client, boost::asio::io_context& io, TimePoint start, bool (*stopped)());

}  // namespace spillway::bench

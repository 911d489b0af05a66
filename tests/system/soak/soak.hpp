// A soak from start to verdict.
//
// Traffic of all kinds at once, for minutes, through the real binary; then none, so that everything
// must come to rest; then once more, into a SIGTERM.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "system/soak/balance.hpp"
#include "system/soak/trend.hpp"

namespace spillway::soak {

struct Options {
  std::string binary;
  std::string directory;  // for its configuration and its log
  std::chrono::seconds duration{120};
  std::uint64_t seed = 1;
  std::string only;  // a kind; empty: all
};

struct KindResult {
  std::string name;
  std::vector<std::uint64_t> ends;  // as kEndNames
};

struct Result {
  std::uint64_t seed = 0;
  std::vector<KindResult> kinds;
  std::vector<Point> memory;       // requests finished, bytes resident, once a second
  std::vector<Point> descriptors;  // seconds, open files
  std::size_t quiet_descriptors_before = 0;
  std::size_t quiet_descriptors_after = 0;
  Balance balance;
  bool is_balance_known = false;  // the proxy says how many it accepted
  std::uint64_t backend_requests = 0, faults = 0, surges = 0, deaths = 0, reloads = 0,
                bad_reloads = 0;
  bool has_tunnels = false;
  std::uint64_t failure_count = 0;
  std::vector<std::string> failures;

  bool is_fine() const { return failure_count == 0; }
};

Result soak(const Options& options);

// As a table for people.
std::string report(const Result& result);

}  // namespace spillway::soak

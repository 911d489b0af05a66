// Reads requests for the pages of deferred requests: their paths, the query of GET /jobs, and the
// bodies of POST /jobs/replay and POST /jobs/purge.
//
// A filter's members are the same in a query and in a body: state, route, cause, and the times
// (RFC 3339) accepted_from, accepted_before, ended_from, ended_before. A body may name one job
// instead: id. Members that are unknown or given twice are refused, since a misspelt filter would
// act on everything.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "jobs/job_id.hpp"
#include "store/contract/command.hpp"

namespace spillway::proxy {

// The size of one page of GET /jobs.
inline constexpr std::size_t kUsualJobs = 100;
inline constexpr std::size_t kMostListedJobs = 1000;
// The most jobs that one POST may change: it may be one transaction, for which others wait.
inline constexpr std::size_t kMostChangedJobs = 10000;

struct JobsPath {
  enum class Kind : std::uint8_t { list, inspect, cancel, replay, purge };
  Kind kind = Kind::list;
  jobs::JobId id;  // for inspect and cancel
};

struct JobsListing {
  store::Filter filter;
  std::optional<jobs::JobId> after;
  std::size_t limit = kUsualJobs;
};

struct JobsChange {
  store::Filter filter;
  bool is_dry_run = true;
  std::size_t limit = kMostChangedJobs;  // required, unless it is a dry run or names one job
  std::chrono::milliseconds delay{};     // of the first job
  std::chrono::milliseconds spacing{};   // between jobs; 0: all at once
  std::optional<std::chrono::milliseconds> ttl;
};

// True: the path is one of the pages of deferred requests, or below them.
bool is_jobs_path(std::string_view path);
// nullopt: there is no such page.
std::optional<JobsPath> read_jobs_path(std::string_view path);

// The functions below return one sentence if they refuse the input, and accept any bytes.

// `query`: the part after the question mark. Percent-encoded; a plus sign stands for itself, so
// that the offset of a time may have one.
std::variant<JobsListing, std::string> read_jobs_query(std::string_view query);
// Replay has three more members: per_second, delay_ms and ttl_ms.
std::variant<JobsChange, std::string> read_replay(std::string_view body);
std::variant<JobsChange, std::string> read_jobs_purge(std::string_view body);

}  // namespace spillway::proxy

// Deferred requests: what is stored, how often it is tried, and how long it is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace spillway::config {

// The store of deferred requests.
struct Store {
  std::string url;        // memory:, sqlite:FILE, postgresql://...; empty: sqlite:spillway.db
  std::string key_file;   // empty: nothing is encrypted
  std::string directory;  // set by load(): the directory of the configuration file
  std::uint64_t max_bytes = std::uint64_t{10} << 30;
  double lookups_per_second = 2000;  // of all clients that ask about their jobs
  Milliseconds lease{15000};         // of this proxy; renewed three times per lease
  Milliseconds rooms_kept{std::chrono::hours(7 * 24)};  // waiting rooms that no proxy has any more
};

// Which requests of a route are deferred: those that would be refused for lack of capacity, all of
// them, or those that ask for it (RFC 7240, respond-async).
enum class DeferWhen : std::uint8_t { overloaded, always, prefer };

// The pause after an attempt that failed, with full jitter.
struct JobBackoff {
  Milliseconds base{1000};
  Milliseconds max{600000};
};

// The parts of a request that scope its Idempotency-Key, in addition to route and tenant.
struct IdempotencyPrincipal {
  std::vector<std::string> fields;
  std::vector<std::string> cookies;  // by name, regardless of other cookies
};

inline constexpr Milliseconds kAttemptLease{300000};

// A route's deferred requests; as `jobs`, the defaults for all routes.
struct Defer {
  DeferWhen when = DeferWhen::overloaded;
  bool include_limits = false;  // also requests refused by a budget or a tenant's share
  std::uint64_t max_body_bytes = 1 << 20;
  std::uint32_t max_attempts = 10;
  JobBackoff backoff;
  // The longest duration of one attempt; default: kAttemptLease, with response_timeout for the head
  // of the response.
  std::optional<Milliseconds> lease;
  Milliseconds ttl{86400000};     // from acceptance; then it expires
  bool retry_unanswered = false;  // also non-idempotent requests that were sent but not answered
  bool require_idempotency_key = false;
  std::optional<IdempotencyPrincipal> idempotency_principal;  // default: all credentials
  std::optional<std::uint32_t> concurrency;  // attempts at a time; default: no cap of its own
  std::optional<double> rate;                // attempts per second; likewise
  Milliseconds result_ttl{86400000};         // from the job's end
  std::uint64_t max_result_bytes = 1 << 20;
  std::uint32_t max_pending = 100000;
  std::string order_by;                  // a request field; empty: jobs are not ordered
  std::optional<ClassId> traffic_class;  // default: below all classes of live requests
};

}  // namespace spillway::config

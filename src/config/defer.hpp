// Deferred requests: what is written to the store, how often it is tried, and how long it is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace spillway::config {

// Where deferred requests are kept.
struct Store {
  std::string url;        // memory:, sqlite:FILE, postgresql://...; empty: sqlite:spillway.db
  std::string key_file;   // empty: nothing is encrypted
  std::string directory;  // set by load(): that of the configuration file
  std::uint64_t max_bytes = std::uint64_t{10} << 30;
  double lookups_per_second = 2000;  // of all clients that ask after their jobs
  Milliseconds lease{15000};         // of this proxy; renewed three times within it
  Milliseconds rooms_kept{std::chrono::hours(7 * 24)};  // waiting rooms that no proxy has any more
};

// Which requests of a route are deferred: those that would be refused for want of room, all of
// them, or those that ask for it (RFC 7240, respond-async).
enum class DeferWhen : std::uint8_t { overloaded, always, prefer };

// The pause after an attempt that failed, with full jitter.
struct JobBackoff {
  Milliseconds base{1000};
  Milliseconds max{600000};
};

// Of a request, what says whose its Idempotency-Key is, besides its route and tenant.
struct IdempotencyPrincipal {
  std::vector<std::string> fields;
  std::vector<std::string> cookies;  // by name, whatever else is in Cookie
};

inline constexpr Milliseconds kAttemptLease{300000};

// A route's deferred requests; as `jobs`, the defaults for all routes.
struct Defer {
  DeferWhen when = DeferWhen::overloaded;
  bool include_limits = false;  // also what a budget or a tenant's share refuses
  std::uint64_t max_body_bytes = 1 << 20;
  std::uint32_t max_attempts = 10;
  JobBackoff backoff;
  // The longest time of one attempt; default: kAttemptLease, and the head of the answer has
  // response_timeout.
  std::optional<Milliseconds> lease;
  Milliseconds ttl{86400000};     // from its acceptance; then it expires
  bool retry_unanswered = false;  // a request that is not idempotent, sent and not answered
  bool require_idempotency_key = false;
  std::optional<IdempotencyPrincipal> idempotency_principal;  // default: all credentials
  std::optional<std::uint32_t> concurrency;  // attempts at a time; default: no cap of its own
  std::optional<double> rate;                // attempts per second; likewise
  Milliseconds result_ttl{86400000};         // from its end
  std::uint64_t max_result_bytes = 1 << 20;
  std::uint32_t max_pending = 100000;
  std::string order_by;                  // a request field; empty: jobs have no order
  std::optional<ClassId> traffic_class;  // default: below all classes of live requests
};

}  // namespace spillway::config

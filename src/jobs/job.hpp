// A job: a request that was answered 202 and is forwarded later. Its terms and its data.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "base/time_text.hpp"
#include "jobs/job_id.hpp"

namespace spillway::jobs {

// Jobs outlive processes, so their times are wall-clock times.
using spillway::WallTime;
inline constexpr WallTime kNoTime{};

enum class JobState : std::uint8_t {
  queued,     // accepted, not tried yet
  leased,     // a proxy holds it, or is sending it to its upstream
  retrying,   // was tried, and will be tried again
  succeeded,  // its upstream has answered without a failure
  dead,       // will not be tried again
  expired,    // its time to live passed before its end
  cancelled,  // by the client or the operator
};
inline constexpr std::size_t kJobStateCount = 7;

// The name in responses and logs.
constexpr std::string_view name(JobState state) {
  constexpr std::array<std::string_view, kJobStateCount> names{
      "queued", "leased", "retrying", "succeeded", "dead", "expired", "cancelled"};
  return names[index(state)];
}

constexpr bool waits(JobState state) {
  return state == JobState::queued || state == JobState::retrying;
}
constexpr bool has_ended(JobState state) { return !waits(state) && state != JobState::leased; }

// How an attempt ended, or why a job is dead. Stored as this number: only add at the end.
enum class Cause : std::uint8_t {
  none,
  answered,        // with a status that is not a failure
  refused,         // 429 or 503
  failed,          // 502, 504, or another 5xx
  rejected,        // another 4xx: permanent
  never_sent,      // no byte reached an upstream
  unanswered,      // sent; the connection broke, or no response came in time
  invalid_answer,  // not HTTP, or incomplete
  proxy_ended,     // its proxy crashed, lost its lease, or aborted it to drain
  too_many_attempts,
  poison,          // its proxies ended too often
  not_idempotent,  // unanswered, and must not be sent again
  route_gone,      // its route is no longer configured, or its request cannot be written
  cancelled_by_client,
  cancelled_by_operator,
  out_of_time,
  expired_in_queue,  // before it was deferred: it waited for a slot in vain
};
inline constexpr std::size_t kCauseCount = 17;
std::string_view name(Cause cause);  // e.g. "never_sent"; empty for none

// Jobs of a lane are pulled in the order of their due times; the rotor divides capacity among
// lanes.
struct Lane {
  std::uint8_t rank = 0;  // of its class: lower ones go first
  std::string route;
  TenantId tenant{};

  auto operator<=>(const Lane&) const = default;
};

// 16 bytes of a SHA-256 that represent a text.
using Digest = std::array<std::uint8_t, 16>;

// An Idempotency-Key as it is stored.
struct IdempotencyKey {
  Digest scope{};        // of route, principal and key
  Digest fingerprint{};  // of the request sent with the key

  bool operator==(const IdempotencyKey&) const = default;
};

// An accepted request.
struct NewJob {
  JobId id;
  Lane lane;
  std::string tenant_name;  // as shown in logs
  WallTime accepted{};
  WallTime expires{};
  std::chrono::milliseconds kept{};  // how long it is kept after its end
  std::string head;                  // in the form sent to the upstream
  std::string body;
  std::string method;
  std::string target;           // path and query
  std::optional<Digest> order;  // jobs with the same one run one after another
  std::optional<IdempotencyKey> idempotency;
};

// The part of a job that changes.
struct Progress {
  JobState state = JobState::queued;
  WallTime due{};                // it is not tried before
  std::uint32_t attempts = 0;    // attempts that reached an upstream
  std::uint32_t recoveries = 0;  // from proxies that ended while they held it
  Cause cause = Cause::none;     // of the last attempt, or of the end
  WallTime ended{};              // kNoTime: it has not ended

  bool operator==(const Progress&) const = default;
};

// The response of a job's upstream.
struct StoredAnswer {
  std::uint16_t status = 0;
  std::string fields;  // lines, each with CRLF, in the form sent to the client
  std::string body;
  bool is_cut = false;  // the body exceeded max_result_bytes, and is not kept

  bool operator==(const StoredAnswer&) const = default;
};

// One attempt, as `inspect` shows it.
struct Attempt {
  std::uint32_t number = 0;  // 1 for the first; 0: it did not count
  WallTime began{};
  WallTime ended{};
  Cause cause = Cause::none;
  std::uint16_t status = 0;  // of the response; 0: none
  std::string detail;        // one sentence
};

// A job as its client and the operator see it.
struct JobView {
  JobId id;
  Lane lane;
  std::string tenant_name;
  std::string method;
  std::string target;
  WallTime accepted{};
  WallTime expires{};
  Progress progress;
  std::uint64_t body_bytes = 0;
  std::uint16_t status = 0;    // of the stored response; 0: none
  std::uint64_t position = 0;  // 1: the next of its lane; 0: not waiting, or far behind
};

// A job that this proxy holds.
struct LeasedJob {
  JobId id;
  Lane lane;
  std::string tenant_name;
  WallTime accepted{};
  WallTime expires{};
  Progress progress;
  std::string head;
  std::string body;
  std::string method;
  std::string target;
};

}  // namespace spillway::jobs

// A job: a request that was answered 202 and is forwarded later. Its words and its facts.
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

// Jobs outlive processes: their times are those of the wall clock.
using spillway::WallTime;
inline constexpr WallTime kNoTime{};

enum class JobState : std::uint8_t {
  queued,     // accepted, not tried yet
  leased,     // a proxy has it in hand, or at its upstream
  retrying,   // was tried, and will be again
  succeeded,  // its upstream has answered, and not with a failure
  dead,       // will not be tried again
  expired,    // its time to live was over before its end
  cancelled,  // by its client or the operator
};
inline constexpr std::size_t kJobStateCount = 7;

// As the wire has it.
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
  invalid_answer,  // not HTTP, or not to its end
  proxy_ended,     // its proxy crashed, lost its lease, or closed its request as it drained
  too_many_attempts,
  poison,          // its proxies ended too often
  not_idempotent,  // unanswered, and must not be sent again
  route_gone,      // its route is not configured any more, or its request cannot be written
  cancelled_by_client,
  cancelled_by_operator,
  out_of_time,
  expired_in_queue,  // before it was deferred: it waited in vain for a slot
};
inline constexpr std::size_t kCauseCount = 17;
std::string_view name(Cause cause);  // e.g. "never_sent"; empty for none

// Jobs of a lane are pulled in the order in which they are due; the rotor divides capacity among
// lanes.
struct Lane {
  std::uint8_t rank = 0;  // of its class: a lower one goes first
  std::string route;
  TenantId tenant{};

  auto operator<=>(const Lane&) const = default;
};

// 16 bytes of a SHA-256 that stand for a text.
using Digest = std::array<std::uint8_t, 16>;

// What an Idempotency-Key is stored as.
struct IdempotencyKey {
  Digest scope{};        // of route, principal and key
  Digest fingerprint{};  // of the request that came with it

  bool operator==(const IdempotencyKey&) const = default;
};

// An accepted request.
struct NewJob {
  JobId id;
  Lane lane;
  std::string tenant_name;  // as logs say it
  WallTime accepted{};
  WallTime expires{};
  std::chrono::milliseconds kept{};  // after its end
  std::string head;                  // as it goes to the upstream
  std::string body;
  std::string method;
  std::string target;           // path and query
  std::optional<Digest> order;  // jobs with the same one run one after another
  std::optional<IdempotencyKey> idempotency;
};

// The part of a job that changes.
struct Progress {
  JobState state = JobState::queued;
  WallTime due{};                // not tried before
  std::uint32_t attempts = 0;    // that reached an upstream
  std::uint32_t recoveries = 0;  // from proxies that ended while they had it
  Cause cause = Cause::none;     // of the last attempt, or of the end
  WallTime ended{};              // kNoTime: it has not

  bool operator==(const Progress&) const = default;
};

// The answer of a job's upstream.
struct StoredAnswer {
  std::uint16_t status = 0;
  std::string fields;  // lines, each with CRLF, as they go to the client
  std::string body;
  bool is_cut = false;  // the body was longer than max_result_bytes, and is not kept

  bool operator==(const StoredAnswer&) const = default;
};

// One attempt, as `inspect` shows it.
struct Attempt {
  std::uint32_t number = 0;  // 1 for the first; 0: it did not count
  WallTime began{};
  WallTime ended{};
  Cause cause = Cause::none;
  std::uint16_t status = 0;  // of the answer; 0: none
  std::string detail;        // one sentence
};

// What its client and the operator see of a job.
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
  std::uint16_t status = 0;    // of the stored answer; 0: there is none
  std::uint64_t position = 0;  // 1: the next of its lane; 0: it does not wait, or is far behind
};

// A job that this proxy has in hand.
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

#include "tally.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "percentile.hpp"

namespace spillway::demo {
namespace {

// The details parameter of an RFC 9209 Proxy-Status value, which names Spillway's reason.
std::string_view details(std::string_view proxy_status) {
  constexpr std::string_view key = "details=\"";
  const auto start = proxy_status.find(key);
  if (start == std::string_view::npos) return "no reason given";
  const auto value = proxy_status.substr(start + key.size());
  return value.substr(0, value.find('"'));
}

// The mode of a Spillway-Degraded value: "mode=stale_ok; reason=TAIL_LATENCY".
std::string_view mode(std::string_view degraded) {
  constexpr std::string_view key = "mode=";
  if (!degraded.starts_with(key)) return "no mode given";
  degraded.remove_prefix(key.size());
  return degraded.substr(0, degraded.find(';'));
}

}  // namespace

Ending ending_of(unsigned status, std::string_view proxy_status, std::string_view retry_after,
                 std::string_view degraded) {
  Ending ending;
  std::uint32_t seconds = 0;
  const char* const end = retry_after.data() + retry_after.size();
  const auto parsed = std::from_chars(retry_after.data(), end, seconds);
  if (!retry_after.empty() && parsed.ec == std::errc() && parsed.ptr == end) {
    ending.retry_after = seconds;
  }
  if (status >= 200 && status < 300) {
    ending.fate = Fate::ok;
    if (!degraded.empty()) ending.degraded = mode(degraded);
  } else if (status == 429 || status == 503) {
    ending.fate = Fate::denied;
    ending.cause = details(proxy_status);
  } else {
    ending.fate = Fate::failed;
    ending.cause = "status " + std::to_string(status);
  }
  return ending;
}

double Counts::ok_share() const {
  return ended() == 0 ? 1.0 : static_cast<double>(ok) / static_cast<double>(ended());
}

void Counts::add(const Ending& ending, Duration latency) {
  switch (ending.fate) {
    case Fate::ok:
      ++ok;
      if (!ending.degraded.empty()) ++degraded;
      latencies.push_back(latency);
      break;
    case Fate::denied: ++denied; break;
    case Fate::failed: ++failed; break;
  }
}

void Counts::add(const Counts& other) {
  offered += other.offered;
  ok += other.ok;
  degraded += other.degraded;
  denied += other.denied;
  failed += other.failed;
  latencies.insert(latencies.end(), other.latencies.begin(), other.latencies.end());
}

void Tally::offered(const Arrival& arrival, Duration sent_late_by) {
  ++phases_[arrival.phase][arrival.kind].offered;
  ++recent_[arrival.kind].offered;
  sending_lags_.push_back(sent_late_by);
}

void Tally::ended(const Arrival& arrival, const Ending& ending, Duration latency) {
  phases_[arrival.phase][arrival.kind].add(ending, latency);
  recent_[arrival.kind].add(ending, latency);
  if (!ending.degraded.empty()) ++degraded_[arrival.kind][ending.degraded];
  if (ending.fate == Fate::denied) ++denials_[arrival.kind][ending.cause];
  if (ending.fate == Fate::failed) ++failures_[arrival.kind][ending.cause];
  if (ending.retry_after) {
    RetryAfter& seen = retry_after_[arrival.kind];
    seen.shortest =
        seen.seen == 0 ? *ending.retry_after : std::min(seen.shortest, *ending.retry_after);
    seen.longest = std::max(seen.longest, *ending.retry_after);
    ++seen.seen;
  }
}

Counts Tally::whole_run(std::size_t kind) const {
  Counts sum;
  for (const CountsByKind& phase : phases_) sum.add(phase[kind]);
  return sum;
}

CountsByKind Tally::take_recent() { return std::exchange(recent_, CountsByKind{}); }

Duration Tally::sending_lag_p99() const { return percentile(sending_lags_, 0.99); }

}  // namespace spillway::demo

#include "bench/load/ending.hpp"

#include <charconv>

namespace spillway::load {
namespace {

// The details parameter of an RFC 9209 Proxy-Status value, which names Spillway's reason.
std::string_view details(std::string_view proxy_status) {
  constexpr std::string_view key = "details=\"";
  const auto start = proxy_status.find(key);
  if (start == std::string_view::npos) return kNoReason;
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
  if (status == 202) {
    ending.fate = Fate::deferred;
  } else if (status >= 200 && status < 300) {
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

}  // namespace spillway::load

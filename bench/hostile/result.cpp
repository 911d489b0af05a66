#include "bench/hostile/result.hpp"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "bench/load/percentile.hpp"

namespace spillway::hostile {
namespace {

using Json = nlohmann::ordered_json;

constexpr Milliseconds kLatest{20};  // the backend's mean service time

double rounded(double value) { return std::round(value * 1e5) / 1e5; }

Json percentile_ms(const std::vector<Duration>& times, double share) {
  if (times.empty()) return nullptr;
  return rounded(to_milliseconds(load::percentile(times, share)));
}

}  // namespace

bool late(const Result& result) {
  return result.probes.late_p99() > kLatest ||
         load::percentile(result.backend.late, 0.99) > kLatest;
}

std::string invalid(const Result& result) {
  if (result.cell.behaviour != kNoAttack && result.usage.opened == 0)
    return "the attack opened no connection";
  if (!within_bounds(result.usage)) {
    return fmt::format("the attack used {} connections and {:.0f} B/s", result.usage.connections,
                       bytes_per_second(result.usage));
  }
  return {};
}

std::string result_line(const Result& result) {
  Json line;
  line["suite"] = "hostile";
  line["behaviour"] = result.cell.behaviour;
  line["contender"] = result.cell.contender->name;
  line["addresses"] = result.cell.addresses;
  line["round"] = result.cell.round;
  if (!result.failure.empty()) {
    line["failure"] = result.failure;
    return line.dump() + '\n';
  }
  if (!result.ended.empty()) line["ended"] = result.ended;
  const ProbeCounts& p0 = result.probes.p0();
  line["seconds"] = to_seconds(result.cell.counted);
  line["sent"] = p0.sent;
  line["answered"] = p0.answered;
  line["p50_ms"] = percentile_ms(p0.latencies, 0.5);
  line["p99_ms"] = percentile_ms(p0.latencies, 0.99);
  line["lost"] = p0.lost;
  line["p1_sent"] = result.probes.p1().sent;
  line["p1_answered"] = result.probes.p1().answered;
  line["sent_late_p99_ms"] = rounded(to_milliseconds(result.probes.late_p99()));
  line["worked_late_p99_ms"] =
      rounded(to_milliseconds(load::percentile(result.backend.late, 0.99)));
  line["attack_connections"] = result.usage.connections;
  line["attack_opened"] = result.usage.opened;
  line["attack_bytes_per_s"] = std::round(bytes_per_second(result.usage));
  line["backend_most"] = result.backend.most;
  line["wasted_ratio"] = result.backend.finished == 0
                             ? 0
                             : rounded(static_cast<double>(result.backend.wasted) /
                                       static_cast<double>(result.backend.finished));
  return line.dump() + '\n';
}

std::string result_text(const Result& result) {
  const std::string name = fmt::format("{:<15} {:<17} {:>3}", result.cell.behaviour,
                                       result.cell.contender->name, result.cell.addresses);
  if (!result.failure.empty()) return name + "  FAILED: " + result.failure + '\n';
  const ProbeCounts& p0 = result.probes.p0();
  std::string text = fmt::format(
      "{}  P0 {:>6.2f} % of {}, p99 {:>5.1f} ms, P1 {:>6.2f} %; {} connections, {:.0f} kB/s; "
      "backend {} at once; load {:.0f} ms late, work {:.0f}",
      name, 100 * answered_ratio(p0), p0.sent,
      to_milliseconds(load::percentile(p0.latencies, 0.99)),
      100 * answered_ratio(result.probes.p1()), result.usage.connections,
      bytes_per_second(result.usage) / 1e3, result.backend.most,
      to_milliseconds(result.probes.late_p99()),
      to_milliseconds(load::percentile(result.backend.late, 0.99)));
  for (const auto& [cause, times] : p0.lost) text += fmt::format("; {} {}", times, cause);
  return text + '\n';
}

}  // namespace spillway::hostile

#include "bench/overload/result_line.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "bench/load/percentile.hpp"

namespace spillway::bench {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 1e5) / 1e5; }

Json percentile_ms(const std::vector<Duration>& times, double share) {
  if (times.empty()) return nullptr;
  return rounded(to_milliseconds(load::percentile(times, share)));
}

Json head(const Result& result) {
  Json line;
  line["suite"] = "overload";
  line["scenario"] = result.cell.scenario->name;
  line["load"] = result.cell.load;
  line["contender"] = result.cell.contender->name;
  line["repetition"] = result.cell.repetition;
  return line;
}

Json line_of(const Result& result, std::string_view traffic_class, const Counts& counts) {
  Json line = head(result);
  line["class"] = traffic_class;
  line["capacity_rps"] = rounded(capacity_rps(*result.cell.scenario));
  line["offered"] = rounded(static_cast<double>(counts.attempts) / measured_seconds(result));
  line["sent"] = counts.sent;
  line["attempts"] = counts.attempts;
  line["succeeded"] = counts.succeeded;
  line["degraded"] = counts.degraded;
  line["denied"] = counts.denied;
  line["evicted"] = counts.evicted;
  line["timed_out"] = counts.timed_out;
  line["gave_up"] = counts.gave_up;
  line["failed"] = counts.failed;
  line["p50_ms"] = percentile_ms(counts.latencies, 0.5);
  line["p99_ms"] = percentile_ms(counts.latencies, 0.99);
  line["denied_on_arrival_p99_ms"] = percentile_ms(counts.denials, 0.99);
  line["refused_p50_ms"] = percentile_ms(counts.refusals, 0.5);
  line["goodput_ratio"] = rounded(goodput_ratio(result, counts));
  return line;
}

std::string tenant_name(std::uint8_t tenant) {
  return tenant == kNoisyTenant ? "noisy" : "quiet-" + std::to_string(tenant);
}

}  // namespace

std::string result_lines(const Result& result) {
  if (!result.failure.empty()) {
    Json line = head(result);
    line["class"] = "all";
    line["failure"] = result.failure;
    return line.dump() + '\n';
  }
  std::string lines;
  for (std::size_t kind = 0; kind < load::kKindCount; ++kind) {
    const Counts& counts = result.tally.kind(kind);
    if (counts.sent == 0) continue;
    lines += line_of(result, load::kKinds[kind].traffic_class, counts).dump() + '\n';
  }
  for (const auto& [tenant, counts] : result.tally.tenants()) {
    Json line = line_of(result, load::kKinds[1].traffic_class, counts);
    line["tenant"] = tenant_name(tenant);
    lines += line.dump() + '\n';
  }
  Json all = line_of(result, "all", result.all());
  all["wasted_ratio"] = rounded(result.wasted_ratio);
  if (result.recovery) {
    all["recovery_s"] = result.recovery->seconds;
    all["recovered"] = result.recovery->within_cell;
  }
  if (const auto index = jain(result)) all["jain"] = rounded(*index);
  if (result.transitions) all["transitions"] = *result.transitions;
  all["measured_s"] = measured_seconds(result);
  all["sent_late_p99_ms"] = rounded(to_milliseconds(result.tally.late_p99()));
  all["worked_late_p99_ms"] = rounded(to_milliseconds(result.backend_late_p99));
  return lines + all.dump() + '\n';
}

}  // namespace spillway::bench

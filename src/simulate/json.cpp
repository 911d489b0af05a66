#include "simulate/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace spillway::simulate {
namespace {

using Json = nlohmann::ordered_json;

Json rounded(double value, double parts) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * parts) / parts;
}

Json milliseconds(double seconds) { return rounded(seconds * 1000, 1e3); }

Json latency(double seconds, std::uint64_t served) {
  return served == 0 ? Json(nullptr) : milliseconds(seconds);
}

Json share(double value) { return rounded(value, 1e6); }

Json reason_name(Reason reason) {
  return reason == Reason::none ? Json(nullptr) : Json(std::string(name(reason)));
}

void add_counts(Json& object, const ClassCounts& counts) {
  object["offered"] = counts.offered;
  object["admitted"] = counts.admitted;
  object["degraded"] = counts.degraded;
  object["denied"] = counts.denied;
  object["expired"] = counts.expired;
  object["served"] = counts.served;
  object["late"] = counts.late;
}

Json class_summary(const ClassSummary& summary) {
  Json object;
  object["name"] = summary.name;
  add_counts(object, summary.counts);
  const std::uint64_t served = summary.counts.served;
  object["success"] = share(summary.success);
  object["p50_ms"] = latency(summary.p50, served);
  object["p95_ms"] = latency(summary.p95, served);
  object["p99_ms"] = latency(summary.p99, served);
  object["max_wait_ms"] = latency(summary.max_wait, served);
  return object;
}

Json second(const Second& recorded) {
  std::uint64_t served = 0;
  Json classes = Json::array();
  for (std::size_t i = 0; i < recorded.classes.size(); ++i) {
    Json object;
    add_counts(object, recorded.classes[i]);
    object["queued"] = i < recorded.class_queued.size() ? Json(recorded.class_queued[i]) : Json();
    classes.push_back(object);
    served += recorded.classes[i].served;
  }
  Json object;
  object["state"] = std::string(name(recorded.state));
  object["reason"] = reason_name(recorded.reason);
  object["queued"] = recorded.queued;
  object["running"] = recorded.running;
  object["p95_ms"] = latency(recorded.p95, served);
  object["classes"] = classes;
  return object;
}

}  // namespace

Json to_json(const Recording& recording) {
  std::uint64_t served = 0;
  for (const ClassSummary& each : recording.classes) served += each.counts.served;
  Json json;
  json["scenario"] = recording.scenario;
  json["sentence"] = recording.sentence;
  json["seed"] = recording.seed;
  json["shedding"] = recording.shedding;
  json["duration_ms"] = milliseconds(static_cast<double>(recording.seconds.size()));
  json["warm_up_ms"] = milliseconds(recording.warm_up);
  json["goodput"] = share(recording.goodput);
  json["wasted"] = share(recording.wasted);
  json["max_queued"] = recording.max_queued;
  json["p95_ms"] = latency(recording.p95, served);
  json["jain"] = recording.tenants.empty() ? Json(nullptr) : share(recording.jain);
  json["classes"] = Json::array();
  for (const ClassSummary& each : recording.classes) {
    json["classes"].push_back(class_summary(each));
  }
  json["tenants"] = Json::array();
  for (const TenantSummary& each : recording.tenants) {
    json["tenants"].push_back(
        Json{{"name", each.name}, {"offered", each.offered}, {"served", each.served}});
  }
  json["changes"] = Json::array();
  for (const StateChange& change : recording.changes) {
    json["changes"].push_back(Json{{"at_ms", milliseconds(change.at)},
                                   {"to", std::string(name(change.to))},
                                   {"reason", reason_name(change.reason)}});
  }
  json["seconds"] = Json::array();
  for (const Second& each : recording.seconds) json["seconds"].push_back(second(each));
  return json;
}

}  // namespace spillway::simulate

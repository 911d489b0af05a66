#include "simulate/report/json.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

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

template <class Items, class Write>
Json list(const Items& items, Write write) {
  Json out = Json::array();
  for (const auto& each : items) out.push_back(write(each));
  return out;
}

Json counts_json(const ClassCounts& counts) {
  return {{"offered", counts.offered},   {"admitted", counts.admitted},
          {"degraded", counts.degraded}, {"denied", counts.denied},
          {"expired", counts.expired},   {"failed", counts.failed},
          {"served", counts.served},     {"cached", counts.cached},
          {"late", counts.late},         {"would_deny", counts.would_deny}};
}

Json class_json(const ClassSummary& summary) {
  const std::uint64_t served = summary.counts.served;
  Json object = {{"name", summary.name}};
  object.update(counts_json(summary.counts));
  object.update({{"success", share(summary.success)},
                 {"p50_ms", latency(summary.p50, served)},
                 {"p95_ms", latency(summary.p95, served)},
                 {"p99_ms", latency(summary.p99, served)},
                 {"max_wait_ms", latency(summary.max_wait, served)}});
  return object;
}

Json tenant_json(const TenantSummary& each) {
  return {{"name", each.name}, {"offered", each.offered}, {"served", each.served}};
}

Json change_json(const StateChange& change) {
  return {{"at_ms", milliseconds(change.at)},
          {"to", std::string(name(change.to))},
          {"reason", reason_name(change.reason)}};
}

Json size_json(const Size& size) {
  return {{"slots", size.slots},
          {"service_ms", milliseconds(size.service)},
          {"capacity_rps", rounded(size.capacity, 1e3)},
          {"offered_rps", rounded(size.offered, 1e3)},
          {"load", share(size.load)}};
}

Json jobs_json(const JobsSummary& jobs) {
  return {{"deferred", jobs.deferred},
          {"not_kept", jobs.not_kept},
          {"done", jobs.done},
          {"dead", jobs.dead},
          {"expired", jobs.expired},
          {"retried", jobs.retried},
          {"pending", jobs.pending},
          {"most_pending", jobs.most_pending},
          {"most_pending_at_ms", milliseconds(jobs.most_pending_at)},
          {"empty_at_ms", jobs.empty_at ? milliseconds(*jobs.empty_at) : Json(nullptr)},
          {"longest_ms", latency(jobs.longest, jobs.deferred)}};
}

// Only runs in which requests can be deferred have these keys.
void add_jobs(Json& object, const Recording& recording) {
  if (!recording.jobs) return;
  object["jobs"] = jobs_json(*recording.jobs);
  for (std::size_t c = 0; c < recording.classes.size(); ++c)
    object["classes"][c]["deferred"] = recording.classes[c].counts.deferred;
  std::uint64_t before = 0;
  for (std::size_t s = 0; s < recording.seconds.size(); ++s) {
    const Second& recorded = recording.seconds[s];
    Json& second = object["seconds"][s];
    second["jobs_pending"] = recorded.jobs_pending;
    second["jobs_done"] = recorded.jobs_done - before;
    before = recorded.jobs_done;
    for (std::size_t c = 0; c < recorded.classes.size(); ++c)
      second["classes"][c]["deferred"] = recorded.classes[c].deferred;
  }
}

// Only runs with visitors have these keys.
void add_visitors(Json& object, const Recording& recording) {
  if (!recording.visitors) return;
  const VisitorsSummary& of = *recording.visitors;
  object["visitors"] = {{"came", of.came},
                        {"saw_all_pages", of.left.done},
                        {"turned_away", of.left.turned_away},
                        {"gave_up_in_line", of.left.gave_up_in_line},
                        {"gave_up_inside", of.left.gave_up_inside},
                        {"lost_place", of.left.lost_place},
                        {"sent_out", of.left.sent_out},
                        {"ghosts", of.left.ghosts},
                        {"waiting", of.waiting},
                        {"inside", of.inside},
                        {"entered", of.entered},
                        {"waited", of.waits.count},
                        {"wait_p50_ms", latency(of.waits.p50, of.waits.count)},
                        {"wait_p95_ms", latency(of.waits.p95, of.waits.count)},
                        {"longest_wait_ms", latency(of.waits.longest, of.waits.count)},
                        {"most_waiting", of.most_waiting},
                        {"most_sessions", of.most_sessions},
                        {"sessions_used", of.waits.count > 0 ? share(of.use) : Json(nullptr)},
                        {"polls", of.polls},
                        {"most_polls_in_a_second", of.most_polls},
                        {"told_an_estimate", of.told},
                        {"called_within_it", of.within}};
  for (const TierSummary& tier : of.tiers) {
    object["visitors"]["tiers"].push_back(
        {{"name", tier.name},
         {"came", tier.came},
         {"waited", tier.waits.count},
         {"wait_p50_ms", latency(tier.waits.p50, tier.waits.count)},
         {"wait_p95_ms", latency(tier.waits.p95, tier.waits.count)}});
  }
  for (std::size_t s = 0; s < recording.seconds.size(); ++s) {
    const Second& recorded = recording.seconds[s];
    Json& second = object["seconds"][s];
    second["visitors_waiting"] = recorded.visitors_waiting;
    second["visitors_inside"] = recorded.visitors_inside;
    second["polls"] = recorded.polls;
  }
}

Json second_json(const Second& recorded) {
  std::uint64_t served = 0;
  Json classes = Json::array();
  for (std::size_t i = 0; i < recorded.classes.size(); ++i) {
    Json& object = classes.emplace_back(counts_json(recorded.classes[i]));
    object["queued"] = i < recorded.class_queued.size() ? Json(recorded.class_queued[i]) : Json();
    served += recorded.classes[i].served;
  }
  return {{"state", std::string(name(recorded.state))},
          {"reason", reason_name(recorded.reason)},
          {"queued", recorded.queued},
          {"running", recorded.running},
          {"p95_ms", latency(recorded.p95, served)},
          {"classes", std::move(classes)}};
}

}  // namespace

Json to_json(const Recording& recording) {
  std::uint64_t served = 0;
  for (const ClassSummary& each : recording.classes) served += each.counts.served;
  Json object = {{"scenario", recording.scenario},
                 {"sentence", recording.sentence},
                 {"backend", size_json(recording.size)},
                 {"seed", recording.seed},
                 {"shedding", recording.shedding},
                 {"duration_ms", milliseconds(static_cast<double>(recording.seconds.size()))},
                 {"warm_up_ms", milliseconds(recording.warm_up)},
                 {"goodput", share(recording.goodput)},
                 {"wasted", share(recording.wasted)},
                 {"max_queued", recording.max_queued},
                 {"p95_ms", latency(recording.p95, served)},
                 {"jain", recording.tenants.empty() ? Json(nullptr) : share(recording.jain)},
                 {"classes", list(recording.classes, class_json)},
                 {"tenants", list(recording.tenants, tenant_json)},
                 {"changes", list(recording.changes, change_json)},
                 {"seconds", list(recording.seconds, second_json)}};
  add_jobs(object, recording);
  add_visitors(object, recording);
  return object;
}

}  // namespace spillway::simulate

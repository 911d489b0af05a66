// The section of /metrics on deferred requests and their store.
#include <algorithm>
#include <iterator>
#include <utility>

#include "observe/metrics/families.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;

MetricFamily one(MetricFamily family, std::uint64_t value) {
  add_sample(family, {}, value);
  return family;
}

MetricFamily by_cause(MetricFamily family,
                      const std::array<JobCounts::Count, jobs::kCauseCount>& counts) {
  for (std::size_t i = 1; i < jobs::kCauseCount; ++i) {
    add_sample(family, {label("cause", jobs::name(static_cast<jobs::Cause>(i)))},
               counts[i].load(std::memory_order_relaxed));
  }
  return family;
}

MetricFamily lost_letters(const JobCounts& counts) {
  MetricFamily family = counter("spillway_dead_letters_lost_total",
                                "Expired requests of routes with defer that were not written to "
                                "the store (expire_policy dead_letter), by cause.");
  for (std::size_t i = 0; i < kLostLetterNames.size(); ++i)
    add_sample(family, {label("cause", kLostLetterNames[i])},
               counts.letters_lost[i].load(std::memory_order_relaxed));
  return family;
}

MetricFamily by_state(const store::Totals& totals) {
  MetricFamily family = gauge("spillway_jobs",
                              "Deferred requests in the store by state; those that have ended are "
                              "kept for result_ttl_ms.");
  for (const store::Totals::Route& route : totals.routes) {
    for (std::size_t i = 0; i < jobs::kJobStateCount; ++i) {
      add_sample(
          family,
          {label("route", route.route), label("state", jobs::name(static_cast<jobs::JobState>(i)))},
          route.by_state[i]);
    }
  }
  return family;
}

MetricFamily cap_shares(const JobsSnapshot& jobs) {
  MetricFamily family = gauge("spillway_jobs_cap_share",
                              "What this proxy may use of a cap of the route: concurrency in jobs, "
                              "rate in jobs per second. Where proxies share the store it is a "
                              "part, and 0 at first.");
  for (const auto& [cap, share] : jobs.cap_shares)
    add_sample(family, {label("route", cap.route), label("cap", jobs::name(cap.kind))}, share);
  return family;
}

MetricFamily oldest(const JobsSnapshot& jobs) {
  MetricFamily family = gauge("spillway_jobs_oldest_claimable_seconds",
                              "How long the oldest deferred request could have been forwarded; "
                              "those that wait for their next attempt, or for a route that is "
                              "paused, do not count.");
  for (const store::Totals::Route& route : jobs.totals.routes)
    add_sample(family, {label("route", route.route)}, jobs.oldest_claimable_seconds(route));
  return family;
}

MetricFamily oldest_letter(const JobsSnapshot& jobs) {
  MetricFamily family = gauge("spillway_jobs_oldest_dead_seconds",
                              "Age of the oldest dead or expired deferred request, since it was "
                              "accepted; 0: there is none.");
  add_sample(family, {}, jobs.oldest_letter_seconds());
  return family;
}

MetricFamily paused(const JobsSnapshot& jobs) {
  MetricFamily family = gauge("spillway_jobs_paused",
                              "1: no deferred request of the route is forwarded, since its "
                              "upstream cannot be asked or the route is not configured.");
  for (const store::Totals::Route& route : jobs.totals.routes)
    add_sample(family, {label("route", route.route)}, jobs.is_paused(route) ? 1 : 0);
  return family;
}

MetricFamily without_slot(const JobsSnapshot& jobs) {
  MetricFamily family = counter("spillway_jobs_without_slot_total",
                                "Deferred requests that were to be forwarded, got no slot, and "
                                "were given back.");
  for (const store::Totals::Route& route : jobs.totals.routes) {
    const auto count = jobs.without_slot.find(route.route);
    add_sample(family, {label("route", route.route)},
               count == jobs.without_slot.end() ? 0 : count->second);
  }
  return family;
}

// Adds routes for which the store has not seen a job yet.
void add_routes(const config::Config& config, store::Totals& totals) {
  for (const config::Route& route : config.routes) {
    const bool is_known = std::any_of(totals.routes.begin(), totals.routes.end(),
                                      [&](const auto& one) { return one.route == route.name; });
    if (route.defer && !is_known) totals.routes.push_back({.route = route.name, .by_state = {}});
  }
}

Families store_families(const JobsSnapshot& jobs) {
  MetricFamily commit_times{"spillway_store_commit_seconds",
                            "How long commits of the store took; each holds one or more commands.",
                            prometheus::MetricType::Histogram,
                            {}};
  HistogramSnapshot times;
  jobs.counts->commit_times.add_to(times);
  add_histogram(commit_times, {}, times);
  return {
      one(gauge("spillway_store_available", "Whether deferred requests can be written down."),
          jobs.is_available ? 1 : 0),
      one(counter("spillway_store_commands_total", "What was asked of the store."), jobs.commands),
      std::move(commit_times),
      one(gauge("spillway_store_dead_rows",
                "Rows of waiting and leased jobs that have gone on and were not vacuumed yet; "
                "PostgreSQL only."),
          jobs.totals.dead_rows),
      one(counter("spillway_store_failures_total", "Commits that failed; nothing was changed."),
          jobs.counts->store_failures),
  };
}

}  // namespace

Families job_families(const config::Config& config, const Snapshot& snapshot) {
  if (!snapshot.jobs) return {};
  JobsSnapshot jobs = *snapshot.jobs;
  add_routes(config, jobs.totals);
  const JobCounts& counts = *jobs.counts;
  Families all{
      lost_letters(counts),
      by_state(jobs.totals),
      one(counter("spillway_jobs_accepted_total", "Requests written down and answered 202."),
          counts.accepted),
      one(counter("spillway_jobs_cancelled_total",
                  "Deferred requests cancelled by clients and the operator."),
          counts.cancelled),
      cap_shares(jobs),
      by_cause(counter("spillway_jobs_dead_total",
                       "Deferred requests that will not be tried again, by cause."),
               counts.dead),
      one(counter("spillway_jobs_duplicates_total",
                  "Requests answered 202 with the job of an earlier one of the same "
                  "Idempotency-Key."),
          counts.duplicates),
      one(counter("spillway_jobs_expired_total",
                  "Deferred requests whose ttl_ms was over before their end."),
          counts.expired),
      one(counter(
              "spillway_jobs_forgotten_total",
              "Deferred requests deleted, with their answers, since their result_ttl_ms was over."),
          counts.forgotten),
      one(gauge("spillway_jobs_in_hand",
                "Deferred requests that this proxy has leased: at their upstream, or next."),
          counts.in_hand),
      one(counter("spillway_jobs_lease_lost_total",
                  "Attempts whose end came after the lease was over; it changed nothing."),
          counts.lease_lost),
      oldest(jobs),
      oldest_letter(jobs),
      paused(jobs),
      one(counter("spillway_jobs_recovered_total",
                  "Deferred requests taken over from proxies that ended with them in hand."),
          counts.recovered),
      one(counter("spillway_jobs_replayed_total",
                  "Dead and expired deferred requests that the operator let wait again."),
          counts.replayed),
      by_cause(counter("spillway_jobs_retried_total",
                       "Attempts after which a deferred request waits for another one, by cause."),
               counts.retried),
      one(gauge("spillway_jobs_running", "Deferred requests at their upstream."), counts.running),
      one(gauge("spillway_jobs_running_max", "Most of them at a time since the start."),
          counts.most_running),
      one(counter("spillway_jobs_started_total", "Attempts that got a slot."), counts.started),
      one(counter("spillway_jobs_succeeded_total",
                  "Deferred requests that their upstream has answered without failure."),
          counts.succeeded),
      without_slot(jobs),
  };
  std::ranges::move(store_families(jobs), std::back_inserter(all));
  return all;
}

}  // namespace spillway::observe

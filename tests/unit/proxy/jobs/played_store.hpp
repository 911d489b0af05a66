// A JobDispatcher whose store is played by the test.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jobs/route_capacity.hpp"
#include "proxy/generation/read_configuration.hpp"
#include "proxy/jobs/job_dispatcher.hpp"
#include "proxy/jobs/lease.hpp"
#include "support/proxy_under_test.hpp"

namespace spillway::proxy {

using std::chrono::milliseconds;

inline std::shared_ptr<Generation> generation_of(const nlohmann::json& settings) {
  ReadConfiguration read = resolve_servers(support::checked(settings));
  REQUIRE(read.config);
  const ProcessContext process{.workers = {std::make_shared<observe::WorkerGauges>()}};
  return std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), process);
}

inline std::shared_ptr<Generation> generation_with(const nlohmann::json& defer,
                                                   const std::string& route = "export") {
  return generation_of(support::configuration(
      {"127.0.0.1:1"},
      {{"routes", {{{"name", route}, {"match", {{"path", "/export"}}}, {"defer", defer}}}}}));
}

// So many jobs of that rank have a slot there.
inline void set_running(Upstream& upstream, std::size_t jobs,
                        std::uint8_t rank = jobs::kLowestRank) {
  JobsByRank& running = upstream.running_jobs;
  const auto now = [&] { return running.all() - running.below(rank); };
  while (now() < jobs) running.begin(rank);
  while (now() > jobs) running.end(rank);
}

inline const jobs::Lane kLane{jobs::kLowestRank, "export", TenantId{1}};
inline const jobs::Lane kGone{jobs::kLowestRank, "former", TenantId{1}};

struct Play {
  // `is_shared`: other proxies are on the store.
  explicit Play(const nlohmann::json& defer = nlohmann::json::object(), bool is_shared = false)
      : generation(generation_with(defer)),
        dispatcher({.hand_over = [this](jobs::LeasedJob job,
                                        store::Epoch) { handed.push_back(std::move(job)); },
                    .abort_all = [this] { ++aborts; },
                    .tell =
                        [this](const JobStateChange& change) {
                          told.push_back(change.state);
                          lines.push_back(change);
                        }},
                   counts, "test") {
    if (is_shared) dispatcher.share();
    dispatcher.configure(job_routes(generation));
    ask();
    answer<store::Join>([](store::Join& join) { join.epoch = 7; });
    ask();  // renews nothing yet, sweeps, counts, looks at the lanes
  }

  void ask() {
    commands.clear();
    dispatcher.plan(commands, now, wall);
  }
  template <class Kind>
  bool asked() const {
    return std::any_of(commands.begin(), commands.end(),
                       [](const auto& one) { return std::holds_alternative<Kind>(one); });
  }
  template <class Kind, class Answer>
  void answer(const Answer& fill) {
    for (store::Command& command : commands) {
      auto* const kind = std::get_if<Kind>(&command);
      if (kind == nullptr) continue;
      fill(*kind);
      dispatcher.learn(command, now, wall);
    }
  }
  // As often as it is due; another proxy holds these parts of caps, if any. How often that was. No
  // job waits meanwhile.
  int renew(const jobs::CapParts& others = {}) {
    int renewals = 0;
    for (; asked<store::Renew>(); ++renewals) {
      REQUIRE(renewals < 10);
      answer<store::Renew>([&](store::Renew& renew) {
        parts = renew.parts;
        if (!others.empty()) renew.others[5] = others;
      });
      ask();
      answer<store::Claim>([](const store::Claim&) {});
    }
    return renewals;
  }
  // So many jobs wait in the store, with so many recoveries; answers its claims.
  void pull(std::size_t& waiting, std::uint32_t recoveries = 0) {
    ask();
    answer<store::Claim>([&](store::Claim& claim) {
      while (claim.jobs.size() < claim.limit && waiting > 0) {
        jobs::LeasedJob job;
        job.id.bytes[0] = next_id;
        job.id.bytes[1] = static_cast<std::uint8_t>(++next_id == 0 ? ++page : page);
        job.lane = claim.lane;
        job.progress.recoveries = recoveries;
        claim.jobs.push_back(std::move(job));
        --waiting;
      }
    });
  }
  void see(const jobs::Lane& lane = kLane) {
    store::Command seen = store::Enqueue{};
    std::get<store::Enqueue>(seen).job.lane = lane;
    std::get<store::Enqueue>(seen).job.accepted = wall;
    dispatcher.learn(seen, now, wall);
  }
  void settle(const jobs::LeasedJob& job, jobs::JobState state, bool is_lost = false) {
    store::Command settled = store::Settle{};
    auto& settle = std::get<store::Settle>(settled);
    settle.epoch = 7;
    settle.id = job.id;
    settle.progress.state = state;
    settle.progress.due = wall;
    settle.is_lost = is_lost;
    dispatcher.learn(settled, now, wall);
  }
  // The store says that the lease is over; it is joined again once nothing is in hand.
  void lose_lease() {
    dispatcher.renew_now();
    ask();
    answer<store::Renew>([](store::Renew& renew) { renew.is_lost = true; });
  }
  void join() {
    ask();
    answer<store::Join>([](store::Join& join) { join.epoch = 8; });
  }
  // How often the thread runs in that time. The store knows of jobs in these lanes, and gives none.
  int wakes_in(Duration time, const std::vector<jobs::Lane>& lanes) {
    const TimePoint end = now + time;
    for (int wakes = 0;; ++wakes) {
      const Duration until = dispatcher.next_due(now, wall) - now;
      if (now + until >= end) return wakes;
      pass(std::max(std::chrono::ceil<milliseconds>(until), milliseconds(1)));
      ask();
      answer<store::Lanes>([&](store::Lanes& asked) {
        for (const jobs::Lane& lane : lanes) asked.found.push_back({lane, wall});
      });
      answer<store::Claim>([](const store::Claim&) {});
    }
  }
  // The store says whose the jobs are that it is asked for.
  void say_whose() {
    ask();
    answer<store::Find>([](store::Find& find) {
      find.job.emplace();
      find.job->id = find.id;
      find.job->lane = kLane;
      find.job->tenant_name = "acme";
      find.job->progress.attempts = 2;
    });
  }
  void pass(milliseconds time) {
    now += time;
    wall += time;
  }

  std::shared_ptr<Generation> generation;
  observe::JobCounts counts;
  std::vector<jobs::LeasedJob> handed;
  int aborts = 0;
  std::vector<jobs::JobState> told;
  std::vector<JobStateChange> lines;
  JobDispatcher dispatcher;
  std::vector<store::Command> commands;
  jobs::CapParts parts;  // that it has told last
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  jobs::WallTime wall = jobs::WallTime{} + std::chrono::hours(480000);
  std::uint8_t next_id = 1;
  std::uint8_t page = 0;
};

}  // namespace spillway::proxy

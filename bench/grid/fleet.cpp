#include "bench/grid/fleet.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "bench/grid/play.hpp"
#include "simulate/model/backend_model.hpp"
#include "simulate/model/client_model.hpp"
#include "simulate/model/event_queue.hpp"
#include "simulate/model/proxy_model.hpp"
#include "simulate/model/servers_model.hpp"
#include "simulate/model/traffic_source.hpp"

namespace spillway::grid {
namespace {

using namespace std::chrono_literals;
using simulate::Event;
using simulate::EventKind;
using simulate::ProxyModel;
using simulate::Request;
using simulate::Scenario;
using simulate::ServersModel;

constexpr Milliseconds kTimerPeriod{10};
constexpr std::uint64_t kTimersPerSweep = 5;
constexpr TimePoint kStart = TimePoint{} + 1h;

Scenario with(Scenario scenario, config::Config config, std::uint64_t seed) {
  scenario.config = std::move(config);
  scenario.seed = seed;
  return scenario;
}

// One proxy of the fleet, with random numbers of its own.
struct Member {
  Member(const Scenario& shared, const config::Config& config, std::size_t server_count,
         std::uint64_t seed)
      : scenario(with(shared, config, seed)),
        servers(scenario.config.upstreams.front(), server_count,
                random_stream(seed, simulate::Draws::servers, 0)),
        model(scenario, &servers) {}

  Scenario scenario;
  ServersModel servers;
  ProxyModel model;
};

class FleetLoop {
 public:
  FleetLoop(const Fleet& fleet, const Scenario& shared, const Times& times)
      : fleet_(fleet),
        shared_(shared),
        times_(times),
        clients_(shared_),
        backend_(shared_.backend),
        random_(shared.seed + 77),
        ticks_each_(static_cast<std::uint64_t>(shared.config.upstreams.front().overload.tick /
                                               kTimerPeriod)),
        members_(fleet.proxies.size()),
        in_flight_(backend_.servers()),
        most_(backend_.servers()) {
    run_.offered.resize(members_.size());
    run_.served.resize(members_.size());
    run_.class_offered.resize(3);
    run_.class_served.resize(3);
  }

  FleetRun run() {
    for (const simulate::Change& change : shared_.changes) {
      events_.push({.at = kStart + from_seconds(change.at), .kind = EventKind::change});
      events_.push({.at = kStart + from_seconds(*change.until), .kind = EventKind::change});
    }
    for (std::uint32_t i = 0; i < clients_.processes(); ++i) schedule_arrival(i);
    events_.push({.at = kStart, .kind = EventKind::timer});
    events_.push({.at = kStart + 1s, .kind = EventKind::second});
    const TimePoint end = kStart + std::chrono::seconds(times_.total());
    while (!events_.empty() && events_.next().at <= end) {
      const Event event = events_.pop();
      if (event.request != nullptr && event.request->use != event.request_use) continue;
      now_ = event.at;
      handle(event);
    }
    return std::move(run_);
  }

 private:
  void schedule(TimePoint at, EventKind kind, Request& request) {
    events_.push({.at = at, .kind = kind, .request = &request, .request_use = request.use});
  }
  void schedule_arrival(std::uint32_t process) {
    Request& request = pool_.acquire();
    if (const auto at = clients_.next(process, request))
      schedule(kStart + *at, EventKind::arrival, request);
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::arrival:
        schedule_arrival(clients_.process_of(*event.request));
        arrive(*event.request);
        break;
      case EventKind::completion: complete(*event.request); break;
      case EventKind::gives_up: give_up(*event.request); break;
      case EventKind::slot_due:
        member_of(*event.request).servers.end_abandoned(*event.request);
        member_of(*event.request).model.end_unanswered(*event.request, now_);
        start_waiting(member_of(*event.request));
        break;
      case EventKind::timer: turn(); break;
      case EventKind::change: {
        std::vector<const simulate::Change*> in_force;
        for (const simulate::Change& change : shared_.changes)
          if (seconds() >= change.at && seconds() < *change.until) in_force.push_back(&change);
        backend_.apply(in_force, now_);
        break;
      }
      case EventKind::second: end_second(); break;
      default: break;
    }
  }

  double seconds() const { return to_seconds(now_ - kStart); }
  bool is_measured(const Request& request) const {
    return request.came >= kStart + std::chrono::seconds(times_.warm_up);
  }
  bool takes_part(std::size_t i) const {
    return seconds() >= fleet_.proxies[i].from && seconds() < fleet_.proxies[i].until;
  }
  Member& member_of(const Request& request) { return *members_[proxy_of_[&request]]; }

  // Those that join do so before the next request.
  void join() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i] || !takes_part(i)) continue;
      members_[i] = std::make_unique<Member>(shared_, shared_.config, backend_.servers(),
                                             shared_.seed * 1000 + i);
    }
  }

  // What the proxies do by the clock.
  void turn() {
    join();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!members_[i]) continue;
      ProxyModel& proxy = members_[i]->model;
      while (Request* late = proxy.expire(now_)) expire(*late);
      start_waiting(*members_[i]);
      const std::uint64_t turn = turns_ + (fleet_.in_phase ? 0 : i);
      if (turn % kTimersPerSweep == 0) proxy.sweep(now_);
      if (turn % ticks_each_ != 0) continue;
      const Duration ahead = static_cast<int>(i) * fleet_.clocks_apart;
      if (proxy.tick(now_, {}, ahead) && seconds() >= times_.warm_up) ++run_.transitions;
    }
    ++turns_;
    events_.push({.at = now_ + kTimerPeriod, .kind = EventKind::timer});
  }

  void arrive(Request& request) {
    std::vector<std::size_t>& there = there_;
    there.clear();
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (members_[i] && takes_part(i)) there.push_back(i);
    const std::size_t proxy =
        there[static_cast<std::size_t>(random_.uniform() * static_cast<double>(there.size()))];
    proxy_of_[&request] = proxy;
    request.came = now_;
    request.client_waits = true;
    if (is_measured(request)) {
      ++run_.offered[proxy];
      ++run_.class_offered[index(request.traffic_class)];
    }
    schedule(now_ + *clients_.timeout(request), EventKind::gives_up, request);
    const ProxyModel::Admission admission = members_[proxy]->model.arrive(request, now_);
    if (admission.evicted != nullptr) expire(*admission.evicted);
    if (admission.entry == ProxyModel::Entry::start) start(request);
    if (admission.entry == ProxyModel::Entry::refused) leave(request);
  }

  void start(Request& request) {
    Member& member = member_of(request);
    member.model.start(request, now_);
    member.servers.begin(now_);
    const auto accepts = [this](std::size_t server) { return backend_.accepts(server); };
    if (member.servers.connect(request, accepts, now_) != ServersModel::Connected::yes) {
      member.model.failed(request);
      member.model.end(request, now_);
      leave(request);
      return;
    }
    request.in_backend = true;
    ++in_flight_[request.call.server];
    note_most(request.call.server);
    backend_.arrive(request);
    work();
  }

  void note_most(std::size_t server) {
    if (most_.size() == 1) return;
    std::uint32_t sum = 0;
    for (const auto& member : members_) sum += member ? member->servers.in_flight(server) : 0;
    most_[server] = std::max(most_[server], sum);
  }

  void start_waiting(Member& member) {
    while (Request* next = member.model.next(now_)) start(*next);
  }

  void work() {
    while (const auto begun = backend_.begin_next()) {
      begun->request->begun = now_;
      schedule(now_ + begun->takes, EventKind::completion, *begun->request);
    }
  }

  void complete(Request& request) {
    Member& member = member_of(request);
    backend_.finish(request);
    request.in_backend = false;
    if (request.client_waits) {
      --in_flight_[request.call.server];
      member.model.answered(request, now_);
      member.servers.end(request, resilience::CallResult::success, now_);
      if (is_measured(request)) count_served(request);
    }
    work();
    member.servers.end_abandoned(request);
    request.client_waits ? member.model.end(request, now_)
                         : member.model.end_abandoned(request, now_);
    leave(request);
    start_waiting(member);
  }

  void count_served(const Request& request) {
    ++run_.served[proxy_of_[&request]];
    ++run_.class_served[index(request.traffic_class)];
    if (index(request.traffic_class) == 0)
      run_.latencies.push_back(to_seconds(now_ - request.came));
  }

  void give_up(Request& request) {
    if (!request.client_waits) return;
    Member& member = member_of(request);
    if (request.in_backend) {
      --in_flight_[request.call.server];
    } else {
      member.model.cancel(request, now_);
    }
    member.servers.end(request, resilience::CallResult::ignored, now_);
    const TimePoint until = request.in_backend ? member.model.abandon(request, now_) : now_;
    if (until > now_) {
      member.servers.keep(request);
      schedule(until, EventKind::slot_due, request);
    } else {
      member.model.end(request, now_);
    }
    leave(request);
    start_waiting(member);
  }

  void expire(Request& request) {
    member_of(request).model.expired(request, now_);
    leave(request);
  }

  void leave(Request& request) {
    request.client_waits = false;
    if (!request.in_backend) pool_.release(request);
  }

  void end_second() {
    FleetSecond& second = run_.seconds.emplace_back();
    second.work = backend_.work_done(now_);
    for (std::size_t i = 0; i < members_.size(); ++i)
      second.limits.push_back(members_[i] && takes_part(i) ? members_[i]->model.limit() : 0);
    second.in_flight = in_flight_;
    second.most = std::exchange(most_, std::vector<std::uint32_t>(most_.size()));
    events_.push({.at = now_ + 1s, .kind = EventKind::second});
  }

  const Fleet& fleet_;
  const Scenario& shared_;
  const Times times_;
  simulate::ClientModel clients_;
  simulate::BackendModel backend_;
  Random random_;
  const std::uint64_t ticks_each_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unordered_map<const Request*, std::size_t> proxy_of_;
  std::vector<std::size_t> there_;
  std::vector<std::uint32_t> in_flight_, most_;
  std::uint64_t turns_ = 0;
  simulate::RequestPool pool_;
  simulate::EventQueue events_;
  TimePoint now_ = kStart;
  FleetRun run_;
};

std::size_t first_ones(const Fleet& fleet) {
  return static_cast<std::size_t>(std::count_if(fleet.proxies.begin(), fleet.proxies.end(),
                                                [](const auto& one) { return one.from <= 0; }));
}

}  // namespace

FleetRun play(const Fleet& fleet, const Contender& contender, std::uint64_t seed,
              const Times& times) {
  Scenario shared = scenario(fleet.cell, seed, times);
  if (!fleet.servers.empty()) {
    shared.backend.servers = fleet.servers;
    if (fleet.loses_server) {
      shared.changes.push_back({.at = static_cast<double>(times.begin()),
                                .until = static_cast<double>(times.end(Shape::cut)),
                                .server = static_cast<std::uint32_t>(fleet.servers.size()),
                                .refused_rate = 1});
    }
  }
  Cell told = fleet.cell;
  if (!fleet.servers.empty()) told.slots = 0;
  for (const simulate::Server& server : fleet.servers) told.slots += server.slots;
  told.slots = std::max<std::uint32_t>(
      1, static_cast<std::uint32_t>(told.slots / std::max<std::size_t>(1, first_ones(fleet))));
  shared.config = configuration(contender, told, 0);
  auto& addresses = shared.config.upstreams.front().servers;
  for (std::size_t i = 1; i < fleet.servers.size(); ++i)
    addresses.push_back("127.0.0.1:" + std::to_string(3000 + i));
  return FleetLoop(fleet, shared, times).run();
}

}  // namespace spillway::grid

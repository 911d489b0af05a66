#include "system/soak/soak.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <list>
#include <stdexcept>
#include <thread>

#include "system/soak/clients.hpp"
#include "system/soak/disturbances.hpp"
#include "system/soak/proxy_child.hpp"

namespace spillway::soak {

namespace {

constexpr std::chrono::seconds kMostWarmUp{20};
constexpr Milliseconds kRest{20'000};   // for everything to come to rest
constexpr Milliseconds kDrain{20'000};  // more than drain_timeout_ms
constexpr Milliseconds kLastTraffic{2'000};
constexpr Milliseconds kLook{100};

struct Cast {
  const Kind* kind;
  Tally tally;
};

// Plays sessions of one kind until the scene ends, each from a seed of its own.
void play(Scene& scene, Cast& cast, std::uint64_t seed) {
  for (Random seeds(seed); !scene.ending.is_set();) {
    Player player(scene, cast.tally, cast.kind->name, seeds.next());
    try {
      cast.kind->session(player);
    } catch (const std::runtime_error& error) {
      if (!scene.draining) player.fail(End::wrong, error.what());
      player.pause(50);
    }
  }
}

class Soak {
 public:
  explicit Soak(const Options& options)
      : options_(options),
        settings_file_(options.directory + "/soak.json"),
        proxy_(options.binary, written_settings(), options.directory + "/soak-proxy.log") {
    scene_.port = proxy_.port();
    scene_.admin_port = proxy_.admin_port();
    const std::string page = proxy_.page("/metrics");
    scene_.has_tunnels = has(page, "spillway_tunnels");
    scene_.has_min_rate = has(page, "spillway_slow_clients_total");
    for (const Kind& kind : kinds()) {
      if (options.only.empty() || options.only == kind.name) casts_.emplace_back().kind = &kind;
    }
    result_.seed = options.seed;
    result_.has_tunnels = scene_.has_tunnels;
  }

  Result run() {
    result_.quiet_descriptors_before = proxy_.descriptors();
    {
      Disturbances disturbances(scene_, backends_, proxy_, settings_file_, options_.seed);
      begin_traffic();
      watch();
      end_traffic();
      disturbances.end();
      const Disturbances::Counts& counts = disturbances.counts();
      result_.surges = counts.surges;
      result_.deaths = counts.deaths;
      result_.reloads = counts.reloads;
      result_.bad_reloads = counts.bad_reloads;
    }
    expect_rest();
    expect_balance();
    expect_flatness();
    expect_drain();
    expect_nothing_smuggled();
    note_kinds();
    result_.failure_count = result_.failures.size() + scene_.failures.count();
    for (const std::string& failure : scene_.failures.first()) result_.failures.push_back(failure);
    return result_;
  }

 private:
  std::string written_settings() {
    std::ofstream(settings_file_) << settings(backends_.servers(), Variant::first);
    return settings_file_;
  }

  void begin_traffic() {
    scene_.ending.set(false);
    Random seeds(options_.seed + round_++);
    for (Cast& cast : casts_) {
      for (int n = 0; n < cast.kind->clients; ++n)
        clients_.emplace_back(play, std::ref(scene_), std::ref(cast), seeds.next());
    }
  }

  void end_traffic() {
    scene_.ending.set();
    for (std::thread& client : clients_) client.join();
    clients_.clear();
  }

  // Once a second, after everything is warm.
  void watch() {
    const auto begin = std::chrono::steady_clock::now();
    const auto warm = begin + std::min(kMostWarmUp, options_.duration / 6);
    const auto end = begin + options_.duration;
    for (auto next = warm; next < end; next += std::chrono::seconds{1}) {
      const auto left = next - std::chrono::steady_clock::now();
      if (proxy_.wait(std::chrono::ceil<Milliseconds>(left))) return fail("the proxy has ended");
      const std::string page = proxy_.page("/metrics");
      if (page.empty()) continue;
      const double at = std::chrono::duration<double>(next - begin).count();
      result_.memory.push_back({static_cast<double>(balance_of(page).finished()),
                                static_cast<double>(proxy_.resident_bytes())});
      result_.descriptors.push_back({at, static_cast<double>(proxy_.descriptors())});
    }
  }

  void expect_rest() {
    const Deadline deadline(kRest);
    std::string running = "no metrics";
    while (!running.empty() && !deadline.passed() && !proxy_.wait(kLook)) {
      const std::string page = proxy_.page("/metrics");
      if (!page.empty()) running = still_running(page);
    }
    if (!running.empty()) fail("still running after all clients have left: " + running);
    do {
      result_.quiet_descriptors_after = proxy_.descriptors();
    } while (result_.quiet_descriptors_after > result_.quiet_descriptors_before &&
             !deadline.passed());
    if (result_.quiet_descriptors_after > result_.quiet_descriptors_before)
      fail("files left open: " + std::to_string(result_.quiet_descriptors_before) + " before, " +
           std::to_string(result_.quiet_descriptors_after) + " after");
  }

  void expect_balance() {
    const std::string page = proxy_.page("/metrics");
    result_.balance = balance_of(page);
    result_.is_balance_known = has(page, "spillway_requests_accepted_total");
    if (result_.is_balance_known && result_.balance.accepted != result_.balance.finished())
      fail("the counters do not balance: " + to_text(result_.balance));
    std::uint64_t read = 0;
    for (const Cast& cast : casts_) {
      if (std::string_view(cast.kind->name) != "scrape")
        read += cast.tally.of(End::right) + cast.tally.of(End::prepared);
    }
    if (!scene_.has_tunnels && read > result_.balance.answered)
      fail("clients have read more answers (" + std::to_string(read) + ") than were given");
  }

  void expect_flatness() {
    if (!is_flat(result_.memory))
      fail("memory grows by " + std::to_string(slope(second_half(result_.memory))) +
           " bytes a request");
    if (!is_level(result_.descriptors))
      fail("open files rise by " + std::to_string(slope(second_half(result_.descriptors))) +
           " a second");
  }

  void expect_drain() {
    begin_traffic();
    if (proxy_.wait(kLastTraffic)) fail("the proxy has ended");
    scene_.draining = true;
    proxy_.signal(SIGTERM);
    const auto code = proxy_.wait(kDrain);
    end_traffic();
    if (!code) return fail("still runs long after SIGTERM");
    if (*code != 0) fail("exit code " + std::to_string(*code) + " after SIGTERM");
    if (const std::string complaint = proxy_.complaint(); !complaint.empty())
      fail("in the proxy's log: " + complaint);
  }

  void expect_nothing_smuggled() {
    for (const Backend* backend : {&backends_.calm, &backends_.busy, &backends_.first,
                                   &backends_.second, &backends_.faulty}) {
      for (const std::string& request : backend->smuggled()) fail("reached a backend: " + request);
      result_.backend_requests += backend->requests();
      result_.faults += backend->faults();
    }
  }

  void note_kinds() {
    for (const Cast& cast : casts_) {
      KindResult& kind = result_.kinds.emplace_back();
      kind.name = cast.kind->name;
      for (std::size_t end = 0; end < kEnds; ++end)
        kind.ends.push_back(cast.tally.of(static_cast<End>(end)));
    }
  }

  void fail(const std::string& what) { result_.failures.push_back(what); }

  const Options& options_;
  Result result_;
  Scene scene_;
  Backends backends_;
  std::string settings_file_;
  ProxyChild proxy_;
  std::list<Cast> casts_;
  std::list<std::thread> clients_;
  std::uint64_t round_ = 0;
};

}  // namespace

Result soak(const Options& options) { return Soak(options).run(); }

}  // namespace spillway::soak

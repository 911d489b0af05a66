#include "simulate/scenario/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "simulate/recording/figures.hpp"

namespace spillway::simulate {
namespace {

std::uint32_t scaled(std::uint32_t count, double factor) {
  if (count == 0) return 0;
  const double exact = std::round(count * factor);
  return static_cast<std::uint32_t>(std::clamp(exact, 1.0, 1e6));
}

// Gives each server its part of the backend's slots, at least one. The parts are rounded so that
// their sum is the whole.
void scale_servers(Backend& backend, std::uint32_t former_slots) {
  if (backend.servers.empty()) return;
  const double size = double(backend.slots) / former_slots;
  std::uint32_t former = 0, given = 0;
  for (Server& server : backend.servers) {
    former += server.slots;
    const std::uint32_t so_far = scaled(former, size);
    server.slots = so_far > given ? so_far - given : 1;
    given += server.slots;
  }
  backend.slots = given;
}

// New requests per second, mean over the run.
double mean_rate(const Scenario& scenario, const Clients& clients) {
  const double end = scenario.seconds;
  const double until = std::min(clients.until.value_or(end), end);
  double rate = (clients.rate + clients.ramp_to.value_or(clients.rate)) / 2;
  if (clients.burst) {
    const double on = to_seconds(clients.burst->on), off = to_seconds(clients.burst->off);
    rate *= (off + on * clients.burst->factor) / (on + off);
  }
  if (clients.visit) rate *= clients.visit->pages;
  return rate * std::max(0.0, until - clients.from) / end;
}

// Mean work of a request, relative to the service time.
double tail_weight(const Backend& backend) {
  return 1 + backend.tail_probability * (backend.tail_factor - 1);
}

// The probability that a log-normal time of mean 1 is at most `x`.
double chance_below(double x, double sigma) {
  if (x <= 0) return 0;
  if (sigma <= 0) return x >= 1 ? 1 : 0;
  const double z = (std::log(x) + sigma * sigma / 2) / sigma;
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

// A configured longest wait of the highest class within which hardly any slot comes free. At three
// times the mean time between two free slots, one request in twenty waits in vain.
std::optional<config::Problem> short_wait(const Scenario& scenario) {
  const config::TrafficClass& one = scenario.config.classes.front();
  const Milliseconds wait = std::min(one.max_wait, one.sla);
  const double each = to_seconds(scenario.backend.service) / scenario.backend.slots;
  if (one.stretches || wait == Milliseconds{0} || to_seconds(wait) >= 3 * each) return std::nullopt;
  const bool is_sla = one.sla < one.max_wait;
  return config::Problem{config::element("$.classes", 0) + (is_sla ? ".sla_ms" : ".max_wait_ms"),
                         std::to_string(wait.count()) + " is short where a slot is free every " +
                             latency_text(each) + ": many wait in vain"};
}

// Of the lowest stage that has a threshold.
std::optional<Milliseconds> latency_threshold(const config::Overload& overload) {
  if (overload.stages.empty()) return overload.enter.latency_p95;
  for (const config::Stage& stage : overload.stages) {
    if (stage.enter.latency_p95) return stage.enter.latency_p95;
  }
  return std::nullopt;
}

}  // namespace

std::string resize(Scenario& scenario, std::optional<std::uint32_t> former_concurrency,
                   const Told& told) {
  Backend& backend = scenario.backend;
  const Backend former = backend;
  const config::Concurrency& concurrency =
      scenario.config.upstreams[index(scenario.upstream)].dispatch.concurrency;
  if (concurrency.search) former_concurrency.reset();  // "auto" names no size
  if (told.slots) {
    backend.slots = *told.slots;
  } else if (former_concurrency) {
    backend.slots = scaled(former.slots, double(concurrency.most) / *former_concurrency);
  }
  backend.service = told.service.value_or(backend.service);
  scale_servers(backend, former.slots);
  const double size = double(backend.slots) / former.slots;
  backend.thrash_knee = scaled(former.thrash_knee, size);
  for (Change& change : scenario.changes) {
    if (change.slots) change.slots = scaled(*change.slots, size);
  }
  double rates = size * to_seconds(former.service) / to_seconds(backend.service);
  scenario.proxy.request_us = scaled(scenario.proxy.request_us, 1 / rates);
  if (told.rate) {
    const double planned = size_of(scenario).offered;
    if (planned > 0) rates = *told.rate / planned;
  }
  for (Clients& clients : scenario.clients) {
    clients.rate *= rates;
    if (clients.ramp_to) *clients.ramp_to *= rates;
  }
  if (size == 1 && rates == 1) return "";
  std::string text = "slots x " + fixed(size, 2) + ", rates x " + fixed(rates, 2);
  if (told.any() || !former_concurrency) return text + ": as the command line tells";
  return text + ": to the configuration's concurrency of " + std::to_string(concurrency.most) +
         ", where the scenario was written for " + std::to_string(*former_concurrency);
}

void share_slots(Scenario& scenario, std::size_t servers) {
  Backend& backend = scenario.backend;
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(servers, backend.slots));
  if (!backend.servers.empty() || count < 2) return;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t rest = i < backend.slots % count ? 1 : 0;
    backend.servers.push_back({.slots = backend.slots / count + rest});
  }
  backend.thrash_knee = scaled(backend.thrash_knee, 1.0 / count);
  for (Change& change : scenario.changes) {
    if (change.slots && !change.server) change.slots = scaled(*change.slots, 1.0 / count);
  }
}

Size size_of(const Scenario& scenario) {
  const Backend& backend = scenario.backend;
  Size size{.slots = backend.slots, .service = to_seconds(backend.service)};
  double work = 0;  // number of slots that the offered work keeps busy
  for (const Clients& clients : scenario.clients) {
    const double rate = mean_rate(scenario, clients);
    size.offered += rate;
    work += rate * clients.service_factor * size.service * tail_weight(backend);
  }
  const double most = best_of(backend);
  size.load = work / most;
  size.capacity =
      work > 0 ? size.offered / size.load : most / (size.service * tail_weight(backend));
  return size;
}

double unloaded_p95(const Scenario& scenario) {
  const Backend& backend = scenario.backend;
  const double service = to_seconds(backend.service), tail = backend.tail_probability;
  const double offered = std::max(size_of(scenario).offered, 1e-9);
  const auto below = [&](double seconds) {
    double chance = 0;
    for (const Clients& clients : scenario.clients) {
      const double x = seconds / (service * clients.service_factor);
      chance += mean_rate(scenario, clients) / offered *
                ((1 - tail) * chance_below(x, backend.sigma) +
                 tail * chance_below(x / backend.tail_factor, backend.sigma));
    }
    return chance;
  };
  double low = 0, high = service;
  while (below(high) < 0.95 && high < 1e9) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (below(middle) < 0.95 ? low : high) = middle;
  }
  return high;
}

std::string about(const Size& size) {
  return "backend: " + std::to_string(size.slots) + " slots x " + latency_text(size.service) +
         ", that is " + fixed(size.capacity, 0) +
         " requests/s; offered: " + fixed(size.offered, 0) + " requests/s, " + fixed(size.load, 2) +
         " of it";
}

std::optional<config::Problem> bound_below_slots(const Scenario& scenario) {
  const config::Upstream& upstream = scenario.config.upstreams[index(scenario.upstream)];
  const config::Concurrency& concurrency = upstream.dispatch.concurrency;
  if (!concurrency.search || concurrency.most >= scenario.backend.slots) return std::nullopt;
  return config::Problem{
      config::element("$.upstreams", index(scenario.upstream)) + ".dispatch.concurrency.max",
      std::to_string(concurrency.most) + " is below the backend's " +
          std::to_string(scenario.backend.slots) +
          " slots: no higher limit is tried, the others stay idle"};
}

config::Problems contradictions(const Scenario& scenario, bool knows_slots) {
  const config::Upstream& upstream = scenario.config.upstreams[index(scenario.upstream)];
  const std::string path = config::element("$.upstreams", index(scenario.upstream));
  config::Problems out;
  const std::size_t servers = std::max<std::size_t>(scenario.backend.servers.size(), 1);
  if (servers != upstream.servers.size()) {
    out.push_back({path + ".servers", std::to_string(upstream.servers.size()) + " there, " +
                                          std::to_string(servers) +
                                          " in the scenario, which are played"});
  }
  const config::Concurrency& concurrency = upstream.dispatch.concurrency;
  const std::uint32_t slots = scenario.backend.slots, limit = concurrency.most;
  if (auto bound = bound_below_slots(scenario)) out.push_back(std::move(*bound));
  if (knows_slots && !concurrency.search && limit != slots) {
    out.push_back({path + ".dispatch.concurrency",
                   std::to_string(limit) +
                       (limit > slots ? " is above the backend's " : " is below the backend's ") +
                       std::to_string(slots) + " slots: " +
                       (limit > slots ? "requests queue in the backend, where no class goes first"
                                      : "the others stay idle")});
  }
  const double p95 = unloaded_p95(scenario);
  const auto note = [&](const std::string& key, Milliseconds value, const char* what) {
    if (to_seconds(value) > p95) return;
    out.push_back({path + key, std::to_string(value.count()) + " is not above the " +
                                   latency_text(p95) +
                                   " that 5 % of the modelled backend's "
                                   "answers take even without load: " +
                                   what});
  };
  if (const auto threshold = latency_threshold(upstream.overload)) {
    note(".overload.enter.latency_p95_ms", *threshold, "it says overload at any load");
  }
  if (upstream.overload.mode == config::Mode::shadow) {
    out.push_back({path + ".overload.mode", "shadow: nothing is refused, only counted"});
  }
  note(".response_timeout_ms", upstream.response_timeout, "they are given up");
  if (auto wait = short_wait(scenario)) out.push_back(std::move(*wait));
  for (std::size_t n = 0; n < scenario.config.routes.size(); ++n) {
    const auto& room = scenario.config.routes[n].waiting_room;
    if (!room || room->opening.at.empty()) continue;
    out.push_back({config::element("$.routes", n) + ".waiting_room.opens_at",
                   "the simulated clock is another one: played as open from the beginning"});
  }
  return out;
}

}  // namespace spillway::simulate

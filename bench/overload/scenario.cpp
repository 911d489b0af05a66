#include "bench/overload/scenario.hpp"

#include <algorithm>

#include "bench/load/kinds.hpp"

namespace spillway::bench {
namespace {

constexpr double kQuietShare = 0.05;  // of the capacity: the load of each quiet tenant

const std::vector<Scenario>& all() {
  static const std::vector<Scenario> list{
      {.name = "capacity-known",
       .sentence = "proxies are told the concurrency of the backend",
       .loads = {0.7, 1.2, 2, 4, 6, 10},
       .other_loads = {0.7, 2, 10},
       .others = {"direct", "nginx", "nginx-limit", "nginx-tuned", "haproxy", "spillway-auto"},
       .quick_loads = {2, 10},
       .quick_contenders = {"direct", "haproxy-tuned", "spillway"},
       .judges_purchases = true},
      {.name = "capacity-wrong",
       .sentence = "proxies are told four times the concurrency of the backend",
       .loads = {2, 6},
       .other_loads = {2},
       .others = {"nginx-limit", "nginx-tuned", "spillway-auto"},
       .quick_loads = {2},
       .told = 4},
      {.name = "capacity-low",
       .sentence = "proxies are told a quarter of the concurrency of the backend",
       .loads = {0.7, 2},
       .other_loads = {0.7, 2},
       .others = {"spillway-auto"},
       .quick_loads = {2},
       .told = 0.25},
      {.name = "capacity-cut",
       .sentence = "three of four slots are lost for a while, unknown to the proxies",
       .others = {"direct", "nginx-limit", "nginx-tuned", "spillway-auto"},
       .disturbance = Disturbance{.slots = 0.25}},
      {.name = "slow-down",
       .sentence = "service times triple for a while",
       .others = {"direct", "nginx-limit", "nginx-tuned", "spillway-auto"},
       .disturbance = Disturbance{.speed = 1.0 / 3}},
      {.name = "noisy-tenant",
       .sentence = "ten tenants share P1, and one floods it; Jain's index is over those ten",
       .loads = {2, 6},
       .contenders = {"haproxy-tenants", "spillway"},
       .other_loads = {2},
       .others = {"direct", "nginx-tenants", "haproxy-tuned"},
       .quick_loads = {2},
       .quick_contenders = {"haproxy-tenants", "spillway"},
       .noisy = true},
      {.name = "retry-storm",
       .sentence = "a short stall, and clients that retry five times, half of them without "
                   "regard to Retry-After",
       .disturbance = Disturbance{.speed = 0.1, .seconds = 4, .quick_seconds = 1},
       .retries = {.most = 5, .honouring = 0.5}},
      {.name = "cacheable-reads",
       .sentence =
           "half of the reads are of 100 pages with a max-age of two seconds; P0 alone takes "
           "all of the capacity",
       .loads = {10},
       .contenders = {"nginx-cache", "spillway-degrading"},
       .other_loads = {10},
       .others = {"direct", "spillway-denying"},
       .quick_loads = {10},
       .quick_contenders = {"nginx-cache", "spillway-degrading"},
       .slots = 8,
       .warm_up_load = 0.7,  // fills the stores
       .reads = {.cacheable = 0.5, .pages = 100}},
      {.name = "thrash",
       .sentence = "with more than 32 requests inside the backend gets slower, up to tenfold",
       .loads = {1.2, 2, 10},
       .other_loads = {2},
       .others = {"direct", "nginx-limit", "nginx-tuned", "spillway-auto"},
       .quick_loads = {2},
       .thrash = 32,
       .usual = false},
      {.name = "tail",
       .sentence = "one request of a hundred takes ten times as long",
       .loads = {0.7, 2, 6},
       .other_loads = {2},
       .others = {"nginx-limit", "nginx-tuned"},
       .quick_loads = {2},
       .tail = {.share = 0.01, .factor = 10},
       .usual = false},
  };
  return list;
}

}  // namespace

std::span<const Scenario> scenarios() { return all(); }

const Scenario* find_scenario(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(),
                                  [&](const Scenario& one) { return one.name == name; });
  return found == all().end() ? nullptr : &*found;
}

load::BackendOptions backend_of(const Scenario& scenario, std::uint64_t seed) {
  return {.slots = scenario.slots,
          .service = kService,
          .sigma = kSigma,
          .tail = scenario.tail,
          .thrash = scenario.thrash,
          .seed = seed};
}

double capacity_rps(const Scenario& scenario) {
  const load::ServiceTime service(kService, kSigma, 0, scenario.tail);
  return static_cast<double>(scenario.slots) / to_seconds(service.mean());
}

std::vector<load::Source> sources_of(const Scenario& scenario, double load) {
  if (!scenario.noisy) return load::usual_mix();
  const double purchases = load::kKinds[0].share / load;  // a tenth of the capacity at any load
  std::vector<load::Source> sources{{.kind = 0, .share = purchases}};
  double rest = 1 - purchases;
  for (std::uint8_t tenant = 1; tenant <= kQuietTenants; ++tenant) {
    sources.push_back({.kind = 1, .tenant = tenant, .share = kQuietShare / load});
    rest -= kQuietShare / load;
  }
  sources.push_back({.kind = 1, .tenant = kNoisyTenant, .share = rest});
  return sources;
}

}  // namespace spillway::bench

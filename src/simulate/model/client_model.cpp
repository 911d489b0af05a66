#include "simulate/model/client_model.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace spillway::simulate {
namespace {

constexpr Duration kLongestPause = std::chrono::hours(1);
constexpr double kJitter = 0.5;

}  // namespace

// FNV-1a (Fowler, Noll, Vo).
std::uint64_t tenant_hash(std::string_view name) {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

ClientModel::ClientModel(const Scenario& scenario) : logged_(scenario.logged) {
  kinds_.reserve(scenario.clients.size());
  for (std::uint32_t i = 0; i < scenario.clients.size(); ++i) {
    const Clients& clients = scenario.clients[i];
    kinds_.push_back({clients,
                      TrafficSource(scenario, i),
                      random_stream(scenario.seed, Draws::clients, i),
                      class_of(scenario, clients),
                      clients.timeout,
                      {.base = clients.retry_backoff, .cap = kLongestPause, .jitter = kJitter}});
  }
}

std::optional<Duration> ClientModel::next_logged(Request& request) {
  if (next_logged_ == logged_->size()) return std::nullopt;
  const LoggedArrival& arrival = (*logged_)[next_logged_++];
  begin({.clients = arrival.clients,
         .tenant_id = TenantId{Random(arrival.tenant).next()},
         .work = kinds_[arrival.clients].source.draw_work()},
        request);
  return from_seconds(arrival.at);
}

std::optional<Duration> ClientModel::next(std::uint32_t clients, Request& request) {
  if (logged_) return next_logged(request);
  Kind& kind = kinds_[clients];
  const auto arrival = kind.source.next();
  if (!arrival) return std::nullopt;
  begin({.clients = clients,
         .tenant = arrival->tenant,
         .tenant_id = tenant_id(kind.clients, arrival->tenant),
         .key = arrival->key,
         .work = arrival->work},
        request);
  return from_seconds(arrival->at);
}

std::optional<Duration> ClientModel::pause_before_retry(const Request& request,
                                                        Duration retry_after) {
  Kind& kind = kinds_[request.demand.clients];
  if (request.demand.attempt > kind.clients.retries) return std::nullopt;
  const Duration pause = kind.backoff.delay(request.demand.attempt, kind.random);
  return kind.clients.honours_retry_after ? std::max(pause, retry_after) : pause;
}

void ClientModel::repeat(const Request& request, Request& again) {
  again.demand = request.demand;
  ++again.demand.attempt;
  again.traffic_class = request.traffic_class;
  again.work = request.demand.work;
}

// Draws the client that sends it, and makes `request` the first attempt.
void ClientModel::begin(Demand demand, Request& request) {
  Kind& kind = kinds_[demand.clients];
  const std::uint64_t addresses = kind.clients.addresses;
  const std::uint64_t number = kind.requests++;
  const std::uint64_t of_kind = Random(demand.clients).next();
  demand.address = Random(of_kind + (addresses > 0 ? number % addresses : number)).next();
  demand.is_bad = kind.clients.error_rate > 0 && kind.random.uniform() < kind.clients.error_rate;
  request.demand = demand;
  request.traffic_class = kind.traffic_class;
  request.work = demand.work;
}

// Clients without a tenant name: each request is a separate tenant.
TenantId ClientModel::tenant_id(const Clients& clients, std::uint32_t number) {
  const std::uint64_t name =
      clients.tenant.empty() ? ++anonymous_ : tenant_hash(tenant_name(clients, number));
  return TenantId{Random(name).next()};
}

}  // namespace spillway::simulate

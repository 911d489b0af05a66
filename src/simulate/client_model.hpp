// The modelled clients: arrivals, timeouts and retries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "resilience/backoff.hpp"
#include "simulate/request.hpp"
#include "simulate/scenario.hpp"
#include "simulate/traffic_source.hpp"

namespace spillway::simulate {

class ClientModel {
 public:
  explicit ClientModel(const Scenario& scenario);  // keeps references

  // Fills in the next new request of the scenario's clients number `clients` and returns its
  // arrival time since the start of the run; nullopt: no more.
  std::optional<Duration> next(std::uint32_t clients, Request& request);

  // How long the client waits for an answer; nullopt: without limit.
  std::optional<Milliseconds> timeout(const Request& request) const {
    return kinds_[request.clients].timeout;
  }

  // After a refusal with `retry_after`, or after giving up (zero): the pause before the retry;
  // nullopt: no retry.
  std::optional<Duration> pause_before_retry(const Request& request, Duration retry_after);
  // Makes `again` a retry of `request`.
  static void repeat(const Request& request, Request& again);

 private:
  struct Kind {
    const Clients& clients;
    TrafficSource source;
    Random random;
    ClassId traffic_class{};
    std::optional<Milliseconds> timeout;
    resilience::Backoff backoff;
  };

  TenantId tenant_id(const Clients& clients, std::uint32_t number);

  std::vector<Kind> kinds_;
  std::uint64_t anonymous_ = 0;
};

}  // namespace spillway::simulate

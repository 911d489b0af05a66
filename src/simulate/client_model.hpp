// The modelled clients: when they ask for what, how long they wait, and whether they try again.
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
  explicit ClientModel(const Scenario& scenario);  // which must stay

  // Fills in the next new request of the scenario's clients of this number, and says when it
  // comes, since the beginning of the run; nullopt: no more come.
  std::optional<Duration> next(std::uint32_t clients, Request& request);

  // How long its client waits for an answer; nullopt: for ever.
  std::optional<Milliseconds> timeout(const Request& request) const {
    return kinds_[request.clients].timeout;
  }

  // After a refusal that asked for `retry_after`, or after giving up (zero): the pause before the
  // same is asked for again; nullopt: it is not.
  std::optional<Duration> pause_before_retry(const Request& request, Duration retry_after);
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
  std::uint64_t strangers_ = 0;
};

}  // namespace spillway::simulate

// The modelled clients: arrivals, timeouts and retries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "resilience/backoff.hpp"
#include "simulate/model/request.hpp"
#include "simulate/model/traffic_source.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// The hash of a tenant's name; the same on every machine.
std::uint64_t tenant_hash(std::string_view name);

class ClientModel {
 public:
  explicit ClientModel(const Scenario& scenario);  // keeps references

  // Fills in the next new request of that process (the index of its clients, or 0 with a log) and
  // returns its arrival time since the start of the run; nullopt: no more.
  std::optional<Duration> next(std::uint32_t process, Request& request);

  // The number of arrival processes, each to be passed to next(): one for each kind of clients, or
  // one for a log.
  std::uint32_t processes() const {
    return logged_ ? 1 : static_cast<std::uint32_t>(kinds_.size());
  }
  // The process of a request.
  std::uint32_t process_of(const Request& request) const {
    return logged_ ? 0 : request.demand.clients;
  }

  // How long the client waits for an answer; nullopt: without limit.
  std::optional<Milliseconds> timeout(const Request& request) const {
    return kinds_[request.demand.clients].timeout;
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
    std::uint64_t requests = 0;
  };

  std::optional<Duration> next_logged(Request& request);
  void begin(Demand demand, Request& request);
  TenantId tenant_id(const Clients& clients, std::uint32_t number);

  std::vector<Kind> kinds_;
  std::shared_ptr<const std::vector<LoggedArrival>> logged_;
  std::size_t next_logged_ = 0;
  std::uint64_t anonymous_ = 0;
};

}  // namespace spillway::simulate

// One health check of one server: connects and, if the configuration names a path, asks for it and
// judges the status of the answer. Without a path a connection is enough.
//
// Non-blocking and without a thread of its own: who owns it polls its descriptor for events() until
// deadline() (HealthChecks). A check takes one connection of its own, which no pool or budget
// counts, and at most kMostRead bytes of an answer, whose head has to keep to the same rules as one
// that is relayed. Interim responses (1xx) are passed over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/health_check_result.hpp"
#include "proxy/net/endpoint.hpp"

namespace spillway::proxy {

class HealthProbe {
 public:
  static constexpr std::size_t kMostRead = 4096;

  using Result = observe::HealthCheckResult;

  // Both are referred to.
  HealthProbe(const config::HealthCheck& check, const Endpoint& server);
  HealthProbe(HealthProbe&& other) noexcept;
  HealthProbe& operator=(HealthProbe&&) = delete;
  ~HealthProbe() { end(); }

  // Each of them returns the result once there is one: the check has ended then.
  std::optional<Result> begin(TimePoint now);  // while none is running
  std::optional<Result> on_ready();
  Result give_up();  // at the deadline

  bool is_running() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  short events() const;  // of poll(2), to wait for
  TimePoint deadline() const { return deadline_; }

 private:
  enum class Phase { connecting, asking, reading };

  std::optional<Result> go_on();
  std::optional<Result> ask();
  std::optional<Result> read();
  std::optional<Result> judge();
  Result end_with(Result result);
  void end();

  const config::HealthCheck& check_;
  const Endpoint& server_;
  std::string request_;  // empty: a connection is enough
  int descriptor_ = -1;
  Phase phase_ = Phase::connecting;
  TimePoint deadline_{};
  std::size_t sent_ = 0;
  std::string received_;
};

}  // namespace spillway::proxy

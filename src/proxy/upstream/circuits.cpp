#include "proxy/upstream/circuits.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/upstream/upstream.hpp"
#include "resilience/configured.hpp"

namespace spillway::proxy {

using resilience::CallResult;
using resilience::CircuitBreaker;
using resilience::CircuitState;

Circuits::Call::Call(Call&& other) noexcept
    : allowed_(other.allowed_),
      circuits_(std::exchange(other.circuits_, nullptr)),
      server_(other.server_),
      address_(other.address_),
      call_(other.call_),
      source_(other.source_) {}

Circuits::Call& Circuits::Call::operator=(Call&& other) noexcept {
  if (this == &other) return *this;
  ignore();
  allowed_ = other.allowed_;
  circuits_ = std::exchange(other.circuits_, nullptr);
  server_ = other.server_;
  address_ = other.address_;
  call_ = other.call_;
  source_ = other.source_;
  return *this;
}

void Circuits::Call::answered() {
  if (circuits_ != nullptr && !circuits_->breakers_.empty())
    circuits_->breakers_[server_].answered(call_);
}

void Circuits::Call::fail(observe::ServerFailure kind, std::string_view detail) {
  if (circuits_ == nullptr) return;
  circuits_->count_failure(server_, address_, kind, detail);
  end(CallResult::failure, name(kind));
}

void Circuits::Call::end(CallResult result, std::string_view why) {
  if (circuits_ != nullptr) std::exchange(circuits_, nullptr)->record(*this, result, why);
}

Circuits::Circuits(Upstream& upstream, Random& random, observe::Log& log)
    : upstream_(upstream), random_(random), log_(log) {
  if (!upstream.config.circuit_breaker) return;
  const auto limits = resilience::circuit_breaker_limits(*upstream.config.circuit_breaker);
  for (std::size_t server = 0; server < upstream.endpoints.size(); ++server)
    breakers_.emplace_back(limits);
}

Milliseconds Circuits::time_until_allowed(const Source& source) const {
  if (breakers_.empty()) return Milliseconds{0};
  const TimePoint now = Clock::now();
  Milliseconds least = Milliseconds::max();
  for (const CircuitBreaker& breaker : breakers_) {
    const TimePoint from = breaker.allowed_from(source ? &*source : nullptr);
    if (from <= now) return Milliseconds{0};
    // The result of the probes in progress is unknown, so assume that they fail.
    const Milliseconds left = from != kNever ? std::chrono::ceil<Milliseconds>(from - now)
                                             : upstream_.config.circuit_breaker->open;
    least = std::min(least, left);
  }
  return least;
}

Circuits::Call Circuits::allow(std::size_t server, const Source& source) {
  Call call;
  call.allowed_ = true;
  call.server_ = server;
  if (!breakers_.empty()) {
    call.call_ = breakers_[server].allow(Clock::now(), source ? &*source : nullptr);
    call.allowed_ = call.call_.allowed;
  }
  if (call.allowed_) call.circuits_ = this;
  return call;
}

bool Circuits::lets_through(std::size_t server) const {
  if (!breakers_.empty() && breakers_[server].state() != CircuitState::closed) return false;
  const resilience::ServerSet up = upstream_.servers.up();
  return up.empty() || up.contains(server);
}

bool Circuits::judges_probes() const {
  return std::ranges::any_of(breakers_, &CircuitBreaker::judges_probes);
}

bool Circuits::judges_sources() const {
  return !breakers_.empty() || upstream_.servers.has_suspects();
}

void Circuits::count_failure(std::size_t server, std::size_t address, observe::ServerFailure kind,
                             std::string_view detail) {
  const auto left_out = upstream_.servers.count_failure(server, kind, Clock::now());
  if (!left_out) return;
  const Endpoint& endpoint = upstream_.endpoints[server];
  log_.server_failure({.upstream = upstream_.config.name,
                       .server = endpoint.name,
                       .address = to_text(endpoint.addresses[address]),
                       .kind = kind,
                       .detail = detail,
                       .left_out = *left_out});
}

void Circuits::record(const Call& call, CallResult result, std::string_view why) {
  if (!breakers_.empty()) record_at_breaker(call, result, why);
  if (result == CallResult::ignored || !upstream_.servers.ejection_enabled()) return;
  using resilience::Ejections;
  switch (upstream_.servers.record(call.server_, result == CallResult::failure, call.source_)) {
    case Ejections::Change::none: break;
    case Ejections::Change::ejected:
      log_event(observe::ServerEvent::ejected, call.server_, why);
      break;
    case Ejections::Change::back:
      log_event(observe::ServerEvent::returned, call.server_, why);
      break;
  }
}

void Circuits::record_at_breaker(const Call& call, CallResult result, std::string_view why) {
  CircuitBreaker& breaker = breakers_[call.server_];
  const bool was_closed = breaker.state() == CircuitState::closed;
  breaker.record(call.call_, result, Clock::now(), random_,
                 call.source_ ? &*call.source_ : nullptr);
  const bool is_closed = breaker.state() == CircuitState::closed;
  if (is_closed == was_closed) return;
  upstream_.servers.circuit_changed(call.server_, is_closed);
  if (is_closed) {
    upstream_.open_circuits.fetch_sub(1, std::memory_order_relaxed);
  } else {
    upstream_.open_circuits.fetch_add(1, std::memory_order_relaxed);
  }
  using observe::ServerEvent;
  log_event(is_closed ? ServerEvent::circuit_closed : ServerEvent::circuit_opened, call.server_,
            why);
}

void Circuits::log_event(observe::ServerEvent what, std::size_t server, std::string_view why) {
  log_.server_event(what, upstream_.config.name, upstream_.endpoints[server].name, why);
}

}  // namespace spillway::proxy

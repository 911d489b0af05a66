#include "simulate/model/servers_model.hpp"

#include <algorithm>
#include <utility>

#include "resilience/balance.hpp"
#include "resilience/configured.hpp"

namespace spillway::simulate {

using resilience::AttemptResult;
using resilience::CallResult;
using resilience::ServerSet;

ServersModel::ServersModel(const config::Upstream& settings, std::size_t servers, Random random)
    : settings_(settings),
      all_(ServerSet::first(servers)),
      random_(random),
      ejections_(resilience::ejection_limits(settings.ejection, servers), servers),
      ejects_(resilience::ejection_limits(settings.ejection, servers).max_ejected > 0),
      budget_({.ratio = settings.retries.budget_ratio,
               .min_per_second = settings.retries.budget_per_second}),
      in_flight_(servers),
      shares_(servers),
      ticks_(servers) {
  if (!settings.circuit_breaker) return;
  for (std::size_t i = 0; i < servers; ++i)
    breakers_.emplace_back(resilience::circuit_breaker_limits(*settings.circuit_breaker));
}

ServersModel::Connected ServersModel::connect_in_turn(Request& request, const Accepts& accepts) {
  const std::size_t server = resilience::in_turn(all_, turn_++);
  request.call.server = static_cast<std::uint32_t>(server);
  return accepts(server) ? Connected::yes : Connected::refused;
}

ServersModel::Connected ServersModel::connect(Request& request, const Accepts& accepts,
                                              TimePoint now) {
  RequestCall& call = request.call;
  call.search.begin_attempt(all_);
  ++turn_;
  for (;;) {
    const ServerSet left = call.search.candidates();
    if (left.empty())
      return call.search.is_any_tried() ? Connected::refused : Connected::circuits_open;
    const std::size_t server = choose(left, now);
    call.of_circuit = {.allowed = true};
    if (!breakers_.empty()) call.of_circuit = breakers_[server].allow(now);
    if (!call.of_circuit) {
      call.search.refuse(server);
      continue;
    }
    call.search.try_at(server);
    if (!accepts(server)) {
      call.was_refused = true;
      record(server, call.of_circuit, CallResult::failure, now);
      continue;
    }
    request.call.server = static_cast<std::uint32_t>(server);
    call.is_open = true;
    call.trial = in_flight_.begin(server);
    return Connected::yes;
  }
}

std::size_t ServersModel::choose(ServerSet among, TimePoint now) {
  if (among.size() == 1) return among.front();
  const ServerSet up = among - ejections_.ejected(now);
  const resilience::Rotation rotation = this->rotation(now);
  const resilience::SlotParts parts(slots_, shares_);
  return resilience::choose(
      settings_.balance, up.empty() ? among : up, turn_, random_,
      [&](std::size_t server) { return rotation.load(server, parts, in_flight_.of(server)); });
}

resilience::Rotation ServersModel::rotation(TimePoint now) {
  const ServerSet were_on_trial = std::exchange(on_trial_, ejections_.on_trial(now));
  for (ServerSet rest = on_trial_ - were_on_trial; !rest.empty(); rest.erase(rest.front()))
    in_flight_.begin_trial(rest.front());
  return resilience::Rotation::of(all_, ejections_.ejected(now), on_trial_);
}

// The same as Servers::counted().
resilience::InFlight ServersModel::counted(std::size_t server, std::uint32_t slots) const {
  resilience::InFlight its = in_flight_.of(server);
  if (settings_.overload.mode == config::Mode::shadow)
    its.all = std::min(its.all, resilience::SlotParts(slots, shares_).of(server));
  return its;
}

std::uint32_t ServersModel::usable(std::uint32_t slots, TimePoint now) {
  return rotation(now).usable(slots, resilience::SlotParts(slots, shares_),
                              [&](std::size_t server) { return counted(server, slots); });
}

overload::InRotation ServersModel::in_rotation(std::uint32_t slots, TimePoint now) {
  const resilience::Rotation rotation = this->rotation(now);
  const auto its = [&](std::size_t server) { return counted(server, slots); };
  const std::uint32_t elsewhere = rotation.elsewhere(its);
  return {
      .servers = all_.size(),
      .in = rotation.servers_in(),
      .elsewhere = elsewhere,
      .part = overload::part_in_rotation(
          rotation.usable(slots, resilience::SlotParts(slots, shares_), its), elsewhere, slots)};
}

std::optional<Duration> ServersModel::retry(Request& request, TimePoint due, TimePoint now) {
  RequestCall& call = request.call;
  const config::Retries& settings = settings_.retries;
  const resilience::AttemptFacts facts{.is_body_at_hand = true,
                                       .has_untried_server = call.search.has_untried(),
                                       .retries = call.retries,
                                       .most_retries = settings.attempts,
                                       .pauses = call.pauses,
                                       .due = due};
  const resilience::NextAttempt next =
      next_attempt(AttemptResult::unsent, facts, resilience::retry_backoff(settings), now, random_);
  if (next.kind != resilience::NextAttempt::Kind::retry || !budget_.try_retry(now))
    return std::nullopt;
  ++call.retries;
  ++retries_;
  if (next.pause > Duration{0}) ++call.pauses;
  return next.pause;
}

bool ServersModel::try_job_retry(TimePoint now) {
  if (!budget_.try_background_retry(now)) return false;
  ++retries_;
  return true;
}

void ServersModel::end(Request& request, CallResult result, TimePoint now) {
  if (!request.call.is_open) return;
  request.call.is_open = false;
  in_flight_.end(request.call.server, request.call.trial);
  if (result == CallResult::success) in_flight_.count_success(request.call.server);
  record(request.call.server, request.call.of_circuit, result, now);
}

std::span<const overload::ServerTick> ServersModel::ticks(TimePoint now) {
  const ServerSet in = rotation(now).in;
  for (std::size_t i = 0; i < ticks_.size(); ++i) {
    ticks_[i].succeeded = in_flight_.succeeded(i);
    ticks_[i].in_flight = in_flight_[i];
    ticks_[i].is_in = in.contains(i);
  }
  return ticks_;
}

bool ServersModel::linger(Request& request, TimePoint now) {
  const std::size_t server = request.call.server;
  if (!breakers_.empty() && breakers_[server].state() != resilience::CircuitState::closed)
    return false;
  ServerSet up = all_ - ejections_.ejected(now);
  if (up.empty()) up = all_;
  if (!up.contains(server)) return false;
  const resilience::SlotParts parts(slots_, shares_);
  if (up.size() > 1 && !rotation(now).load(server, parts, in_flight_.of(server)).has_room())
    return false;
  keep(request);
  return true;
}

void ServersModel::keep(Request& request) {
  in_flight_.resume(request.call.server, request.call.trial);
  request.call.lingers = true;
}

void ServersModel::end_abandoned(Request& request) {
  if (std::exchange(request.call.lingers, false))
    in_flight_.end(request.call.server, request.call.trial);
}

void ServersModel::record(std::size_t server, const resilience::CircuitBreaker::Call& call,
                          CallResult result, TimePoint now) {
  if (!breakers_.empty()) breakers_[server].record(call, result, now, random_);
  if (result == CallResult::ignored || !ejects_) return;
  ejections_.record(server, result == CallResult::failure, now);
}

}  // namespace spillway::simulate

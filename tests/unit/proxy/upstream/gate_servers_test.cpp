// The slots of an upstream with several servers.
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <vector>

#include "proxy/net/task.hpp"
#include "proxy/upstream/gate.hpp"
#include "proxy/upstream/servers.hpp"

namespace spillway::proxy {

TEST_CASE("of several servers the slots of those that are lost are granted to none") {
  config::Upstream upstream;
  upstream.servers = {"a:1", "b:1"};
  upstream.health_check.emplace();
  upstream.health_check->healthy_after = upstream.health_check->unhealthy_after = 1;
  Servers servers(upstream);
  const auto check = [&](observe::HealthCheckReason reason) {
    CHECK(servers.record_check(1, {reason, {}}));
  };
  config::Dispatch settings;
  settings.concurrency = 5;
  std::vector<config::TrafficClass> classes(1);
  classes[0].max_queue = 8;
  Gate gate(settings, classes, std::make_shared<Slots>(), true, 0, &servers);
  EventLoop loop;
  Mailbox mailbox(loop);
  std::deque<Ticket> tickets;
  const TimePoint now = Clock::now();
  using Kind = dispatch::Offer::Kind;
  const auto enter = [&] {
    Ticket& ticket = tickets.emplace_back();
    ticket.mailbox = &mailbox;
    return gate.enter(ticket, {}, now).kind;
  };
  const auto leave = [&] { gate.leave(ClassId{0}, std::chrono::milliseconds(1), now); };
  const auto running = [&] {
    observe::UpstreamSnapshot snapshot;
    gate.read_snapshot(snapshot, now);
    return snapshot.inflight;
  };
  for (int n = 0; n < 5; ++n) CHECK(enter() == Kind::granted);
  for (int n = 0; n < 2; ++n) servers.in_flight.begin(1);
  check(observe::HealthCheckReason::refused);
  CHECK(gate.limit() == 5);  // its requests keep their slots
  CHECK(gate.limit_of_all() == 5);
  for (int n = 0; n < 4; ++n) CHECK(enter() == Kind::queued);
  servers.in_flight.end(1, 0);
  leave();  // of the lost server: no slot of the other
  CHECK(running() == 4);
  leave();  // of the other: to a waiter
  CHECK(running() == 4);
  servers.in_flight.end(1, 0);
  leave();
  CHECK(running() == 3);
  CHECK(gate.limit() == 3);
  // A found limit is that of all.
  gate.limit_to(2, now);
  CHECK(gate.limit() == 1);
  gate.limit_to(5, now);
  check(observe::HealthCheckReason::success);
  gate.expire(now);  // as each worker does every 10 ms
  CHECK(running() == 5);
  CHECK(gate.limit() == 5);
  while (running() > 0) leave();
  loop.poll();
}

TEST_CASE("the slots of a server that returns go to requests that wait and not to one that comes") {
  config::Upstream upstream;
  upstream.servers = {"a:1", "b:1"};
  upstream.health_check.emplace();
  upstream.health_check->healthy_after = upstream.health_check->unhealthy_after = 1;
  Servers servers(upstream);
  config::Dispatch settings;
  settings.concurrency = 2;
  std::vector<config::TrafficClass> classes(2);
  classes[0].name = "high";
  for (config::TrafficClass& each : classes) each.max_queue = 8;
  Gate gate(settings, classes, std::make_shared<Slots>(), true, 0, &servers);
  EventLoop loop;
  Mailbox mailbox(loop);
  std::deque<Ticket> tickets;
  const TimePoint now = Clock::now();
  const auto enter = [&](std::uint8_t id) -> Ticket& {
    Ticket& ticket = tickets.emplace_back();
    ticket.mailbox = &mailbox;
    gate.enter(ticket, {.traffic_class = ClassId{id}}, now);
    return ticket;
  };
  using State = dispatch::Waiter::State;
  CHECK(servers.record_check(1, {observe::HealthCheckReason::refused, {}}));
  CHECK(enter(0).state == State::granted);
  const Ticket& waits = enter(0);
  CHECK(waits.state == State::queued);
  CHECK(servers.record_check(1, {observe::HealthCheckReason::success, {}}));
  Ticket& comes = enter(1);
  CHECK(waits.state == State::granted);
  CHECK(comes.state == State::queued);
  CHECK(gate.cancel(comes, now) == Withdrawal::withdrawn);
  for (int n = 0; n < 2; ++n) gate.leave(ClassId{0}, std::chrono::milliseconds(1), now);
  loop.poll();
}

}  // namespace spillway::proxy

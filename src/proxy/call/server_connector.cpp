#include "proxy/call/server_connector.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "http/message/method.hpp"
#include "overload/admission/decide.hpp"
#include "proxy/call/record_result.hpp"

namespace spillway::proxy {

namespace {

// The upstream may have just closed an idle connection. A request that must not be sent twice uses
// only connections that have been idle for less than this.
constexpr Milliseconds kFreshEnough{1000};

// In multiples of connect_timeout_ms: after this time no other server is tried, so that a request
// does not wait for each of many silent servers.
constexpr int kMostConnectTimeouts = 2;

// Between two rounds through all workers in search of an idle connection that can be closed.
constexpr Milliseconds kRoundPause{10};

// Whether closing a connection makes room for another: the local port of a closed one stays in use
// for a minute (TIME_WAIT).
bool frees_by_closing(int error) {
  const auto shortage = local_shortage_of(error);
  return shortage && *shortage != observe::LocalShortage::ports;
}

}  // namespace

ServerConnector::Connected ServerConnector::take_kept(bool fresh_only, TimePoint dispatched) {
  search_.begin_attempt(upstream().servers.all());
  fresh_only_ = fresh_only;
  dispatched_ = dispatched;
  // One turn per request: if skipping a server used up a turn, the next request would get it again.
  turn_ = request_.generation->pool(request_.classification.upstream).next_turn();
  give_up_ = kNever;
  has_timed_out_ = is_short_ = false;
  Connected connected;
  choose(connected);
  return connected;
}

Task<> ServerConnector::connect(Connected& into, const Deadlines& deadlines) {
  while (!into.is_settled()) {
    const Opened opened = co_await open(asked_server_, into, deadlines);
    if (opened != Opened::next_server) co_return;
    choose(into);
  }
}

// Chooses the next server, and takes a kept connection to it if there is one; or sets a fault.
void ServerConnector::choose(Connected& into) {
  UpstreamPool& pool = request_.generation->pool(request_.classification.upstream);
  Circuits& circuits = request_.generation->circuits(request_.classification.upstream);
  for (;;) {
    const resilience::ServerSet left = search_.candidates();
    if (left.empty()) break;
    if (give_up_ != kNever && Clock::now() >= give_up_) {
      has_timed_out_ = true;
      break;
    }
    const std::size_t server =
        upstream().servers.choose(left, turn_, services_.random, upstream().divided_slots());
    into.call = circuits.allow(server, source_for(circuits));
    if (!into.call.allowed()) {
      search_.refuse(server);
      continue;
    }
    search_.try_at(server);
    ++attempts_;
    asked_server_ = server;
    if (fresh_only_) return;
    const Duration max_idle =
        http::is_idempotent(request_.head.method) ? Duration::max() : Duration(kFreshEnough);
    into.connection = pool.take(server, max_idle, dispatched_);
    if (into.connection) into.call.to(into.connection->address());
    return;
  }
  into.fault = fault_after_all();
}

// Opens a new connection, to the address used last or else to the server's next address that does
// not refuse. A name that resolves to both ::1 and 127.0.0.1 usually has a server at only one of
// them.
Task<ServerConnector::Opened> ServerConnector::open(std::size_t server, Connected& into,
                                                    const Deadlines& deadlines) {
  Servers& servers = upstream().servers;
  const std::size_t addresses = upstream().endpoints[server].addresses.size();
  const std::size_t first = servers.address_in_use(server);
  std::optional<std::size_t> refused_by;
  std::size_t short_of = first;
  int refused_with = 0, short_with = 0;
  for (std::size_t n = 0; n < addresses; ++n) {
    const std::size_t address = (first + n) % addresses;
    into.call.to(address);
    const Opened opened = co_await open_to(server, address, into, deadlines);
    if (opened == Opened::done) {
      servers.use_address(server, address);
      upstream().reachable.store(true, std::memory_order_relaxed);
    }
    if (opened == Opened::next_server) servers.leave_address(server, first, address, addresses);
    if (opened != Opened::next_address) co_return opened;
    if (local_shortage_of(error_)) {
      short_of = address;
      short_with = error_;
      continue;
    }
    refused_by = address;
    refused_with = error_;
  }
  if (!refused_by) {
    is_short_ = true;
    count_shortage(short_with, server, short_of);
  } else {
    into.call.to(*refused_by);
    into.call.fail(observe::ServerFailure::refused, describe(refused_with));
  }
  co_return Opened::next_server;
}

Task<ServerConnector::Opened> ServerConnector::open_to(std::size_t server, std::size_t address,
                                                       Connected& into,
                                                       const Deadlines& deadlines) {
  UpstreamPool& pool = request_.generation->pool(request_.classification.upstream);
  pool.make_room();
  if (!upstream().connections.try_open()) {
    // Other requests choose servers meanwhile.
    const resilience::InFlightCount chosen(upstream().servers.in_flight, server);
    co_await reserve_connection();
  }
  const auto& to = upstream().endpoints[server].addresses[address];
  ConnectAttempt attempt = begin_connect(to);
  if (frees_by_closing(attempt.error) && pool.close_one()) attempt = begin_connect(to);
  error_ = attempt.error;
  if (attempt.descriptor < 0) {
    upstream().connections.closed();
    co_return Opened::next_address;
  }
  into.connection = new UpstreamConnection(services_.loop, pool, server, attempt.descriptor,
                                           attempt.connected, address);
  if (!into.connection->open()) {  // the system cannot watch any more sockets
    error_ = ENOSPC;
    into.connection->retire();
    into.connection.reset();
    co_return Opened::next_address;
  }
  if (attempt.connected) co_return Opened::done;
  const Opened opened = co_await await_connected(into, deadlines);
  co_return opened;
}

Task<ServerConnector::Opened> ServerConnector::await_connected(Connected& into,
                                                               const Deadlines& deadlines) {
  const Milliseconds patience = upstream().config.connect_timeout;
  const TimePoint now = Clock::now();
  if (give_up_ == kNever) give_up_ = now + kMostConnectTimeouts * patience;
  const TimePoint due = std::min(now + patience, deadlines.head_due());
  const Wake wake =
      co_await parking_.park({.deadline = due, .client_gone = true}, &into.connection->writable());
  error_ = wake == Wake::ready ? connect_error(into.connection->descriptor()) : 0;
  if (wake == Wake::ready && error_ == 0) co_return Opened::done;
  into.connection->retire();
  into.connection.reset();
  if (wake == Wake::client_gone) {
    into.fault = client_gone();
    co_return Opened::ended;
  }
  has_timed_out_ = wake == Wake::timeout;
  if (has_timed_out_ && Clock::now() >= deadlines.head_due()) {
    into.fault = deadlines.fault_at(Clock::now(), false);
    co_return Opened::ended;
  }
  if (!has_timed_out_) co_return Opened::next_address;
  into.call.fail(observe::ServerFailure::connect_timeout);
  co_return Opened::next_server;
}

void ServerConnector::count_shortage(int error, std::size_t server, std::size_t address) {
  const auto kind = local_shortage_of(error).value_or(observe::LocalShortage::memory);
  const auto left_out = upstream().servers.count_shortage(kind, Clock::now());
  if (!left_out) return;
  const Endpoint& endpoint = upstream().endpoints[server];
  services_.log.local_shortage({.upstream = upstream().config.name,
                                .server = endpoint.name,
                                .address = to_text(endpoint.addresses[address]),
                                .kind = kind,
                                .detail = describe(error),
                                .left_out = *left_out});
}

std::optional<Fault> ServerConnector::fault_after_all() {
  if (!search_.is_any_tried()) {
    const Circuits& circuits = request_.generation->circuits(request_.classification.upstream);
    return circuits_open(circuits.time_until_allowed(source_for(circuits)));
  }
  if (is_short_) return local_shortage();
  upstream().reachable.store(false, std::memory_order_relaxed);
  return cannot_connect(has_timed_out_);
}

std::optional<Fault> ServerConnector::circuits_fault() {
  const Circuits& circuits = request_.generation->circuits(request_.classification.upstream);
  const Milliseconds left = circuits.time_until_allowed(source_for(circuits));
  if (left.count() == 0) return std::nullopt;
  return circuits_open(left);
}

Circuits::Source ServerConnector::source_for(const Circuits& circuits) const {
  if (!circuits.judges_probes()) return std::nullopt;
  return failure_source(request_);
}

// Jitter, so that clients do not retry in phase.
Fault ServerConnector::circuits_open(Milliseconds left) {
  const Milliseconds least{1};  // the time may have passed meanwhile
  return circuit_open(overload::spread_retry_after(std::max(left, least), services_.random));
}

// Waits for a permit of the connection budget. The request holds a slot, so fewer than
// `concurrency` connections are busy elsewhere: some connection is idle, at this worker or another.
Task<> ServerConnector::reserve_connection() {
  const UpstreamId id = request_.classification.upstream;
  UpstreamPool& pool = request_.generation->pool(id);
  for (bool asked = false; !pool.budget().try_open();) {
    if (pool.close_one()) continue;
    // None was found: the idle connection has just been taken, or is being closed.
    if (std::exchange(asked, true)) co_await parking_.park({Clock::now() + kRoundPause});
    services_.owner.close_idle_elsewhere(request_.generation->generation(), id, parking_);
    // The reply is on its way, whatever else wakes the request meanwhile.
    for (Wake wake = Wake::timeout; wake != Wake::ready;) wake = co_await parking_.park({});
  }
}

}  // namespace spillway::proxy

// Which server is asked, and a connection to it.
#include <algorithm>
#include <utility>

#include "http/method.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {

// An idle connection may have been closed by the upstream a moment ago. A request that must not be
// sent twice only uses one that was in use just now.
constexpr Milliseconds kFreshEnough{1000};

// Once so many times connect_timeout_ms were waited no other server is tried: one that does not
// answer is passed by, but a request is not to wait for each of many.
constexpr int kMostConnectTimeouts = 2;

// Between two rounds through all workers for a connection to close.
constexpr Milliseconds kRoundPause{10};

// Asks the other workers, one after the other, to close an idle connection; then wakes `asker`.
void close_one_elsewhere(const Generation& generation, UpstreamId upstream, Worker& home,
                         std::size_t hop, Parking& asker) {
  auto& workers = home.all();
  Worker& next = *workers[(home.number() + hop) % workers.size()];
  // The asker keeps to its generation meanwhile.
  next.loop().post([&generation, &next, &home, &asker, upstream, hop] {
    LocalGeneration* const local = next.find(generation);
    if (&next == &home) {
      asker.wake(Wake::ready);
    } else if (local != nullptr && local->pool(upstream).close_one()) {
      home.loop().post([&asker] { asker.wake(Wake::ready); });
    } else {
      close_one_elsewhere(generation, upstream, home, hop + 1, asker);
    }
  });
}

}  // namespace

// True, and the request has failed, while no server may be asked.
bool Exchange::refused_by_circuits() {
  const Milliseconds left = here_->circuits(subject_.upstream).time_until_allowed();
  return left.count() != 0 && !fail_for_circuits(left);
}

// The crowd does not come back in step.
bool Exchange::fail_for_circuits(Milliseconds left) {
  const Milliseconds least{1};  // the time may be over by now
  return fail(circuit_open(overload::spread_retry_after(std::max(left, least), worker_.random)));
}

// Asks each server once at most, in the order that the balance gives, those tried in vain before
// only when all were; passes by those whose circuit is open. Nothing was sent to a server that
// cannot be connected to, so that the next one may be asked whatever the method. That is no retry.
Task<bool> Exchange::connect(bool fresh_only) {
  Upstream& upstream = here_->upstream(subject_.upstream);
  UpstreamPool& pool = here_->pool(subject_.upstream);
  const Duration max_idle =
      http::is_idempotent(request_.method) ? Duration::max() : Duration(kFreshEnough);
  Circuits& circuits = here_->circuits(subject_.upstream);
  bool is_any_asked = false;
  bool timed_out = false;
  bool is_short = false;
  resilience::ServerSet refused;
  TimePoint give_up = kNever;  // from the first that is waited for
  // One a request: were passing by a server a turn, the next request would be its again.
  const std::uint64_t turn = pool.next_turn();
  for (;;) {
    const auto left = upstream.servers.all() - tried_ - refused;
    if (left.empty()) {
      if (is_any_asked || tried_.empty() || refused == upstream.servers.all()) break;
      tried_ = {};
      continue;
    }
    if (give_up != kNever && Clock::now() >= give_up) {
      timed_out = true;
      break;
    }
    const std::size_t server = upstream.servers.choose(left, turn, worker_.random);
    Circuits::Call call = circuits.allow(server);
    if (!call.allowed()) {
      refused.insert(server);
      continue;
    }
    is_any_asked = true;
    tried_.insert(server);
    note_attempt(server);
    if (!fresh_only) {
      upstream_ = pool.take(server, max_idle, dispatched_);
      if (upstream_) {
        call_ = std::move(call);
        co_return true;
      }
    }
    if (!upstream.connections.try_open()) co_await reserve_connection();
    ConnectAttempt attempt = begin_connect(upstream.endpoints[server]);
    if (is_local_shortage(attempt.error) && pool.close_one())
      attempt = begin_connect(upstream.endpoints[server]);
    if (attempt.descriptor < 0) {
      upstream.connections.closed();
      is_short = is_short || is_local_shortage(attempt.error);
      if (!is_local_shortage(attempt.error))
        call.fail(observe::ServerFailure::refused, describe(attempt.error));
      continue;
    }
    upstream_ =
        new UpstreamConnection(worker_.loop(), pool, server, attempt.descriptor, attempt.connected);
    if (!attempt.connected) {
      const Milliseconds patience = upstream.config.connect_timeout;
      if (give_up == kNever) give_up = Clock::now() + kMostConnectTimeouts * patience;
      watches_client_ = true;
      const Wake wake = co_await parking_.park(head_due(patience), &upstream_->writable());
      watches_client_ = false;
      const int error = wake == Wake::ready ? connect_error(attempt.descriptor) : 0;
      if (wake != Wake::ready || error != 0) {
        timed_out = wake == Wake::timeout;
        upstream_->retire();
        upstream_.reset();
        if (wake == Wake::client_gone) co_return fail(client_gone());
        if (timed_out && Clock::now() >= head_due()) co_return fail(out_of_time());
        if (timed_out) {
          call.fail(observe::ServerFailure::connect_timeout);
        } else {
          call.fail(observe::ServerFailure::refused, describe(error));
        }
        continue;
      }
    }
    upstream.reachable.store(true, std::memory_order_relaxed);
    call_ = std::move(call);
    co_return true;
  }
  if (!is_any_asked) co_return fail_for_circuits(circuits.time_until_allowed());
  if (is_short) {
    upstream.servers.count_shortage();
    co_return fail(local_shortage());
  }
  upstream.reachable.store(false, std::memory_order_relaxed);
  co_return fail(cannot_connect(timed_out));
}

// Waits for a place in the connection budget. We hold a dispatch slot, so fewer than
// `concurrency` connections are busy elsewhere: some connection is idle, here or at another worker.
Task<> Exchange::reserve_connection() {
  UpstreamPool& pool = here_->pool(subject_.upstream);
  for (bool asked = false; !pool.budget().try_open();) {
    if (pool.close_one()) continue;
    // In vain so far: the idle one has just been taken, or is on its way out.
    if (std::exchange(asked, true)) co_await parking_.park(Clock::now() + kRoundPause);
    close_one_elsewhere(here_->generation(), subject_.upstream, worker_, 1, parking_);
    co_await parking_.park(kNever);
  }
}

}  // namespace spillway::proxy

#include "proxy/upstream/upstream_pool.hpp"

#include <algorithm>

namespace spillway::proxy {

UpstreamConnection::UpstreamConnection(EventLoop& loop, UpstreamPool& pool, std::size_t server,
                                       int descriptor, bool is_connected, std::size_t address)
    : Stream(loop, descriptor, is_connected),
      pool_(&pool),
      gauges_(*pool.gauges_),
      server_(server),
      address_(address) {
  gauges_.upstream_connections.add();
  trial_ = pool_->in_flight_.begin(server_);
}

UpstreamConnection::~UpstreamConnection() { retire(); }

void UpstreamConnection::retire() {
  if (retired_) return;
  leave_pool();
  retired_ = true;
  close();
  gauges_.upstream_connections.subtract();
}

void UpstreamConnection::leave_pool() {
  if (pool_ == nullptr) return;
  if (!idle_) pool_->in_flight_.end(server_, trial_);
  pool_->budget_.closed();
  pool_ = nullptr;
}

void UpstreamConnection::become_idle(TimePoint now) {
  idle_since_ = now;
  idle_ = true;
  pool_->in_flight_.end(server_, trial_);
}

void UpstreamConnection::become_busy() {
  UpstreamIdleHook::unlink();
  idle_ = false;
  pool_->budget_.not_idle();
  trial_ = pool_->in_flight_.begin(server_);
}

void UpstreamConnection::close_idle() {
  const UpstreamPtr keep(this);
  become_busy();
  retire();
}

void UpstreamConnection::on_idle_readable() {
  // The callback may be stale: an exchange may already be using the connection again.
  if (!idle_) return;
  char stray;
  // The callback may be stale: queued before the exchange had read its response to the end.
  if (receive({&stray, 1}).status == IoResult::Status::would_block) {
    await_idle();
    return;
  }
  close_idle();
}

bool UpstreamPool::was_seen_quiet(const UpstreamConnection& connection) const {
  return loop_.looks() > connection.looks_when_idle_ && loop_.is_quiet(connection) &&
         !connection.may_have_input();
}

UpstreamPtr UpstreamPool::take(std::size_t server, Duration max_idle, TimePoint now) {
  Idle& idle = idle_[server];
  const auto is_fresh = [&](const UpstreamConnection& one) {
    return now - one.idle_since_ < max_idle;
  };
  while (!idle.empty() && is_fresh(idle.back())) {
    // The one idle longest, if the last one has become idle only since the loop's last look.
    const bool is_last_unseen = loop_.looks() == idle.back().looks_when_idle_;
    UpstreamPtr connection =
        is_last_unseen && is_fresh(idle.front()) ? &idle.front() : &idle.back();
    const bool is_quiet = was_seen_quiet(*connection);
    connection->become_busy();
    if (!is_quiet && connection->has_input()) {
      connection->retire();
      continue;
    }
    connection->reused_ = true;
    return connection;
  }
  return nullptr;
}

void UpstreamPool::give_back(UpstreamPtr connection, TimePoint now) {
  if (!keep_alive_ || budget_.is_over() || !budget_.try_idle()) {
    connection->retire();
    return;
  }
  connection->become_idle(now);
  connection->looks_when_idle_ = loop_.looks();
  connection->await_idle();
  idle_[connection->server_].push_back(*connection);
}

void UpstreamPool::make_room() {
  if (budget_.is_full()) close_one();
}

bool UpstreamPool::close_one() {
  const auto oldest =
      std::min_element(idle_.begin(), idle_.end(), [](const auto& a, const auto& b) {
        if (a.empty() || b.empty()) return !a.empty();
        return a.front().idle_since_ < b.front().idle_since_;
      });
  if (oldest->empty()) return false;
  oldest->front().close_idle();
  return true;
}

void UpstreamPool::close_idle_since(TimePoint before) {
  for (Idle& idle : idle_) {
    while (!idle.empty() && idle.front().idle_since_ < before) idle.front().close_idle();
  }
}

void UpstreamPool::close_idle_to(std::size_t server) {
  Idle& idle = idle_[server];
  while (!idle.empty()) idle.back().close_idle();
}

}  // namespace spillway::proxy

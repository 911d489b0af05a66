#include "proxy/upstream/upstream_pool.hpp"

#include <algorithm>

namespace spillway::proxy {

UpstreamConnection::UpstreamConnection(EventLoop& loop, UpstreamPool& pool, std::size_t server,
                                       int descriptor, bool is_connected)
    : Stream(loop, descriptor, is_connected),
      pool_(&pool),
      gauges_(*pool.gauges_),
      server_(server) {
  gauges_.upstream_connections.add();
  pool_->in_flight_.begin(server_);
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
  if (!idle_) pool_->in_flight_.end(server_);
  pool_->budget_.closed();
  pool_ = nullptr;
}

void UpstreamConnection::become_idle(TimePoint now) {
  idle_since_ = now;
  idle_ = true;
  pool_->in_flight_.end(server_);
}

void UpstreamConnection::become_busy() {
  idle_ = false;
  pool_->budget_.not_idle();
  pool_->in_flight_.begin(server_);
}

void UpstreamConnection::on_idle_readable() {
  // The callback may have been queued for the exchange that uses the connection by now.
  if (!idle_) return;
  char stray;
  // The callback may be stale: queued before the exchange read its response to the end.
  if (receive({&stray, 1}).status == IoResult::Status::would_block) {
    readable();
    return;
  }
  pool_->remove(*this);
}

UpstreamPtr UpstreamPool::take(std::size_t server, Duration max_idle, TimePoint now) {
  auto& idle = idle_[server];
  while (!idle.empty() && now - idle.back()->idle_since_ < max_idle) {
    UpstreamPtr connection = std::move(idle.back());
    idle.pop_back();
    connection->become_busy();
    // End-of-file or stray bytes may have arrived since the last loop turn. Stray bytes would be
    // taken for the response to the next request: another client's.
    if (connection->has_input()) {
      connection->retire();
      continue;
    }
    connection->reused_ = true;
    return connection;
  }
  return nullptr;
}

void UpstreamPool::give_back(UpstreamPtr connection, TimePoint now) {
  if (!keep_alive_ || !budget_.try_idle()) {
    connection->retire();
    return;
  }
  connection->become_idle(now);
  connection->readable();
  idle_[connection->server_].push_back(std::move(connection));
}

bool UpstreamPool::close_one() {
  const auto oldest =
      std::min_element(idle_.begin(), idle_.end(), [](const auto& a, const auto& b) {
        if (a.empty() || b.empty()) return !a.empty();
        return a.front()->idle_since_ < b.front()->idle_since_;
      });
  if (oldest->empty()) return false;
  remove(*oldest->front());
  return true;
}

void UpstreamPool::close_idle_since(TimePoint before) {
  for (auto& idle : idle_) {
    while (!idle.empty() && idle.front()->idle_since_ < before) remove(*idle.front());
  }
}

void UpstreamPool::close_idle_to(std::size_t server) {
  auto& idle = idle_[server];
  while (!idle.empty()) remove(*idle.back());
}

void UpstreamPool::remove(UpstreamConnection& connection) {
  auto& idle = idle_[connection.server_];
  const auto found = std::find(idle.begin(), idle.end(), &connection);
  if (found == idle.end()) return;
  const UpstreamPtr keep = std::move(*found);
  idle.erase(found);
  keep->become_busy();
  keep->retire();
}

}  // namespace spillway::proxy

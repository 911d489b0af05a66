#include "proxy/exchange/tunnel.hpp"

#include <cstring>
#include <utility>

namespace spillway::proxy {

Tunnel::Tunnel(Services& services, TunnelPermit permit, UpstreamPtr upstream,
               Milliseconds idle_timeout)
    : services_(services),
      permit_(std::move(permit)),
      upstream_(std::move(upstream)),
      idle_timeout_(idle_timeout) {}

Tunnel::~Tunnel() { upstream_->retire(); }

void Tunnel::keep_early(std::string_view bytes) {
  if (bytes.empty()) return;
  Block block = services_.large_blocks.take();
  std::memcpy(block.bytes().data(), bytes.data(), bytes.size());
  up_.bytes = {std::move(block), 0, bytes.size()};
}

void Tunnel::start(ClientPtr client) {
  services_.owner.begin(*this);
  client_ = std::move(client);
  permit_.open();
  run();
}

Detached Tunnel::run() {
  frame_ = co_await OwnFrame{};
  auto how = observe::TunnelEnd::finished;
  TimePoint active = services_.now();
  bool has_moved = false;
  for (int round = 1;; ++round) {
    const Step up = move(up_, *client_, *upstream_);
    const Step down = move(down_, *upstream_, *client_);
    if (up == Step::failed || down == Step::failed) {
      how = observe::TunnelEnd::broken;
      break;
    }
    if (up_.ended && down_.ended) break;
    const bool moved = up == Step::moved || down == Step::moved;
    has_moved = has_moved || moved;
    if (moved && round % kRoundsInARow != 0) continue;
    if (std::exchange(has_moved, false)) active = services_.now();
    const Wake wake =
        co_await parking_.park({active + idle_timeout_}, awaited(up_, *client_, *upstream_),
                               awaited(down_, *upstream_, *client_));
    if (wake == Wake::ready) continue;
    how = wake == Wake::timeout ? observe::TunnelEnd::idle : observe::TunnelEnd::broken;
    if (wake == Wake::cancelled) how = observe::TunnelEnd::stopped;
    break;
  }
  close(how);
  services_.owner.end(*this);
}

// Reads only into an empty buffer, which gives backpressure.
Tunnel::Step Tunnel::move(Flow& flow, Stream& from, Stream& to) {
  if (flow.ended) return Step::waits;
  auto& [block, begin, end] = flow.bytes;
  bool moved = false;
  if (flow.empty()) {
    if (!block) block = services_.small_blocks.take();
    const IoResult result = from.receive(block.bytes());
    if (result.status == IoResult::Status::done) {
      begin = 0;
      end = result.bytes;
      moved = true;
    } else {
      if (result.status == IoResult::Status::failed) return Step::failed;
      if (result.status == IoResult::Status::would_block) return Step::waits;
      flow.ended = true;
      to.shutdown_send();
      return Step::moved;
    }
  }
  const IoResult result = to.send({block.bytes().data() + begin, end - begin});
  if (result.status == IoResult::Status::failed) return Step::failed;
  if (result.status == IoResult::Status::done) {
    begin += result.bytes;
    moved = true;
  }
  return moved ? Step::moved : Step::waits;
}

Source* Tunnel::awaited(Flow& flow, Stream& from, Stream& to) {
  if (!flow.empty()) return &to.writable();
  flow.bytes.block.release();
  return flow.ended ? nullptr : &from.readable();
}

void Tunnel::close(observe::TunnelEnd how) {
  if (how == observe::TunnelEnd::broken) {  // a truncated stream must not look complete
    client_->abort();
    upstream_->abort();
  }
  client_->close();
  upstream_->retire();
  permit_.end(how);
}

void Tunnel::abandon() {
  frame_.destroy();
  client_->close();
}

}  // namespace spillway::proxy

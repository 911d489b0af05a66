// A permit to keep a connection open without a slot (tunnel, event stream): one of
// `limits.tunnels`, which all workers share. Taken before a protocol switch is requested or an
// event stream begins; returned at its end, or if the upstream declines. RAII; counts its
// outcome.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

#include "observe/count/tunnel_use.hpp"
#include "proxy/net/capped_counter.hpp"
#include "traffic/client/client_shares.hpp"

namespace spillway::proxy {

// Permits in use, in total and by client. Shared, lock-free; outlives every generation.
class TunnelPermits {
 public:
  using Share = traffic::ClientShares::Share;

  explicit TunnelPermits(SipKey key = {}) : of_clients_(key) {}

  Share& of(const IpAddress& client) { return of_clients_.of(client); }
  // Caps every `limit` at `most`, which follows from the number of connections in force. No cap
  // before the first call.
  void set_most(std::uint32_t most) { most_.store(most, std::memory_order_relaxed); }
  std::uint32_t most(std::uint32_t limit) const {
    return std::min(limit, most_.load(std::memory_order_relaxed));
  }
  // `limit` may change from call to call; permits already taken stay taken. `client`: null, or the
  // owner of the permit. It gets no more than it leaves to others: one alone has half of all, two
  // have a third each (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998). A few more if
  // several workers ask at the same moment.
  bool try_take(std::uint32_t limit, Share* client = nullptr) {
    const std::uint32_t most = this->most(limit);
    const std::uint32_t all = taken_.count();
    if (client != nullptr && all < most && client->taken() >= most - all) return false;
    if (!taken_.try_increment(most)) return false;
    if (client != nullptr) client->add(1);
    return true;
  }
  // With the same `client` as in try_take().
  void give_back(Share* client = nullptr) {
    taken_.decrement();
    if (client != nullptr) client->add(-1);
  }
  std::uint32_t taken() const { return taken_.count(); }

 private:
  CappedCounter taken_;
  std::atomic<std::uint32_t> most_{std::numeric_limits<std::uint32_t>::max()};
  traffic::ClientShares of_clients_;
};

// On its worker's thread only; `counts` are that worker's and outlive it.
class TunnelPermit {
 public:
  TunnelPermit() = default;  // none
  // Owns a permit that has been taken.
  TunnelPermit(TunnelPermits& permits, observe::TunnelCounts& counts,
               TunnelPermits::Share* client = nullptr)
      : permits_(&permits), client_(client), counts_(&counts) {}
  TunnelPermit(TunnelPermit&& other) noexcept
      : permits_(std::exchange(other.permits_, nullptr)),
        client_(other.client_),
        counts_(other.counts_),
        open_(other.open_) {}
  TunnelPermit& operator=(TunnelPermit&& other) noexcept {
    end(observe::TunnelEnd::stopped);
    permits_ = std::exchange(other.permits_, nullptr);
    client_ = other.client_;
    counts_ = other.counts_;
    open_ = other.open_;
    return *this;
  }
  ~TunnelPermit() { end(observe::TunnelEnd::stopped); }

  explicit operator bool() const { return permits_ != nullptr; }
  // The tunnel or event stream begins.
  void open() {
    open_ = true;
    counts_->open.add();
    counts_->asked[index(observe::TunnelResult::opened)].add();
  }
  // Returns the permit. Without open() it counts as declined, whatever `how`.
  void end(observe::TunnelEnd how) {
    if (permits_ == nullptr) return;
    std::exchange(permits_, nullptr)->give_back(client_);
    if (open_) {
      counts_->ended[index(how)].add();  // first, so that readers see it in one of the two
      counts_->open.subtract();
    } else {
      counts_->asked[index(observe::TunnelResult::declined)].add();
    }
  }

 private:
  TunnelPermits* permits_ = nullptr;
  TunnelPermits::Share* client_ = nullptr;  // null: it counts to no client
  observe::TunnelCounts* counts_ = nullptr;
  bool open_ = false;
};

}  // namespace spillway::proxy

// One of the `limits.tunnels` places, which all workers share, for a connection that stays open
// without a dispatch slot: taken before such a one is asked for, given back when it is over or
// does not come about. Counts what became of it.
#pragma once

#include <cstdint>
#include <utility>

#include "observe/tunnel_use.hpp"
#include "proxy/net/capped_counter.hpp"

namespace spillway::proxy {

// How many are taken. Shared, lock-free; outlives every configuration.
class TunnelPermits {
 public:
  // `most` may change from call to call: who has a place keeps it.
  bool try_take(std::uint32_t most) { return taken_.try_increment(most); }
  void give_back() { taken_.decrement(); }
  std::uint32_t taken() const { return taken_.count(); }

 private:
  CappedCounter taken_;
};

// On its worker's thread only; `counts` are that worker's and outlive it.
class TunnelPermit {
 public:
  TunnelPermit() = default;  // none
  // Takes over a place that was taken.
  TunnelPermit(TunnelPermits& places, observe::TunnelCounts& counts)
      : places_(&places), counts_(&counts) {}
  TunnelPermit(TunnelPermit&& other) noexcept
      : places_(std::exchange(other.places_, nullptr)),
        counts_(other.counts_),
        open_(other.open_) {}
  TunnelPermit& operator=(TunnelPermit&& other) noexcept {
    end(observe::TunnelEnd::stopped);
    places_ = std::exchange(other.places_, nullptr);
    counts_ = other.counts_;
    open_ = other.open_;
    return *this;
  }
  ~TunnelPermit() { end(observe::TunnelEnd::stopped); }

  explicit operator bool() const { return places_ != nullptr; }
  // What the place was taken for has come about.
  void open() {
    open_ = true;
    counts_->open.add();
    counts_->asked[index(observe::TunnelResult::opened)].add();
  }
  // Gives the place back; without open() it was for nothing, and `how` says nothing.
  void end(observe::TunnelEnd how) {
    if (places_ == nullptr) return;
    std::exchange(places_, nullptr)->give_back();
    if (open_) {
      counts_->ended[index(how)].add();  // in one of the two whenever somebody looks
      counts_->open.subtract();
    } else {
      counts_->asked[index(observe::TunnelResult::declined)].add();
    }
  }

 private:
  TunnelPermits* places_ = nullptr;
  observe::TunnelCounts* counts_ = nullptr;
  bool open_ = false;
};

}  // namespace spillway::proxy

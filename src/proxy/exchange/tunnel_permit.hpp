// A permit to keep a connection open without a slot (tunnel, event stream): one of
// `limits.tunnels`, which all workers share. Taken before a protocol switch is requested or an
// event stream begins; given back at its end, or if the upstream declines. RAII; counts its
// outcome.
#pragma once

#include <cstdint>
#include <utility>

#include "observe/tunnel_use.hpp"
#include "proxy/net/capped_counter.hpp"

namespace spillway::proxy {

// Permits taken. Shared, lock-free; outlives every generation.
class TunnelPermits {
 public:
  // `most` may change from call to call; permits already taken stay taken.
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
  // Owns a permit that was taken.
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
  // The tunnel or event stream begins.
  void open() {
    open_ = true;
    counts_->open.add();
    counts_->asked[index(observe::TunnelResult::opened)].add();
  }
  // Gives the permit back. Without open() it counts as declined, whatever `how`.
  void end(observe::TunnelEnd how) {
    if (places_ == nullptr) return;
    std::exchange(places_, nullptr)->give_back();
    if (open_) {
      counts_->ended[index(how)].add();  // first: readers see it in one of the two
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

// A request's part in a single flight (cache/store/single_flight.hpp): the first request for a key
// leads and asks the upstream; the others follow, and wait for what it brings without a slot or a
// place in the queue.
//
// RAII: a leader that ends without having said what came of it lets its followers ask for
// themselves.
#pragma once

#include <cstdint>
#include <optional>

#include "cache/store/single_flight.hpp"
#include "proxy/exchange/cache_lookup.hpp"
#include "proxy/exchange/fault.hpp"
#include "proxy/exchange/request_context.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/net/task.hpp"

namespace spillway::proxy {

// A follower, and its way back to its worker.
struct SharedResponse : cache::Follower, Letter {};

class FlightMembership {
 public:
  FlightMembership(Services& services, const RequestContext& request, CacheLookup& lookup,
                   Parking& parking);
  FlightMembership(const FlightMembership&) = delete;
  FlightMembership& operator=(const FlightMembership&) = delete;
  ~FlightMembership();

  struct Joined {
    bool is_stored = false;      // the response is in the cache, and the lookup has taken it
    std::optional<Fault> fault;  // the wait ended the request
  };
  // Leads, or waits for the leader. With neither of both results the request asks the upstream
  // itself.
  Task<Joined> join();
  // Becomes the leader if there is no flight yet; never a follower.
  bool try_lead();

  bool leads() const { return leads_; }
  // It waited for a leader that was refused or failed: as if it had waited at the gate.
  bool has_spent_wait() const { return has_spent_wait_; }

  // The response that others wait for has come, stored or not. Only for a leader.
  void land(cache::Landing how);
  // The request ends with this fault. If only its client left, or had no more time, the
  // follower that waited longest takes over. What the gate refused would be refused to each of them
  // after another wait: they ask for themselves, at once and with what is left of their patience.
  void end(const Fault& fault);

 private:
  Task<std::optional<Fault>> wait_for_landing();
  cache::SingleFlight& flights() const { return lookup_.cache()->flights(); }

  Services& services_;
  const RequestContext& request_;
  CacheLookup& lookup_;
  Parking& parking_;
  SharedResponse follower_;
  std::uint64_t hash_ = 0;  // of the flight
  bool leads_ = false;
  bool is_waiting_ = false;
  bool has_spent_wait_ = false;
};

}  // namespace spillway::proxy

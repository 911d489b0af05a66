// A request's part in a single flight (cache/store/single_flight.hpp): the first request for a key
// leads and asks the upstream; the others follow: they wait for its response, without a slot or a
// ticket.
//
// RAII: if a leader ends without land() or end(), its followers ask the upstream themselves.
#pragma once

#include <cstdint>
#include <optional>

#include "cache/store/single_flight.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

// A follower, delivered through its worker's mailbox.
struct SharedResponse : cache::Follower, Letter {};

// What a leader's fault means for its followers. If its client left or its deadline passed, the
// follower that has waited longest becomes the leader. If the leader was refused, the followers ask
// the upstream themselves at once, with the rest of their max_wait_ms: behind a new leader each
// would wait only to be refused as well.
cache::Landing landing_after(const Fault& fault);

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
  // Leads, or waits for the leader. If both members are empty the request asks the upstream itself.
  Task<Joined> join();
  // Becomes the leader if there is no flight yet; never a follower.
  bool try_lead();

  bool leads() const { return leads_; }
  // It waited for a leader that was refused or failed. That counts as a wait at the gate.
  bool has_spent_wait() const { return has_spent_wait_; }

  // The leader's result for its followers. Does nothing if the request does not lead.
  void land(cache::Landing how);
  // The request ends with this fault: see landing_after(). Does nothing if it does not lead.
  void end(const Fault& fault);

 private:
  Task<std::optional<Fault>> wait_for_landing();
  cache::SingleFlight& flights() const { return lookup_.cache()->flights(); }

  const RequestContext& request_;
  CacheLookup& lookup_;
  Parking& parking_;
  SharedResponse follower_;
  std::uint64_t hash_ = 0;  // hash of the flight's key
  bool leads_ = false;
  bool is_waiting_ = false;
  bool has_spent_wait_ = false;
};

}  // namespace spillway::proxy

// Stores the upstream's response in the route's cache: a copy of the relayed bytes, committed when
// it is complete. Also invalidates (RFC 9111 section 4.4).
#pragma once

#include <optional>
#include <string_view>

#include "cache/store/filling.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/cache/flight_membership.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

class CacheFill {
 public:
  CacheFill(Services& services, const RequestContext& request, CacheLookup& lookup,
            FlightMembership& flight)
      : services_(services), request_(request), lookup_(lookup), flight_(flight) {}

  // Call it with the response's head, before its body. `requested_at`: when the request was sent.
  // `is_lesser`: the upstream was asked to degrade its response.
  void begin(const http::ResponseHead& response, TimePoint requested_at, bool is_lesser);
  bool is_filling() const { return filling_.has_value(); }
  // Appends the next bytes of the content.
  void append(std::string_view content);
  // The response is complete. True if it, or a newer one, is stored.
  bool finish();
  // Drops the response if others need the room: its client is slow.
  void make_room(TimePoint now);
  // Drops the response: another one is sent instead.
  void drop() { filling_.reset(); }

 private:
  bool has_other_validators(const http::ResponseHead& response, bool is_lesser) const;
  bool is_stored_lately(TimePoint now) const;

  Services& services_;
  const RequestContext& request_;
  CacheLookup& lookup_;
  FlightMembership& flight_;
  std::optional<cache::Filling> filling_;
};

}  // namespace spillway::proxy

// The section of /metrics on waiting rooms.
#include <cstdint>
#include <utility>

#include "config/choices.hpp"
#include "observe/metrics/families.hpp"
#include "traffic/trusted_token/trusted_tokens.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using waiting::Counts;

using Room = WaitingRoomSnapshot;

// Calls add_room(room, add) for each waiting room; add(labels, value) adds the room's label.
template <class AddRoom>
MetricFamily of_each(MetricFamily family, const Snapshot& snapshot, AddRoom add_room) {
  for (const Room& room : snapshot.waiting_rooms) {
    add_room(room, [&](Labels labels, auto value) {
      labels.insert(labels.begin(), label("room", room.name));
      add_sample(family, std::move(labels), value);
    });
  }
  return family;
}

// One sample for each waiting room.
template <class Value>
MetricFamily of_rooms(MetricFamily family, const Snapshot& snapshot, Value value) {
  return of_each(std::move(family), snapshot,
                 [&](const Room& room, auto add) { add({}, value(room.counts)); });
}

// The same for values that are counted outside of the room.
MetricFamily of_rooms(MetricFamily family, const Snapshot& snapshot, std::uint64_t Room::*count) {
  return of_each(std::move(family), snapshot,
                 [&](const Room& room, auto add) { add({}, room.*count); });
}

// One sample for each tier of each waiting room.
template <class Value>
MetricFamily of_tiers(MetricFamily family, const Snapshot& snapshot, Value value) {
  return of_each(std::move(family), snapshot, [&](const Room& room, auto add) {
    for (std::size_t n = 0; n < room.tiers.size(); ++n)
      add({label("tier", room.tiers[n])}, value(room.counts.tiers[n]));
  });
}

// One sample for each resource type of each waiting room: at most 16.
template <class Value>
MetricFamily of_types(MetricFamily family, const Snapshot& snapshot, Value value) {
  return of_each(std::move(family), snapshot, [&](const Room& room, auto add) {
    for (const waiting::TypeCounts& type : room.counts.types)
      add({label("type", type.name)}, value(type));
  });
}

MetricFamily limited(const Snapshot& snapshot) {
  return of_each(counter("spillway_waiting_room_limited_total",
                         "Requests answered 429: poll, a ticket was asked after far more often "
                         "than told; join, more tickets for one address than joins_per_second, or "
                         "for one network than network_share."),
                 snapshot, [](const Room& room, auto add) {
                   add({label("what", "poll")}, room.limited_polls);
                   add({label("what", "join")}, room.limited_joins);
                 });
}

MetricFamily visitors(const Snapshot& snapshot) {
  return of_each(gauge("spillway_waiting_room_visitors",
                       "Visitors by state: waiting in line, present (of those, heard of lately), "
                       "processing (called), active (let in), provisional (let in without a wait "
                       "within 60 s, and not seen again yet)."),
                 snapshot, [](const Room& room, auto add) {
                   add({label("state", "waiting")}, room.counts.waiting);
                   add({label("state", "present")}, room.counts.present);
                   add({label("state", "processing")}, room.counts.processing);
                   add({label("state", "active")}, room.counts.active);
                   add({label("state", "provisional")}, room.counts.provisional);
                 });
}

MetricFamily ended(const Snapshot& snapshot) {
  return of_each(counter("spillway_waiting_room_ended_total",
                         "Tickets that ended without a session, and sessions, by cause."),
                 snapshot, [](const Room& room, auto add) {
                   for (std::size_t i = 0; i < waiting::kEndedCount; ++i) {
                     const auto cause = label("cause", name(static_cast<waiting::Ended>(i)));
                     add({label("what", "ticket"), cause}, room.counts.tickets_ended[i]);
                     add({label("what", "session"), cause}, room.counts.sessions_ended[i]);
                   }
                 });
}

MetricFamily estimates(const Snapshot& snapshot) {
  return of_each(counter("spillway_waiting_room_estimate_total",
                         "Calls of visitors that had been told an estimate: within the range that "
                         "was told first, or not. 80 % are meant to be."),
                 snapshot, [](const Room& room, auto add) {
                   add({label("within", "yes")}, room.counts.estimates.within);
                   add({label("within", "no")}, room.counts.estimates.outside);
                 });
}

MetricFamily events(const Snapshot& snapshot) {
  return of_each(counter("spillway_waiting_room_events_total",
                         "Events of tickets that became jobs for the webhook."),
                 snapshot, [](const Room& room, auto add) {
                   for (std::size_t n = 0; n < waiting::kEventCount; ++n)
                     add({label("event", config::name(static_cast<waiting::Event>(n)))},
                         room.events[n]);
                 });
}

MetricFamily events_lost(const Snapshot& snapshot) {
  return of_each(counter("spillway_waiting_room_events_lost_total",
                         "Events that the webhook is not told of: full, too many waited to be "
                         "written down; store, it did not take them."),
                 snapshot, [](const Room& room, auto add) {
                   add({label("cause", "full")}, room.counts.events_lost);
                   add({label("cause", "store")}, room.events_not_written);
                 });
}

MetricFamily unverified(const Snapshot& snapshot) {
  return of_each(
      counter("spillway_waiting_room_unverified_total",
              "Visitors' trusted_tokens that did not count, by source (jwt, cookie) and "
              "reason."),
      snapshot, [](const Room& room, auto add) {
        for (const auto source : traffic::TrustedTokens::kSources) {
          const auto& counts = room.unverified[static_cast<std::size_t>(source)];
          for (std::size_t n = 0; n < counts.size(); ++n) {
            const auto reason = static_cast<traffic::TokenFault>(n);
            add({label("source", traffic::name(source)), label("reason", traffic::name(reason))},
                counts[n]);
          }
        }
      });
}

MetricFamily work(const Snapshot& snapshot) {
  return of_each(counter("spillway_waiting_room_work_total",
                         "Proofs of work for a place (challenge): done; missing; wrong, of another "
                         "stamp or too little."),
                 snapshot, [](const Room& room, auto add) {
                   for (std::size_t n = 0; n < waiting::kWorkCount; ++n)
                     add({label("result", name(static_cast<waiting::Work>(n)))}, room.work[n]);
                 });
}

MetricFamily types_fulfilled(const Snapshot& snapshot) {
  return of_types(counter("spillway_waiting_room_type_fulfilled_total",
                          "Tickets that became sessions, by type of resource."),
                  snapshot, [](const waiting::TypeCounts& type) { return type.fulfilled; });
}

MetricFamily types_waiting(const Snapshot& snapshot) {
  return of_types(gauge("spillway_waiting_room_type_waiting",
                        "Tickets that wait and are not called, by type of resource."),
                  snapshot, [](const waiting::TypeCounts& type) { return type.waiting; });
}

MetricFamily resources(const Snapshot& snapshot) {
  return of_each(gauge("spillway_waiting_room_resources",
                       "Resources by state: free, called (kept for a visitor that is called), "
                       "in_use (by a session)."),
                 snapshot, [](const Room& room, auto add) {
                   for (const waiting::TypeCounts& type : room.counts.types) {
                     add({label("type", type.name), label("state", "free")}, type.free);
                     add({label("type", type.name), label("state", "called")}, type.called);
                     add({label("type", type.name), label("state", "in_use")}, type.in_use);
                   }
                 });
}

}  // namespace

Families waiting_families(const Snapshot& snapshot) {
  if (snapshot.waiting_rooms.empty()) return {};
  return {
      of_rooms(counter("spillway_waiting_room_bypassed_total",
                       "Requests that did not have to wait, by bypass."),
               snapshot, &Room::bypassed),
      of_rooms(counter("spillway_waiting_room_called_total",
                       "Tickets that were called, repeated calls too."),
               snapshot, [](const Counts& counts) { return counts.called; }),
      ended(snapshot),
      of_rooms(counter("spillway_waiting_room_entered_total",
                       "Sessions that began, with a ticket or without."),
               snapshot, [](const Counts& counts) { return counts.entered; }),
      of_rooms(counter("spillway_waiting_room_entries_failed_total",
                       "Sessions taken back because their first response was 5xx: the visitor is "
                       "in line again, at its place."),
               snapshot, [](const Counts& counts) { return counts.entries_failed; }),
      of_rooms(gauge("spillway_waiting_room_estimate_error_ratio",
                     "Learned mean error of the waits that were told first, as a part of the "
                     "wait."),
               snapshot, [](const Counts& counts) { return counts.estimates.error; }),
      estimates(snapshot),
      events_lost(snapshot),
      events(snapshot),
      of_rooms(counter("spillway_waiting_room_joined_total", "Tickets that were made."), snapshot,
               [](const Counts& counts) { return counts.joined; }),
      limited(snapshot),
      of_rooms(counter("spillway_waiting_room_offered_total",
                       "First contacts that were offered a place, where join is offer. How many "
                       "took one: spillway_waiting_room_joined_total."),
               snapshot, &Room::offered),
      of_rooms(gauge("spillway_waiting_room_open", "Whether visitors have to wait."), snapshot,
               [](const Counts& counts) { return counts.entry.is_open ? 1 : 0; }),
      [&] {
        MetricFamily family = gauge("spillway_waiting_room_places_kept",
                                    "Whether places are written down, so that they survive the "
                                    "process. 0: store.url is memory:, or it fails.");
        add_sample(family, {}, snapshot.are_places_kept ? 1 : 0);
        return family;
      }(),
      of_rooms(counter("spillway_waiting_room_refused_total",
                       "Visitors told at the door that there is no place within max_wait_ms."),
               snapshot, [](const Counts& counts) { return counts.refused; }),
      resources(snapshot),
      of_tiers(counter("spillway_waiting_room_tier_fulfilled_total",
                       "Tickets that became sessions, by tier."),
               snapshot, [](const waiting::TierCounts& tier) { return tier.fulfilled; }),
      of_tiers(gauge("spillway_waiting_room_tier_visitors",
                     "Visitors in line, waiting or called, by tier."),
               snapshot, [](const waiting::TierCounts& tier) { return tier.visitors; }),
      types_fulfilled(snapshot),
      types_waiting(snapshot),
      unverified(snapshot),
      of_rooms(counter("spillway_waiting_room_user_refused_total",
                       "Visitors told that their user has per_user tickets or sessions already."),
               snapshot, [](const Counts& counts) { return counts.refused_users; }),
      visitors(snapshot),
      work(snapshot),
  };
}

}  // namespace spillway::observe

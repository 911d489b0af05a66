// Figures of a waiting room for metrics, logs and the admin API: current numbers, and totals since
// it was made. Kept by the same code as the order, so they agree with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

struct TierCounts {
  std::size_t visitors = 0;     // now: waiting or processing
  std::uint64_t fulfilled = 0;  // since the beginning: tickets that became sessions

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.visitors, self.fulfilled);
  }
};

// Visitors that got an estimate and were then called.
struct EstimateCounts {
  std::uint64_t within = 0;   // called within the range that was announced first
  std::uint64_t outside = 0;  // not within it
  double error = 0;           // learned mean error of the median, as a part of the wait

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.within, self.outside, self.error);
  }
};

// The present state of entry.
struct Entry {
  bool is_open = false;                // visitors have to wait
  bool is_overloaded = false;          // the upstream's state at the last tick
  bool is_paced = false;               // at the last tick Backend::pace held back a call
  std::size_t last_minute = 0;         // entries within the last 60 to 61 s
  std::optional<double> per_second{};  // learned while tickets waited

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.is_open, self.is_overloaded, self.is_paced, self.last_minute, self.per_second);
  }
};

// Figures of one type of resource.
struct TypeCounts {
  std::string name;
  std::size_t waiting = 0;      // tickets that are not called
  std::size_t free = 0;         // devices
  std::size_t called = 0;       // devices of tickets that are called
  std::size_t in_use = 0;       // devices of sessions, also devices that a reload removed
  std::uint64_t fulfilled = 0;  // since the beginning: tickets that became sessions
};

struct Counts {
  // Now.
  std::size_t waiting = 0;      // tickets in line that are not called
  std::size_t present = 0;      // those of them that have sent a request lately
  std::size_t processing = 0;   // tickets that are called
  std::size_t active = 0;       // sessions
  std::size_t provisional = 0;  // entries of the last 60 s that are no session yet
  Entry entry;
  std::vector<TypeCounts> types{};

  // Since the beginning.
  std::uint64_t joined = 0;          // tickets made
  std::uint64_t called = 0;          // calls, including repeated ones
  std::uint64_t fulfilled = 0;       // tickets that became sessions
  Milliseconds waited{0};            // by these tickets, in total
  std::uint64_t entered = 0;         // sessions that began, with a ticket or without
  std::uint64_t refused = 0;         // at the door: arrive() and join() that returned `full`
  std::uint64_t refused_users = 0;   // the same, that returned `taken`
  std::uint64_t entries_failed = 0;  // sessions taken back because their first response failed
  std::uint64_t events_lost = 0;     // dropped because TicketEvents was full
  EstimateCounts estimates;
  std::array<TierCounts, kMostTiers> tiers{};               // in the order of Terms::tiers
  std::array<std::uint64_t, kEndedCount> tickets_ended{};   // by Ended
  std::array<std::uint64_t, kEndedCount> sessions_ended{};  // by Ended

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.waiting, self.present, self.processing, self.active, self.provisional, self.entry,
            self.joined, self.called, self.fulfilled, self.waited, self.entered, self.refused,
            self.refused_users, self.entries_failed, self.estimates, self.tiers, self.tickets_ended,
            self.sessions_ended);
  }
};

}  // namespace spillway::waiting

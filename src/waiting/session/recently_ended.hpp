// How tickets and sessions ended lately, for clients that ask, and so that the first pass of a
// session that is over does not begin another one and take another visitor's place.
//
// Bounded: an end is reported for kKept, and stored longer if a first pass is good for longer;
// beyond kMost ends only the latest are stored. Memory is kept for reuse.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "waiting/line/identified_pool.hpp"
#include "waiting/session/pass.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

struct End {
  Ended why = Ended::cancelled;
  Time at{};
  bool was_session = false;  // else it was a ticket

  bool operator==(const End&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.why, self.at, self.was_session);
  }
};

class RecentlyEnded {
 public:
  static constexpr Milliseconds kKept{180'000};
  static constexpr std::size_t kMost = 100'000;

  // If the id has ended before, the last end counts.
  void add(const TicketId& id, const End& end);
  std::optional<End> find(const TicketId& id, Time now) const;
  // Whether it ended at `since` or later.
  bool has_ended(const TicketId& id, Time since) const;
  // Forgets some of the ends that are older than both `kept` and kKept.
  void tick(Time now, Milliseconds kept = {});
  // Whether it was a session, and ended within the last slice.
  bool has_session(const TicketId& id, Time now) const;

  struct Entry {
    TicketId id;
    End end;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.id, self.end);
    }
  };
  // The latest first. `before`: those that ended before this one; none if it is forgotten.
  std::vector<Entry> list(const std::optional<TicketId>& before, std::size_t most, Time now) const;

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    std::vector<Entry> entries;
    if constexpr (!Archive::kReads) entries = self.oldest_first();
    archive(entries);
    if constexpr (Archive::kReads) {
      for (const Entry& entry : entries) self.add(entry.id, entry.end);
    }
  }
  std::vector<Entry> oldest_first() const;

  struct Node {
    TicketId id;
    End end;
    Slot older = kNoSlot;
    Slot newer = kNoSlot;
  };

  // Per tick: visitors wait for an answer meanwhile.
  static constexpr int kForgottenAtOnce = 1024;

  static bool is_kept(const End& end, Time now) { return now - end.at <= kKept; }
  void forget(Slot slot);

  IdentifiedPool<Node> nodes_;
  Slot oldest_ = kNoSlot;
  Slot newest_ = kNoSlot;
};

}  // namespace spillway::waiting

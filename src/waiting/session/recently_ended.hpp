// How tickets and sessions ended lately, so that a client that asks after one is told, and so that
// the first pass of one that is over does not begin another one in the place of somebody else's.
//
// Bounded: an end is told for kKept, and remembered for as long as a first pass is good if that is
// longer; of more than kMost the latest. What it takes is kept for reuse.
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

  // Of an id that has ended before, the last end counts.
  void add(const TicketId& id, const End& end);
  std::optional<End> find(const TicketId& id, Time now) const;
  // Whether it ended then or later.
  bool has_ended(const TicketId& id, Time since) const;
  // Forgets some of those that are older, and older than kKept.
  void tick(Time now, Milliseconds kept = {});
  // The same for a session that was over within the last slice.
  bool has_session(const TicketId& id, Time now) const;

  struct Entry {
    TicketId id;
    End end;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.id, self.end);
    }
  };
  // The latest first; `before`: what comes behind this one, nothing if it is forgotten.
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

  // In a tick: visitors wait for an answer meanwhile.
  static constexpr int kForgottenAtOnce = 1024;

  static bool is_kept(const End& end, Time now) { return now - end.at <= kKept; }
  void forget(Slot slot);

  IdentifiedPool<Node> nodes_;
  Slot oldest_ = kNoSlot;
  Slot newest_ = kNoSlot;
};

}  // namespace spillway::waiting

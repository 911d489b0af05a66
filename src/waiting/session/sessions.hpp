// The sessions of one waiting room: when they end, and whether a pass is used in two places.
//
// A pass has a generation number. One request with the newest pass, if that is at least kRenewAfter
// old, gets the next one; others keep theirs until the browser stores it. A generation counts as
// used from the first report of a request with it, which shows that some client has received it.
//
// Copied: a pass is used more than kInFlight after a newer generation was first reported used. One
// browser cannot do that. Its tabs share one cookie jar, the jar had the newer pass before that was
// used, and each request that begins later sends the newer one; an earlier request has kInFlight to
// arrive, over a slow connection or again over another network. Addresses and connections are not
// compared, so a change from Wi-Fi to mobile does not matter.
//
// If a pass and its copy are both in use, only one of them gets the next pass, and the other goes
// on with the old one. If the next one is not used by kReissueAfter, its response was lost, or a
// copy has it that never takes it. Then each request with the old pass gets the next one, until a
// request comes with that: with the same number, so that a late response cannot set a browser back,
// and dated back so far that its first use is reported. A client that takes passes, and sends a
// request every kReissueAfter - kRenewAfter, has shown it before, so two such clients never have
// the same one. So a copy is found 2 kRenewAfter + kInFlight after their pass was issued, or
// kRenewAfter + kReissueAfter + kInFlight if one of them never takes the next, plus the time
// between their requests. The one exception: a browser keeps an old pass when a response takes over
// 2 kRenewAfter + kReissueAfter to begin while others have renewed the pass twice.
//
// A client that never takes the next pass may in fact be many clients: after kMostReissues
// reissues, each for kReissue, the session ends. The same applies if the ticket is shown for longer
// than a slice: then the first pass may never have arrived, because its response took so long or
// broke, unless a pass was used since.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "waiting/line/deadlines.hpp"
#include "waiting/line/identified_pool.hpp"
#include "waiting/place/place.hpp"
#include "waiting/session/pass.hpp"
#include "waiting/terms/terms.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

// The place in line of a visitor whose session began with a call.
struct Stood {
  Time joined{};
  Priority priority = 0;
  std::uint8_t missed = 0;  // calls
  std::uint8_t failed = 0;  // entries with a failed first response
  bool is_reserved = false;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.joined, self.priority, self.missed, self.failed, self.is_reserved);
  }
};

class Sessions {
 public:
  static constexpr Milliseconds kInFlight{10'000};
  static constexpr Milliseconds kReissueAfter{27'000};
  static constexpr Milliseconds kReissue{30'000};
  static constexpr std::uint32_t kMostReissues = 3;

  std::size_t size() const { return pool_.size(); }
  bool has(const TicketId& id) const { return find(id) != kNoSlot; }
  std::optional<Time> begun(const TicketId& id) const;
  // nullopt: no session has this id.
  std::optional<Place> place_of(const TicketId& id) const;
  // Sessions in the `most` slots from `first` on. Returns the next slot; end_slot(): no more.
  Slot list(Slot first, std::size_t most, std::vector<Place>& places) const;
  Slot end_slot() const { return pool_.end(); }

  // No session has this id yet. `generation`: of the pass that is issued now.
  // `most`: its longest duration; 0: Terms::session_ttl.
  Session begin(const TicketId& id, std::uint32_t generation, Time now, const Terms& terms,
                Milliseconds most = {});
  // The session has just begun: until its visitor's next request it may be taken back.
  void note_stood(const TicketId& id, const Stood& stood);
  // Removes the session. nullopt: there is none that may be taken back.
  std::optional<Stood> take_back(const TicketId& id);
  std::optional<Stood> stood(const TicketId& id) const;
  // From now on no existing session may be taken back.
  void forget_stood();
  // Restores a session that began before this process. Its pass may have any generation. `used`:
  // the time of its last use. No session has this id yet.
  void restore(const TicketId& id, Time begun, Time used, Time now, const Terms& terms,
               Milliseconds most = {});
  // From keep_uses() on: the sessions used since the last call, each once; all at the first call.
  void keep_uses();
  std::vector<TicketId> take_used();
  // The session exists.
  Time end_of(const TicketId& id, const Terms& terms) const {
    return latest_end(pool_[find(id)], terms);
  }
  // The session exists. `copied`: it is removed.
  Renewal use(const TicketId& id, std::uint32_t generation, Time issued, Time now,
              const Terms& terms);
  // It counts as used without a new request. Nothing if there is none.
  void stay(const TicketId& id, Time now, const Terms& terms);
  // The same for all.
  void stay_all(Time now, const Terms& terms);
  // The session exists, and its visitor shows its token from before the first pass: a stamp or a
  // ticket. nullopt: copied, the session is removed.
  std::optional<Session> again(const TicketId& id, Time now, const Terms& terms);
  // false: there is none.
  bool end(const TicketId& id);
  // Ends sessions that are over, by the terms at the time of the last report or now, whichever is
  // later. Calls `ended(TicketId, Ended)` for each.
  template <class OnEnd>
  void expire(Time now, const Terms& terms, const OnEnd& ended) {
    deadlines_.expire(now, [&](Slot slot) {
      const auto over = reason(pool_[slot], now, terms);
      if (over) {
        const TicketId id = pool_[slot].id;
        forget(slot);
        ended(id, *over);
      } else {
        deadlines_.set(slot, due(pool_[slot], terms));
      }
    });
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.pool_, self.deadlines_);
  }

  struct Record {
    TicketId id;
    std::uint32_t newest = 0;    // generation
    std::uint32_t used = 0;      // the newest generation reported; newest or one less
    std::uint32_t reissued = 0;  // how often `newest` was issued again, for kReissue each
    Time begun{};
    Time last_use{};
    Time issued{};             // when `newest` was issued, or the last kReissue of it began
    Time used_since{};         // time of the first report of `used`
    Time used_since_before{};  // the same for the generation before it
    std::optional<Stood> stood;
    std::uint32_t most_ms = 0;  // 0: only Terms::session_ttl
    bool is_in_uses = false;    // in uses_

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.id, self.newest, self.used, self.reissued, self.begun, self.last_use,
              self.issued, self.used_since, self.used_since_before, self.stood, self.most_ms);
    }
  };

  Slot find(const TicketId& id) const { return pool_.find(id); }
  Place place_at(Slot slot) const;
  static Time latest_end(const Record& record, const Terms& terms);
  static Time due(const Record& record, const Terms& terms);
  static std::optional<Ended> reason(const Record& record, Time now, const Terms& terms);
  static bool is_copy(const Record& record, std::uint32_t generation, Time now);
  void note_use(Slot slot, Time now, const Terms& terms);
  void forget(Slot slot);

  IdentifiedPool<Record> pool_;
  Deadlines deadlines_;
  std::optional<std::vector<Slot>> uses_;  // of this process
};

}  // namespace spillway::waiting

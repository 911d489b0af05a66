// The sessions of one waiting room: when they end, and whether a pass is used in two places.
//
// A pass carries a generation. One request that uses the newest one, at least kRenewAfter old, is
// given the next; others keep theirs until the browser stores that. A generation counts as
// used from the first report of a request with it, which shows that some client has received it.
//
// Copied: a pass is used more than kInFlight after a newer generation was first reported used. One
// browser cannot do that. Its tabs share one cookie jar, the jar got the newer pass before it was
// used, and each request that begins after sends the newer one; a request from before has kInFlight
// to arrive, over a slow connection or again over another network. Addresses and connections are
// not compared, so Wi-Fi to mobile changes nothing.
//
// Of a pass and its copy, both in use, only one is given the next pass, and the other goes on with
// the old one. If the next one is not used by kReissueAfter, its response was lost, or a copy has
// it that never takes it. Then each request with the old one gets it, until one comes with it: with
// the same number, so that a late response cannot set a browser back, and as one of an age that is
// reported at its first use. A client that takes passes, and asks every kReissueAfter -
// kRenewAfter, has shown it before, so two that do never have the same. So a copy is found 2
// kRenewAfter + kInFlight after their pass was issued, or kRenewAfter + kReissueAfter + kInFlight
// if one of them never takes the next, plus the time between their requests. The one exception: a
// browser keeps an old pass when a response takes over 2 kRenewAfter + kReissueAfter to begin while
// others have renewed the pass twice.
//
// Whoever never takes the next pass may be many: after kMostReissues the session ends, each of
// which lasts kReissue. The same goes for whoever shows the ticket for longer than a slice. One
// that shows it so late may never have got its first pass, because that response took so long or
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

// Where the visitor stood in line whose session began with a call.
struct Stood {
  Time joined{};
  Priority priority = 0;
  std::uint8_t missed = 0;  // calls
  std::uint8_t failed = 0;  // entries, whose first response was a failure
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
  // nullopt: there is none of that id.
  std::optional<Place> place_of(const TicketId& id) const;
  // Those of the slots from `first`, `most` slots at most. Returns the next one; end(): no more.
  Slot list(Slot first, std::size_t most, std::vector<Place>& places) const;
  Slot end_slot() const { return pool_.end(); }

  // There is none of that id. `generation`: of the pass that is issued now.
  // `most`: it lasts no longer; 0: as Terms::session_ttl.
  Session begin(const TicketId& id, std::uint32_t generation, Time now, const Terms& terms,
                Milliseconds most = {});
  // There is one, which has just begun: until its visitor is seen again it may be taken back.
  void note_stood(const TicketId& id, const Stood& stood);
  // It is no more. nullopt: there is none that may be taken back.
  std::optional<Stood> take_back(const TicketId& id);
  std::optional<Stood> stood(const TicketId& id) const;
  // None may be taken back any more.
  void forget_stood();
  // Restores a session that began before this process. Its pass may have any generation. `used`:
  // the time of its last use. No session has this id yet.
  void restore(const TicketId& id, Time begun, Time used, Time now, const Terms& terms,
               Milliseconds most = {});
  // From then on, those that were used since the last call, each once; in the first call all.
  void keep_uses();
  std::vector<TicketId> take_used();
  // There is one.
  Time end_of(const TicketId& id, const Terms& terms) const {
    return latest_end(pool_[find(id)], terms);
  }
  // There is one. `copied`: it is no more.
  Renewal use(const TicketId& id, std::uint32_t generation, Time issued, Time now,
              const Terms& terms);
  // It is used, though no new request says so. Nothing if there is none.
  void stay(const TicketId& id, Time now, const Terms& terms);
  // The same of all.
  void stay_all(Time now, const Terms& terms);
  // There is one, and its visitor shows what it had before the first pass: a stamp or a ticket.
  // nullopt: copied, it is no more.
  std::optional<Session> again(const TicketId& id, Time now, const Terms& terms);
  // false: there is none.
  bool end(const TicketId& id);
  // Ends what is over, by the terms at the time of the last report or now, whichever is later.
  // `ended(TicketId, Ended)` is called for each.
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
    std::uint32_t used = 0;      // the newest reported; newest or one less
    std::uint32_t reissued = 0;  // how often `newest` was, each for kReissue
    Time begun{};
    Time last_use{};
    Time issued{};             // when `newest` was issued, or the last kReissue of it began
    Time used_since{};         // first report of `used`
    Time used_since_before{};  // and of the one before it
    std::optional<Stood> stood;
    std::uint32_t most_ms = 0;  // 0: Terms::session_ttl alone
    bool is_in_uses = false;    // of this process

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

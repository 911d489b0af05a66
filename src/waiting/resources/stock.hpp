// What a waiting room hands out: which device is with which ticket or session, and what each
// ticket asks for. Nothing of it is in use, nor takes memory, in a room without resources.
//
// A device is given whole: to a ticket when it is called, and to its session from then on. A ticket
// gets the smallest free one that is enough (best fit), so that larger ones are left for those who
// need them.
//
// A device that is free goes to the first in order of those present for whom it is enough
// (WaitingRoom::next_to_call). In one tier no ticket starves: one for which it is enough is passed
// only by those before it, of whom there are finitely many, for later ones come behind it. Each of
// them takes one device at most, and gives it back within its duration. That no small one is
// preferred, however well it would fit, is what keeps this true.
//
// Over several tiers it does not hold. A higher tier with endless demand goes first, and a share of
// a lower one is kept in one account for all sizes (TieredLine::call): calls to small devices can
// use it up, so that it promises a large ticket nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "waiting/line/pool.hpp"
#include "waiting/resources/catalog.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

struct Device {
  std::string name;
  std::string type;
  std::uint8_t group = kGone;  // of the catalog
  bool is_held = false;
  bool is_inside = false;  // by a session
  TicketId holder;
  Wish wish;  // the holder's

  // A reload has removed it; its holder keeps it.
  static constexpr std::uint8_t kGone = 255;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.name, self.type, self.group, self.is_held, self.is_inside, self.holder, self.wish);
  }
};

class Stock {
 public:
  Stock() = default;
  explicit Stock(const Resources& resources);

  const Catalog& catalog() const { return catalog_; }
  bool is_empty() const { return catalog_.is_empty(); }
  const std::vector<Device>& devices() const { return devices_; }

  // Of tickets, by slot. The default where nothing is handed out.
  const Wish& wish(Slot ticket) const;
  void set_wish(Slot ticket, const Wish& wish);

  // Kinds of requirement of that type for which a free device is enough.
  KindSet free_kinds(std::uint8_t type) const;
  std::size_t free(std::uint8_t type) const;
  // The same of those that are enough for a kind.
  std::size_t free(std::uint8_t type, std::uint8_t kind) const;
  // The smallest free one that is enough. false: there is none.
  bool give(const TicketId& holder, const Wish& wish);
  // That one, to a session. false: another one has it. Of a name that is gone: until it is taken
  // back.
  bool give_again(const TicketId& holder, const std::string& name, const Wish& wish);
  void enter(const TicketId& holder);
  // It is free. Nothing if it holds none.
  void take_back(const TicketId& holder);
  // nullptr: it holds none.
  const Device* of(const TicketId& holder) const;

  // A reload: sessions keep what they have, tickets must hold none. Wishes of tickets are to be set
  // anew.
  void change(const Resources& resources);
  // A reload that changes times alone (Resources::hands_out_as): nothing else is touched.
  void set_bounds(const Resources& resources) { catalog_.set_bounds(resources); }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.devices_, self.reached_);
    for (Slot slot = 0; slot < self.reached_ && archive.is_sound(); ++slot) {
      if constexpr (Archive::kReads) self.wishes_.reach(slot);
      archive(self.wishes_[slot]);
      if constexpr (Archive::kReads) {
        if (!self.is_known(self.wishes_[slot])) archive.refuse();
      }
    }
    if constexpr (Archive::kReads) {
      if (!self.index()) archive.refuse();
    }
  }
  void add_devices();
  // false: what was read cannot be.
  bool index();
  bool is_known(const Wish& wish) const;
  void hold(std::uint32_t device, const TicketId& holder, const Wish& wish);

  Catalog catalog_;
  std::vector<Device> devices_;  // those of the catalog in its order, then those that are gone
  std::map<TicketId, std::uint32_t> held_;
  std::vector<std::uint32_t> free_;  // by group
  Blocks<Wish> wishes_;              // by slot of the ticket
  Slot reached_ = 0;                 // of these
};

}  // namespace spillway::waiting

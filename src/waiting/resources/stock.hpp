// The devices of a waiting room: which ticket or session has which device, and what each ticket
// asks for. In a room without resources it is empty and takes no memory.
//
// A device is given whole: to a ticket when it is called, and to its session from then on. A ticket
// gets the smallest free device that meets its requirement (best fit), so that larger ones are left
// for tickets that need them.
//
// A free device goes to the first present ticket in order whose requirement it meets
// (WaitingRoom::next_in_line). Within one tier no ticket starves: only tickets before it can get a
// device that it could use, they are finitely many, since later ones come behind it, and each takes
// at most one device and gives it back within its duration. This holds only because no small
// request is preferred, however well it would fit.
//
// With several tiers it does not hold. A higher tier with endless demand goes first, and the share
// of a lower one is one account for all sizes (TieredLine::call): calls to small devices can use it
// up, so that it guarantees a large ticket nothing.
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
  bool is_inside = false;  // its holder is a session
  TicketId holder;
  Wish wish;  // of its holder

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

  // By slot of the ticket. The default if nothing is handed out.
  const Wish& wish(Slot ticket) const;
  void set_wish(Slot ticket, const Wish& wish);

  // Kinds of requirement of that type that a free device meets.
  KindSet free_kinds(std::uint8_t type) const;
  std::size_t free(std::uint8_t type) const;
  // Only devices that meet a kind.
  std::size_t free(std::uint8_t type, std::uint8_t kind) const;
  // Gives the smallest free device that meets the wish. false: there is none.
  bool give(const TicketId& holder, const Wish& wish);
  // Gives that device to a session. false: another one has it. A device that is no longer
  // configured exists until it is taken back.
  bool give_again(const TicketId& holder, const std::string& name, const Wish& wish);
  void enter(const TicketId& holder);
  // Makes its device free. Nothing if it holds none.
  void take_back(const TicketId& holder);
  // nullptr: it holds none.
  const Device* of(const TicketId& holder) const;

  // A reload: sessions keep their devices; no ticket may hold one. The caller has to set the wishes
  // of tickets again.
  void change(const Resources& resources);
  // A reload that changes only times (Resources::hands_out_as): all else stays.
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
  // false: the devices read from an archive are inconsistent.
  bool index();
  bool is_known(const Wish& wish) const;
  void hold(std::uint32_t device, const TicketId& holder, const Wish& wish);

  Catalog catalog_;
  std::vector<Device> devices_;  // in the catalog's order, then those that are gone
  std::map<TicketId, std::uint32_t> held_;
  std::vector<std::uint32_t> free_;  // by group
  Blocks<Wish> wishes_;              // by slot of the ticket
  Slot reached_ = 0;                 // wishes_ covers the slots below
};

}  // namespace spillway::waiting

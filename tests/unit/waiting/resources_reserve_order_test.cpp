// Reservations where resources are handed out, against a slow model that looks at everything: who
// gets what, while visitors go and come back.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "lab.hpp"

namespace spillway::waiting {
namespace {

// So many may be called while they are away that none is passed over.
Terms lane_terms() {
  Terms terms = lab_with_reservations();
  terms.resources.usual_duration = Milliseconds(60'000);
  return terms;
}

// What the model does with visitors that are away.
enum class LaneRule : std::uint8_t {
  own_place,        // as it is to be
  keeps_resources,  // control: a resource is kept for a called visitor that is away
  goes_behind       // control: a visitor that comes and finds none goes behind all
};

// Every ticket and every device, looked through each time. No call is missed here.
class LaneModel {
 public:
  struct Ticket {
    std::uint64_t number = 0;
    std::uint64_t place = 0;
    Priority priority = 0;
    Ask ask{};
    Time heard{};
    Time fresh_until{};
    bool is_reserved = false;
    bool is_called = false;
    bool is_away = false;
  };
  LaneModel(const Resources& resources, LaneRule rule) : rule_(rule) {
    for (const DeviceGroup& group : resources.groups) {
      for (std::uint32_t n = 1; n <= std::max(group.count, 1U); ++n)
        devices_.push_back(
            {group, group.count == 0 ? group.name : group.name + "-" + std::to_string(n)});
    }
  }
  std::vector<Ticket>& line() { return line_; }
  Ticket* find(std::uint64_t number) {
    const auto at = std::ranges::find(line_, number, &Ticket::number);
    return at == line_.end() ? nullptr : &*at;
  }
  void join(const Ticket& ticket) {
    line_.push_back(ticket);
    line_.back().place = ticket.number;
  }
  void leave(std::uint64_t number) {
    std::erase_if(line_, [&](const Ticket& each) { return each.number == number; });
    give_back(number);
  }
  void hear(Ticket& ticket, Time now) {
    ticket.heard = now;
    if (!ticket.is_called) ticket.is_away = false;
  }
  // Those that were not heard of lately are away, and hold nothing; then calls, in order.
  void tick(Time now) {
    for (Ticket& each : line_) {
      const Time until = each.is_called ? each.fresh_until : each.heard + kLabPoll * 5 / 2;
      if (!each.is_reserved || now < until) continue;
      each.is_away = true;
      if (rule_ != LaneRule::keeps_resources) give_back(each.number);
    }
    for (const char* const type : {"gpu", "scope"}) call_all(type, now);
  }
  void call_all(const std::string& type, Time now) {
    for (Ticket* next = first(true, type); next != nullptr; next = first(true, type)) {
      next->is_called = true;
      next->fresh_until = std::max(next->heard + kLabPoll, now) + kLabPoll / 2 + kComing;
      if (!next->is_away || rule_ == LaneRule::keeps_resources) give(*next);
    }
  }
  // Whether it gets in.
  bool claim(Ticket& ticket, Time now) {
    hear(ticket, now);
    if (!ticket.is_called) return false;
    if (device(ticket.number).empty()) {
      ticket.is_called = ticket.is_away = false;
      if (first(false, ticket.ask.type) != &ticket) {
        if (rule_ == LaneRule::goes_behind) ticket.place = line_.back().number + 1;
        return false;
      }
      give(ticket);
    }
    std::erase_if(line_, [&](const Ticket& each) { return each.number == ticket.number; });
    return true;
  }
  std::string device(std::uint64_t number) const {
    const auto at = std::ranges::find(devices_, std::optional(number), &Device::holder);
    return at == devices_.end() ? std::string() : at->name;
  }
  std::size_t ahead(const Ticket& ticket) const {
    return static_cast<std::size_t>(std::ranges::count_if(line_, [&](const Ticket& each) {
      return each.ask.type == ticket.ask.type && is_before(each, ticket);
    }));
  }

 private:
  struct Device {
    DeviceGroup group;
    std::string name;
    std::optional<std::uint64_t> holder{};
  };
  static bool is_before(const Ticket& one, const Ticket& other) {
    return one.priority != other.priority ? one.priority > other.priority : one.place < other.place;
  }
  static std::uint32_t memory_of(const std::vector<SizeNamed>& sizes) {
    const auto at = std::ranges::find(sizes, "memory_gb", &SizeNamed::name);
    return at == sizes.end() ? 0 : at->value;
  }
  // The smallest free one that is enough.
  Device* free_for(const Ticket& ticket) {
    Device* chosen = nullptr;
    for (Device& each : devices_) {
      const bool is_enough = each.group.type == ticket.ask.type && !each.holder &&
                             memory_of(each.group.sizes) >= memory_of(ticket.ask.sizes);
      if (!is_enough) continue;
      if (chosen == nullptr || memory_of(each.group.sizes) < memory_of(chosen->group.sizes))
        chosen = &each;
    }
    return chosen;
  }
  // The first of them to be called for whom something free is enough.
  Ticket* first(bool counts_away, const std::string& type) {
    Ticket* first = nullptr;
    for (Ticket& each : line_) {
      if (each.ask.type != type || each.is_called || (each.is_away && !counts_away)) continue;
      if (free_for(each) == nullptr) continue;
      if (first == nullptr || is_before(each, *first)) first = &each;
    }
    return first;
  }
  void give(const Ticket& ticket) { free_for(ticket)->holder = ticket.number; }
  void give_back(std::uint64_t number) {
    for (Device& each : devices_) {
      if (each.holder == number) each.holder.reset();
    }
  }

  LaneRule rule_;
  std::vector<Device> devices_;
  std::vector<Ticket> line_;
};

// What has happened, so that the comparison is one of all that may happen.
struct LaneCourse {
  int differing = 0;
  int away_called = 0;
  int came_to_nothing = 0;
  int came_and_got = 0;
  int lost_by_going = 0;  // called at its page, and gone then
};

// Visitors that go and come back at random.
class LanePlay {
 public:
  LanePlay(std::uint64_t seed, LaneRule rule)
      : lab_(lane_terms()), model_(lane_terms().resources, rule), random_(seed) {}

  LaneCourse play(std::uint64_t steps) {
    for (std::uint64_t number = 1; number <= steps; ++number) {
      if (chance(0.3) && model_.line().size() < 40) join(number);
      while (!inside_.empty() && chance(0.15)) leave_one();
      visit();
      lab_.tick();
      const auto before = model_.line();
      model_.tick(lab_.now);
      for (const LaneModel::Ticket& each : before) {
        const LaneModel::Ticket& now = *model_.find(each.number);
        course_.away_called += !each.is_called && now.is_called && now.is_away;
        course_.lost_by_going += each.is_called && !each.is_away && now.is_away;
      }
      compare();
    }
    return course_;
  }

 private:
  bool chance(double part) { return random_.uniform() < part; }
  void join(std::uint64_t number) {
    LaneModel::Ticket ticket{.number = number,
                             .priority = static_cast<Priority>(chance(0.2) ? 1 : 0),
                             .ask = chance(0.8) ? ask_for("gpu", chance(0.3) ? 64 : 1, kHour)
                                                : ask_for("scope", 0, kHour),
                             .heard = lab_.now};
    ticket.is_reserved = chance(0.6);
    REQUIRE(lab_.join(number, ticket.ask, ticket.priority).door == Door::wait);
    if (ticket.is_reserved) REQUIRE(lab_.room.reserve(id_of(number), lab_.now)->is_granted);
    model_.join(ticket);
    is_gone_[number] = false;
  }
  void leave_one() {
    const auto at =
        static_cast<std::size_t>(random_.uniform() * static_cast<double>(inside_.size()));
    lab_.leave(inside_[at]);
    model_.leave(inside_[at]);
    inside_.erase(inside_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // Those at their pages ask, and come in when they are called.
  void visit() {
    const auto all = model_.line();
    for (const LaneModel::Ticket& each : all) {
      bool& is_gone = is_gone_[each.number];
      if (each.is_reserved && chance(is_gone ? 0.01 : 0.03)) is_gone = !is_gone;
      if (is_gone) continue;
      LaneModel::Ticket& ticket = *model_.find(each.number);
      if (!each.is_called) {
        lab_.room.hear(id_of(each.number), lab_.now);
        model_.hear(ticket, lab_.now);
        continue;
      }
      const bool had_none = model_.device(each.number).empty();
      const bool is_in = model_.claim(ticket, lab_.now);
      course_.differing += lab_.enter(each.number) != is_in;
      if (is_in) inside_.push_back(each.number);
      if (had_none) ++(is_in ? course_.came_and_got : course_.came_to_nothing);
    }
    for (const std::uint64_t each : inside_) lab_.room.stay(id_of(each), lab_.now);
  }
  void compare() {
    for (const LaneModel::Ticket& each : model_.line()) {
      const auto report = lab_.room.inspect(id_of(each.number), lab_.now);
      if (!report) {
        ++course_.differing;
        continue;
      }
      course_.differing += (report->view.state == TicketState::processing) != each.is_called;
      course_.differing += report->view.ahead != model_.ahead(each);
      course_.differing += report->is_away != each.is_away;
      course_.differing += lab_.device(each.number) != model_.device(each.number);
    }
  }

  Lab lab_;
  LaneModel model_;
  Random random_;
  std::map<std::uint64_t, bool> is_gone_;
  std::vector<std::uint64_t> inside_;
  LaneCourse course_;
};

}  // namespace

TEST_CASE("resources go to whom a slow model gives them, while visitors go and come back") {
  LaneCourse all;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const LaneCourse course = LanePlay(seed, LaneRule::own_place).play(10'000);
    CHECK(course.differing == 0);
    all.away_called += course.away_called;
    all.came_to_nothing += course.came_to_nothing;
    all.came_and_got += course.came_and_got;
    all.lost_by_going += course.lost_by_going;
  }
  MESSAGE("called while away " << all.away_called << ", came to nothing " << all.came_to_nothing
                               << ", came and got one " << all.came_and_got
                               << ", lost one by going " << all.lost_by_going);
  CHECK(all.away_called > 200);
  CHECK(all.came_to_nothing > 100);
  CHECK(all.came_and_got > 20);
  CHECK(all.lost_by_going > 10);
}

TEST_CASE("control: the comparison finds a resource that is kept, and a place that is lost") {
  CHECK(LanePlay(1, LaneRule::keeps_resources).play(2'000).differing > 0);
  CHECK(LanePlay(1, LaneRule::goes_behind).play(2'000).differing > 0);
}

}  // namespace spillway::waiting

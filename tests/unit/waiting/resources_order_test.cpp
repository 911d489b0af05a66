// Who gets which device, against a slow model that looks at everything; and that a large
// requirement does not starve, with a rule as control under which it does.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "lab.hpp"

namespace spillway::waiting {
namespace {

constexpr Priority kLow = 0;
constexpr Priority kHigh = 1;

// Seven kinds of device of two types, most of which are neither larger nor smaller than another.
Resources many_kinds() {
  Resources resources;
  resources.groups = {{"gpu", "a", 3, {{"memory_gb", 16}, {"cores", 4}}},
                      {"gpu", "b", 2, {{"memory_gb", 32}, {"cores", 2}}},
                      {"gpu", "c", 1, {{"memory_gb", 64}, {"cores", 8}}},
                      {"gpu", "d", 1, {{"cores", 64}}},
                      {"scope", "e", 2, {{"mhz", 100}}},
                      {"scope", "f", 1, {{"mhz", 500}, {"memory_gb", 1}}},
                      {"scope", "g", 1, {}}};
  resources.duration = {Milliseconds(1000), 24 * kHour};
  resources.usual_duration = 24 * kHour;
  return resources;
}

// Every ticket and every device, looked through each time.
class Model {
 public:
  explicit Model(const Resources& resources) {
    for (const DeviceGroup& group : resources.groups) {
      for (std::uint32_t n = 1; n <= group.count; ++n)
        devices_.push_back({group, group.name + "-" + std::to_string(n), std::nullopt});
    }
    for (const Device& device : devices_) {
      for (const SizeNamed& size : device.group.sizes)
        largest_[size.name] = std::max(largest_[size.name], size.value);
    }
  }
  struct Ticket {
    std::uint64_t number;
    Priority priority;
    Ask ask;
  };
  void join(const Ticket& ticket) { waiting_.push_back(ticket); }
  void leave(std::uint64_t number) {
    std::erase_if(waiting_, [&](const Ticket& each) { return each.number == number; });
    for (Device& device : devices_) {
      if (device.holder == number) device.holder.reset();
    }
  }
  // The first in order that something free meets gets the smallest of these, until there is none.
  void hand_out() {
    std::ranges::stable_sort(waiting_, std::greater{}, &Ticket::priority);
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      Device* chosen = nullptr;
      for (Device& device : devices_) {
        if (device.holder || !meets(device, at->ask)) continue;
        if (chosen == nullptr || weight(device) < weight(*chosen)) chosen = &device;
      }
      if (chosen == nullptr) {
        ++at;
        continue;
      }
      chosen->holder = at->number;
      at = waiting_.erase(at);
    }
  }
  std::string device(std::uint64_t number) const {
    for (const Device& device : devices_) {
      if (device.holder == number) return device.name;
    }
    return {};
  }
  bool could_meet(const Ask& ask) const {
    return std::ranges::any_of(devices_, [&](const Device& each) { return meets(each, ask); });
  }
  std::size_t ahead(const Ticket& ticket) const {
    std::size_t ahead = 0;
    for (const Ticket& each : waiting_) {
      if (each.ask.type != ticket.ask.type || each.number == ticket.number) continue;
      const bool is_before = each.number < ticket.number;
      ahead += each.priority > ticket.priority || (each.priority == ticket.priority && is_before);
    }
    return ahead;
  }
  const std::vector<Ticket>& waiting() const { return waiting_; }

 private:
  struct Device {
    DeviceGroup group;
    std::string name;
    std::optional<std::uint64_t> holder;
  };
  static std::uint32_t size_of(const Device& device, const std::string& name) {
    for (const SizeNamed& size : device.group.sizes) {
      if (size.name == name) return size.value;
    }
    return 0;
  }
  static bool meets(const Device& device, const Ask& ask) {
    return device.group.type == ask.type &&
           std::ranges::all_of(ask.sizes, [&](const SizeNamed& each) {
             return size_of(device, each.name) >= each.value;
           });
  }
  double weight(const Device& device) const {
    double sum = 0;
    for (const SizeNamed& size : device.group.sizes)
      sum += static_cast<double>(size.value) / largest_.at(size.name);
    return sum;
  }

  std::vector<Device> devices_;
  std::vector<Ticket> waiting_;
  std::map<std::string, std::uint32_t> largest_;
};

Ask some_ask(Random& random) {
  Ask ask{.type = random.uniform() < 0.6 ? "gpu" : "scope"};
  const auto add = [&](const char* name, double most) {
    if (random.uniform() < 0.4)
      ask.sizes.push_back({name, static_cast<std::uint32_t>(std::exp2(random.uniform() * most))});
  };
  add("memory_gb", 7);
  add("cores", 6.5);
  if (ask.type == "scope") add("mhz", 9.5);
  return ask;
}

struct Differences {
  int doors = 0;
  int devices = 0;
  int positions = 0;
};

// `device`: what the room is compared with in place of what the model says.
template <class Expect>
Differences compare(std::uint64_t seed, int steps, const Expect& expect) {
  Terms terms = lab_terms();
  terms.resources = many_kinds();
  terms.tiers.list[0] = {kHigh, 0};
  terms.tiers.list[1] = {kLow, 0};
  terms.tiers.count = 2;
  Lab lab(terms);
  Model model(terms.resources);
  Random random(seed);
  Differences found;
  std::vector<std::uint64_t> inside;
  for (std::uint64_t number = 1; number <= static_cast<std::uint64_t>(steps); ++number) {
    const Model::Ticket ticket{number, random.uniform() < 0.3 ? kHigh : kLow, some_ask(random)};
    const auto contact = lab.join(number, ticket.ask, ticket.priority);
    found.doors += (contact.door == Door::wait) != model.could_meet(ticket.ask);
    if (contact.door == Door::wait) {
      model.join(ticket);
      found.positions += contact.view->ahead != model.ahead(ticket);
    }
    while (!inside.empty() && random.uniform() < 0.55) {
      const auto at =
          static_cast<std::size_t>(random.uniform() * static_cast<double>(inside.size()));
      lab.leave(inside[at]);
      model.leave(inside[at]);
      inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (random.uniform() < 0.05 && !model.waiting().empty()) {
      const std::uint64_t gone = model.waiting().front().number;
      lab.leave(gone);
      model.leave(gone);
    }
    const std::vector<Model::Ticket> before = model.waiting();
    for (const Model::Ticket& each : before) lab.room.hear(id_of(each.number), lab.now);
    lab.tick();
    model.hand_out();
    for (const Model::Ticket& each : before) {
      const std::string device = lab.device(each.number);
      found.devices += device != expect(model.device(each.number));
      if (!device.empty() && lab.enter(each.number)) inside.push_back(each.number);
    }
    for (const std::uint64_t each : inside) lab.room.stay(id_of(each), lab.now);
  }
  return found;
}

}  // namespace

TEST_CASE("each device goes to whom a slow obvious model gives it, and positions agree") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Differences found = compare(seed, 4'000, [](std::string device) { return device; });
    CHECK(found.doors == 0);
    CHECK(found.devices == 0);
    CHECK(found.positions == 0);
  }
}

TEST_CASE("control: the comparison finds a device that is not the smallest") {
  const auto other = [](std::string device) { return device == "a-1" ? "c-1" : device; };
  CHECK(compare(1, 500, other).devices > 0);
}

namespace {

// One large device, which small tickets may have, too; small ones come without end, and each who
// is inside leaves after some calls. How many are served before the large one.
template <class Choose>
std::optional<int> small_ones_before_the_large(const Choose& choose) {
  struct Waiting {
    std::uint64_t number;
    std::uint32_t memory_gb;
  };
  std::vector<Waiting> line{{1, 1}, {2, 64}};
  for (int served = 0; served < 10'000; ++served) {
    line.push_back({static_cast<std::uint64_t>(served) + 3, 1});
    const auto next = choose(line);
    if (next->memory_gb == 64) return served;
    line.erase(next);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a large one does not starve while small ones come without end") {
  Terms terms = lab_terms();
  terms.resources.groups = {{"gpu", "large", 0, {{"memory_gb", 64}}}};
  Lab lab(terms);
  lab.join(1, ask_for("gpu", 1));
  lab.join(2, ask_for("gpu", 64));
  int served = 0;
  for (std::uint64_t number = 3; number < 10'000; ++number) {
    lab.join(number, ask_for("gpu", 1));
    lab.tick();
    if (!lab.device(2).empty()) break;
    for (std::uint64_t each = 1; each < number; ++each) {
      if (!lab.enter(each)) continue;
      ++served;
      lab.leave(each);
    }
  }
  CHECK(lab.device(2) == "large");
  CHECK(served == 1);
}

TEST_CASE("control: of rules that prefer who fits well the large one starves") {
  using namespace std::ranges;
  const auto in_order = [](auto& line) { return line.begin(); };
  const auto smallest_first = [](auto& line) {
    return min_element(line, {}, [](const auto& each) { return each.memory_gb; });
  };
  CHECK(small_ones_before_the_large(in_order) == 1);
  CHECK_FALSE(small_ones_before_the_large(smallest_first));
}

TEST_CASE("an absent large one does not hold up the others, and has its place when it is back") {
  Terms terms = lab_terms();
  terms.resources.groups = {{"gpu", "large", 0, {{"memory_gb", 64}}}};
  Lab lab(terms);
  lab.join(1, ask_for("gpu"));
  lab.tick();
  REQUIRE(lab.enter(1));
  lab.join(2, ask_for("gpu", 64));
  const Time left = lab.now;
  while (lab.now < left + Milliseconds(60'000)) lab.tick();
  lab.join(3, ask_for("gpu", 1));
  lab.leave(1);
  lab.tick();
  CHECK(lab.device(3) == "large");
  lab.leave(3);
  lab.room.hear(id_of(2), lab.now);
  lab.join(4, ask_for("gpu", 1));
  lab.tick();
  CHECK(lab.device(2) == "large");
}

TEST_CASE("a tier has its share of the devices that are enough for it") {
  Terms terms = lab_terms();
  terms.resources.groups = {{"gpu", "small", 0, {{"memory_gb", 1}}},
                            {"gpu", "large", 0, {{"memory_gb", 64}}}};
  terms.tiers.list[0] = {kHigh, 0};
  terms.tiers.list[1] = {kLow, 0.2};
  terms.tiers.count = 2;
  Lab lab(terms);
  // Both tiers always wait for the large device, and the high one for the small one as well: calls
  // for that, which are nothing to the low tier, are not saved up for it.
  struct Seat {
    Priority priority;
    std::uint32_t memory_gb;
    std::uint64_t number = 0;
  };
  std::array<Seat, 3> seats{{{kHigh, 64}, {kLow, 64}, {kHigh, 1}}};
  int low = 0;
  int large = 0;
  std::uint64_t number = 0;
  for (int n = 0; n < 2'000; ++n) {
    for (Seat& seat : seats) {
      if (seat.number == 0) {
        seat.number = ++number;
        lab.join(seat.number, ask_for("gpu", seat.memory_gb), seat.priority);
      }
      lab.room.hear(id_of(seat.number), lab.now);
    }
    lab.tick();
    for (Seat& seat : seats) {
      const std::string device = lab.device(seat.number);
      if (device.empty() || !lab.enter(seat.number)) continue;
      large += device == "large";
      low += seat.priority == kLow;
      lab.leave(std::exchange(seat.number, 0));
    }
  }
  CHECK(large == 2'000);
  CHECK(static_cast<double>(low) <= 0.2 * large + 1);
  CHECK(static_cast<double>(low) >= 0.2 * large - 1);
}

}  // namespace spillway::waiting

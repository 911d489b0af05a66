// How far off estimates are that a room makes by what it has learned, by how many were ahead: the
// middle of the range that a visitor was told first, beside its wait until the call.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tide.hpp"

namespace spillway::waiting {
namespace {

// Of waits.
struct Errors {
  std::size_t count = 0;
  double sum = 0;  // of errors, each as a part of its wait
  double waited = 0;
  double told = 0;

  double mean() const { return sum / static_cast<double>(count); }
  double bias() const { return told / waited - 1; }
};

// By the least number ahead.
using ByAhead = std::map<std::size_t, Errors>;

class Judge {
 public:
  explicit Judge(TidePlay& play) : play_(play) {
    EventSet events{};
    events[static_cast<std::size_t>(Event::called)] = true;
    play.room().want_events(events);
    play.on_view = [this](const TicketId& id, const View& view) { see(id, view); };
  }
  void pass(Milliseconds time) {
    constexpr Milliseconds kStep{10'000};
    for (Milliseconds passed{0}; passed < time; passed += kStep) {
      play_.pass(kStep);
      for (const TicketEvent& call : play_.room().take_events(SIZE_MAX)) compare(call);
    }
  }
  void add_to(ByAhead& errors) const {
    for (const auto& [ahead, own] : errors_) {
      Errors& all = errors[ahead];
      all.count += own.count;
      all.sum += own.sum;
      all.waited += own.waited;
      all.told += own.told;
    }
  }
  void begin() { has_begun_ = true; }

 private:
  struct Promise {
    Time at{};
    double middle = 0;  // seconds
    std::size_t ahead = 0;
  };
  void see(const TicketId& id, const View& view) {
    if (!has_begun_ || !view.estimate || promised_.contains(id)) return;
    const auto seconds = [](Milliseconds time) { return static_cast<double>(time.count()) / 1000; };
    const double middle = std::sqrt(seconds(view.estimate->p10) * seconds(view.estimate->p90));
    promised_[id] = {play_.now(), middle, view.ahead};
  }
  void compare(const TicketEvent& call) {
    const auto found = promised_.find(call.id);
    if (found == promised_.end()) return;
    const Promise& promise = found->second;
    const double wait = static_cast<double>((call.at - promise.at).count()) / 1000;
    if (promise.ahead >= 100) {
      Errors& errors = errors_[promise.ahead >= 1000 ? 1000 : promise.ahead >= 200 ? 200 : 100];
      ++errors.count;
      errors.sum += std::abs(promise.middle - wait) / std::max(wait, 1.0);
      errors.waited += wait;
      errors.told += promise.middle;
    }
    promised_.erase(found);
  }

  TidePlay& play_;
  bool has_begun_ = false;
  std::map<TicketId, Promise> promised_;
  ByAhead errors_;
};

// Four hours, after an hour and a half in which nothing is counted: nothing is known at first.
void judge(const Tide& tide, ByAhead& errors, const Tiers& tiers = {}) {
  Terms terms = long_line(200);
  terms.tiers = tiers;
  terms.longest_poll = Milliseconds(120'000);  // fewer polls to play
  if (tide.away > 0)
    terms.reserve = {.keep = terms.abandon * 144, .claim = terms.claim * 7, .anonymous = true};
  TidePlay play(terms, tide);
  Judge judge(play);
  judge.pass(Milliseconds(5'400'000));
  judge.begin();
  judge.pass(Milliseconds(14'400'000));
  judge.add_to(errors);
}

// Of all who had a hundred ahead, or more.
Errors total(const ByAhead& errors) {
  Errors all;
  for (const auto& [ahead, of] : errors) {
    all.count += of.count;
    all.sum += of.sum;
    all.waited += of.waited;
    all.told += of.told;
  }
  return all;
}

}  // namespace

TEST_CASE("estimates are 5 % biased at most where visitors leave, and where higher tiers come") {
  const Tiers two = tiers_of({{1, 0}, {0, 0}});
  struct Case {
    std::string name;
    Tide tide;
    Tiers tiers;
  };
  const std::vector<Case> cases{
      {"patience 1 h", {.streams = {{0, 0.9}}, .at_first = 700, .patience = 3600}, {}},
      {"30 % of a higher tier", {.streams = {{0, 0.45}, {1, 0.2}}, .at_first = 700}, two},
      {"both", {.streams = {{0, 0.65}, {1, 0.2}}, .at_first = 500, .patience = 3600}, two}};
  for (const Case& each : cases) {
    ByAhead errors;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      Tide tide = each.tide;
      tide.seed = seed;
      judge(tide, errors, each.tiers);
    }
    const Errors all = total(errors);
    CAPTURE(each.name);
    MESSAGE(each.name << ": error " << all.mean() << ", bias " << all.bias() << ", " << all.count
                      << " waits");
    CHECK(all.count > 10'000);
    CHECK(std::abs(all.bias()) <= 0.05);
  }
}

TEST_CASE("estimates by learned rates are 10 % off at 100 ahead, and 5 % at 1000, at most") {
  ByAhead errors;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u})
    judge({.streams = {{0, 0.66}}, .at_first = 450, .seed = seed}, errors);
  judge({.streams = {{0, 0.66}}, .at_first = 900}, errors);
  for (const std::uint64_t seed : {1u, 2u, 3u})
    judge({.streams = {{0, 0.66}}, .at_first = 2500, .seed = seed}, errors);
  for (const auto& [ahead, of] : errors)
    MESSAGE("from " << ahead << " ahead: error " << of.mean() << ", bias " << of.bias() << ", "
                    << of.count << " waits");
  for (const auto& [ahead, of] : errors) {
    CAPTURE(ahead);
    CHECK(of.count > 1000);
    CHECK(of.mean() <= (ahead >= 1000 ? 0.05 : 0.10));
    CHECK(std::abs(of.bias()) <= 0.05);
  }
  CHECK(errors.size() == 3);
}

// Of who reserved and is away as many count as come when they are called.
TEST_CASE("estimates are hardly biased by visitors that reserved, whether they come or not") {
  for (const double ghosts : {0.0, 0.5, 0.9}) {
    ByAhead errors;
    // Of each ten four go, and as many come in as make room.
    const double come = 1 - 0.4 * ghosts;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      judge({.streams = {{0, 0.66 / come}},
             .at_first = static_cast<std::size_t>(500 / come),
             .away = 0.4,
             .ghosts = ghosts,
             .seed = seed},
            errors);
    }
    const Errors all = total(errors);
    CAPTURE(ghosts);
    MESSAGE("of four in ten away " << ghosts << " never come: error " << all.mean() << ", bias "
                                   << all.bias() << ", " << all.count << " waits");
    CHECK(all.count > 5'000);
    // Who has just gone counts as there for two and a half polls, of two minutes here.
    CHECK(std::abs(all.bias()) <= (ghosts > 0.5 ? 0.2 : 0.1));
  }
}

}  // namespace spillway::waiting

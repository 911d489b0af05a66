// Tabs in the background and phones asleep: who is heard of less often than it was told keeps its
// place.
#include <doctest/doctest.h>

#include <optional>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

constexpr Milliseconds kMinute{60'000};

// One session, and a line of twenty before it that polls as it is told; number 10 is the tab.
class Background {
 public:
  static constexpr std::uint64_t kTab = 10;
  static constexpr std::uint64_t kLast = 20;

  Background() : room_(terms_for(1, When::always)) {
    for (std::uint64_t n = 0; n <= kLast; ++n) join(n);
    pass(kTick);
    REQUIRE(enter(0));
  }

  // `tab`: how often the tab asks; nullopt: not at all. Who is called comes in when it asks next,
  // but for the tab. A session lasts for `stay`.
  void pass(Milliseconds time, std::optional<Milliseconds> tab = std::nullopt,
            Milliseconds stay = Milliseconds::max()) {
    for (const Time until = now_ + time; now_ < until;) {
      room_.tick(now_ += kTick, kHealthy);
      if (inside_ && now_ - begun_ >= stay) {
        room_.cancel(id_of(*inside_), now_);
        inside_.reset();
      }
      if (inside_) room_.stay(id_of(*inside_), now_);
      if ((now_ - kStart) % Milliseconds(5'000) == Milliseconds(0)) others_ask();
      if (tab && (now_ - kStart) % *tab == Milliseconds(0)) tab_asks();
    }
  }
  // From now on it loads its page again, as without scripts.
  void switch_scripts_off() { has_scripts_ = false; }
  std::optional<View> view_of_tab() { return room_.hear(id_of(kTab), now_); }
  bool enter(std::uint64_t number) {
    if (!room_.claim(id_of(number), now_)) return false;
    inside_ = number;
    begun_ = now_;
    ++entered_;
    return true;
  }
  std::uint64_t entered() const { return entered_; }
  void leave() {
    room_.cancel(id_of(*inside_), now_);
    inside_.reset();
  }
  std::optional<View> view() const { return room_.inspect(id_of(kTab), now_)->view; }
  std::uint64_t missed() const { return room_.inspect(id_of(kTab), now_)->missed; }

 private:
  void join(std::uint64_t number) { REQUIRE(room_.join(id_of(number), now_, now_).view); }
  void tab_asks() { has_scripts_ ? view_of_tab() : room_.show_page(id_of(kTab), now_); }
  void others_ask() {
    for (std::uint64_t n = 1; n <= kLast; ++n) {
      if (n == kTab) continue;
      const auto view = room_.hear(id_of(n), now_);
      if (view && view->state == TicketState::processing) enter(n);
    }
  }

  WaitingRoom room_;
  Time now_ = kStart;
  std::optional<std::uint64_t> inside_;
  Time begun_{};
  std::uint64_t entered_ = 0;
  bool has_scripts_ = true;
};

}  // namespace

TEST_CASE("a tab that is hidden for 30 minutes and asks once a minute keeps its place") {
  Background line;
  line.pass(30 * kMinute, kMinute);
  auto view = line.view_of_tab();
  REQUIRE(view);
  CHECK(view->state == TicketState::waiting);
  CHECK(view->ahead == 9);
  CHECK(view->joined == kStart);
  // Visible again, it comes in when its turn comes.
  line.pass(5 * kMinute, Milliseconds(5'000), Milliseconds(20'000));
  CHECK(line.entered() >= 10);
  view = line.view_of_tab();
  REQUIRE(view);
  CHECK(view->state == TicketState::processing);
}

TEST_CASE("a hidden tab that misses a call is back at its place, before all who came later") {
  Background line;
  line.pass(30 * kMinute, kMinute, Milliseconds(150'000));
  const auto view = line.view_of_tab();
  REQUIRE(view);
  MESSAGE("entered " << line.entered() << ", missed " << line.missed());
  CHECK(view->ahead == 0);
}

TEST_CASE("a page without scripts, which asks every 20 s, is called before all who came later") {
  Background line;
  const auto entered_before_it = [&line] {
    while (line.entered() < 20 && line.view()->state == TicketState::waiting)
      line.pass(kTick, kPageReload, Milliseconds(27'000));
    return line.entered() - 1;  // number 0 was let in first
  };
  SUBCASE("of which it is known") {
    line.switch_scripts_off();
    CHECK(entered_before_it() == 9);
  }
  SUBCASE("control: taken for a page with scripts, which asks every 5 s") {
    CHECK(entered_before_it() > 9);
  }
}

TEST_CASE(
    "a phone that sleeps for four minutes keeps its place, one that sleeps for six does not") {
  Background line;
  line.pass(4 * kMinute);
  const auto view = line.view_of_tab();
  REQUIRE(view);
  CHECK(view->ahead == 9);
  line.pass(6 * kMinute);
  CHECK_FALSE(line.view_of_tab());
}

}  // namespace spillway::waiting

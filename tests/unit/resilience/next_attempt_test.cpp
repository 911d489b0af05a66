#include "resilience/next_attempt.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>
#include <vector>

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = NextAttempt::Kind;
using enum AttemptResult;

constexpr TimePoint kNow{seconds(1000)};
constexpr Backoff kBackoff{.base = milliseconds(100), .cap = seconds(1), .jitter = 0.5};

// A GET that may be tried again: each case says what is different.
AttemptFacts usual() {
  return {.is_idempotent = true,
          .is_body_at_hand = true,
          .has_untried_server = true,
          .most_retries = 2,
          .due = kNow + seconds(10)};
}

NextAttempt decide(AttemptResult result, const AttemptFacts& facts) {
  Random random(1);
  return next_attempt(result, facts, kBackoff, kNow, random);
}

// Whether a decision draws a random number: the source gives another one next.
bool draws(AttemptResult result, const AttemptFacts& facts) {
  Random used(7), untouched(7);
  next_attempt(result, facts, kBackoff, kNow, used);
  return used.next() != untouched.next();
}

// All combinations of what is known of an attempt, with retries left or not, and due now, during
// the first pause (of 50 to 150 ms), or much later.
template <class Check>
void for_all(const Check& check) {
  for (const AttemptResult result : {answered, unsent, broken, failed}) {
    for (unsigned bits = 0; bits < 64; ++bits) {
      for (const std::uint32_t retries : {0u, 1u, 2u, 3u}) {
        for (const std::uint32_t most : {0u, 2u}) {
          for (const TimePoint due : {kNow, kNow + milliseconds(10), kNow + milliseconds(100),
                                      kNow + seconds(10), kNever}) {
            AttemptFacts facts;
            facts.is_idempotent = bits & 1;
            facts.is_body_at_hand = bits & 2;
            facts.is_on_kept_connection = bits & 4;
            facts.was_replaced = bits & 8;
            facts.is_in_background = bits & 16;
            facts.has_untried_server = bits & 32;
            facts.retries = retries;
            facts.most_retries = most;
            facts.due = due;
            check(result, facts);
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("a request is sent again only where nothing can have happened twice") {
  struct Case {
    AttemptResult result;
    bool is_idempotent, is_body_at_hand;
    bool is_safe;
  };
  const std::vector<Case> cases{
      {answered, false, false, false}, {answered, false, true, false},
      {answered, true, false, false},  {answered, true, true, false},
      {unsent, false, false, true},    {unsent, false, true, true},
      {unsent, true, false, true},     {unsent, true, true, true},
      {broken, false, false, false},   {broken, false, true, false},
      {broken, true, false, false},    {broken, true, true, true},
      {failed, false, false, false},   {failed, false, true, false},
      {failed, true, false, false},    {failed, true, true, false},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.result));
    CAPTURE(c.is_idempotent);
    CAPTURE(c.is_body_at_hand);
    AttemptFacts facts = usual();
    facts.is_idempotent = c.is_idempotent;
    facts.is_body_at_hand = c.is_body_at_hand;
    CHECK(may_send_again(c.result, facts) == c.is_safe);
    CHECK(decide(c.result, facts).kind == (c.is_safe ? Kind::retry : Kind::give_up));
  }
}

TEST_CASE("a failed attempt is followed by a replacement, a retry or nothing") {
  struct Case {
    std::string_view name;
    void (*differs)(AttemptFacts&);
    Kind kind;
  };
  const std::vector<Case> cases{
      {"another server is left", [](AttemptFacts&) {}, Kind::retry},
      {"all servers were tried", [](AttemptFacts& f) { f.has_untried_server = false; },
       Kind::retry},
      {"the last retry is left", [](AttemptFacts& f) { f.retries = 1; }, Kind::retry},
      {"no retry is left", [](AttemptFacts& f) { f.retries = 2; }, Kind::give_up},
      {"none is allowed", [](AttemptFacts& f) { f.most_retries = 0; }, Kind::give_up},
      {"no client waits", [](AttemptFacts& f) { f.is_in_background = true; }, Kind::give_up},
      {"it is due now", [](AttemptFacts& f) { f.due = kNow; }, Kind::give_up},
      {"it was due", [](AttemptFacts& f) { f.due = kNow - milliseconds(1); }, Kind::give_up},
      {"it is due in a moment", [](AttemptFacts& f) { f.due = kNow + milliseconds(1); },
       Kind::retry},
      {"it is due before the pause ends",
       [](AttemptFacts& f) {
         f.has_untried_server = false;
         f.due = kNow + milliseconds(50);
       },
       Kind::give_up},
      {"it never is due",
       [](AttemptFacts& f) {
         f.has_untried_server = false;
         f.due = kNever;
       },
       Kind::retry},
      {"a kept connection", [](AttemptFacts& f) { f.is_on_kept_connection = true; }, Kind::replace},
      {"a second kept connection",
       [](AttemptFacts& f) { f.is_on_kept_connection = f.was_replaced = true; }, Kind::retry},
      {"a fresh one after a kept one", [](AttemptFacts& f) { f.was_replaced = true; }, Kind::retry},
      // What idled for too long is no failure: it needs no retry, no budget and no time.
      {"a kept connection and no retry",
       [](AttemptFacts& f) {
         f.is_on_kept_connection = true;
         f.most_retries = 0;
       },
       Kind::replace},
      {"a second kept connection and no retry",
       [](AttemptFacts& f) {
         f.is_on_kept_connection = f.was_replaced = true;
         f.most_retries = 0;
       },
       Kind::give_up},
      {"a kept connection in the background",
       [](AttemptFacts& f) { f.is_on_kept_connection = f.is_in_background = true; }, Kind::replace},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    AttemptFacts facts = usual();
    c.differs(facts);
    for (const AttemptResult result : {unsent, broken}) CHECK(decide(result, facts).kind == c.kind);
    for (const AttemptResult result : {answered, failed})
      CHECK(decide(result, facts).kind == Kind::give_up);
  }
}

TEST_CASE("a POST of which a byte went out is never sent again") {
  int posts = 0, sent_again = 0, gets_sent_again = 0;
  for_all([&](AttemptResult result, const AttemptFacts& facts) {
    if (result == unsent) return;
    const bool again = decide(result, facts).kind != Kind::give_up;
    if (facts.is_idempotent) {
      gets_sent_again += again;
    } else {
      ++posts;
      sent_again += again;
    }
  });
  CHECK(posts == 3 * 32 * 4 * 2 * 5);
  CHECK(sent_again == 0);
  CHECK(gets_sent_again > 0);  // the control: the same combinations let a GET through
}

TEST_CASE("every decision keeps to the limits whatever is known") {
  for_all([](AttemptResult result, const AttemptFacts& facts) {
    const NextAttempt next = decide(result, facts);
    if (!may_send_again(result, facts)) REQUIRE(next.kind == Kind::give_up);
    if (next.kind == Kind::replace) {
      REQUIRE(facts.is_on_kept_connection);
      REQUIRE_FALSE(facts.was_replaced);  // once
    }
    if (next.kind != Kind::retry) {
      REQUIRE(next.pause == Duration{0});
      return;
    }
    REQUIRE(facts.retries < facts.most_retries);
    REQUIRE_FALSE(facts.is_in_background);
    REQUIRE(kNow + next.pause < facts.due);
    REQUIRE((next.pause == Duration{0}) == facts.has_untried_server);
  });
}

TEST_CASE("a random number is drawn for a pause and for nothing else") {
  int drawn = 0;
  for_all([&](AttemptResult result, const AttemptFacts& facts) {
    const bool gets_to_a_pause =
        may_send_again(result, facts) && (!facts.is_on_kept_connection || facts.was_replaced) &&
        facts.retries < facts.most_retries && !facts.is_in_background && !facts.has_untried_server;
    REQUIRE(draws(result, facts) == gets_to_a_pause);
    drawn += gets_to_a_pause;
  });
  CHECK(drawn > 0);
}

TEST_CASE("pauses double from round to round and are spread so that none meet") {
  AttemptFacts facts = usual();
  facts.has_untried_server = false;
  const std::vector<milliseconds> plain{milliseconds(100), milliseconds(200),  milliseconds(400),
                                        milliseconds(800), milliseconds(1000), milliseconds(1000)};
  Random random(3);
  for (std::uint32_t round = 0; round < plain.size(); ++round) {
    CAPTURE(round);
    facts.pauses = round;
    std::set<Duration> pauses;
    constexpr int kRequests = 1000;
    for (int i = 0; i < kRequests; ++i)
      pauses.insert(next_attempt(unsent, facts, kBackoff, kNow, random).pause);
    const Duration middle = plain[round];
    CHECK(*pauses.begin() >= middle / 2);
    CHECK(*pauses.rbegin() <= middle * 3 / 2);
    CHECK(*pauses.begin() < middle * 11 / 20);  // to both ends
    CHECK(*pauses.rbegin() > middle * 29 / 20);
    CHECK(pauses.size() > kRequests * 9 / 10);
  }
  // The control: without jitter all that failed together come back together.
  std::set<Duration> together;
  const Backoff without{.base = milliseconds(100), .cap = seconds(1), .jitter = 0};
  for (int i = 0; i < 100; ++i)
    together.insert(next_attempt(unsent, facts, without, kNow, random).pause);
  CHECK(together == std::set<Duration>{seconds(1)});
}

}  // namespace spillway::resilience

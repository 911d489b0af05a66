// How tickets and sessions ended is remembered for a while, and no longer.
#include "waiting/session/recently_ended.hpp"

#include <doctest/doctest.h>

#include "unit/waiting/crowd.hpp"

namespace spillway::waiting {
namespace {

End end_at(Time at, Ended why = Ended::abandoned, bool was_session = false) {
  return {why, at, was_session};
}

std::vector<TicketId> ids_of(const std::vector<RecentlyEnded::Entry>& entries) {
  std::vector<TicketId> ids;
  for (const auto& entry : entries) ids.push_back(entry.id);
  return ids;
}

}  // namespace

TEST_CASE("an end is remembered for three minutes, with its cause") {
  RecentlyEnded ended;
  ended.add(id_of(1), end_at(kStart, Ended::not_claimed));
  CHECK(ended.find(id_of(1), kStart + RecentlyEnded::kKept) == end_at(kStart, Ended::not_claimed));
  CHECK_FALSE(ended.find(id_of(1), kStart + RecentlyEnded::kKept + Milliseconds(1)));
  CHECK_FALSE(ended.find(id_of(2), kStart));
}

TEST_CASE("only a session that was over within the last slice holds back its first pass") {
  RecentlyEnded ended;
  ended.add(id_of(1), end_at(kStart, Ended::cancelled, true));
  ended.add(id_of(2), end_at(kStart, Ended::cancelled, false));
  CHECK(ended.has_session(id_of(1), kStart + kSlice));
  CHECK_FALSE(ended.has_session(id_of(1), kStart + kSlice + Milliseconds(1)));
  CHECK_FALSE(ended.has_session(id_of(2), kStart));
}

TEST_CASE("of an id that ends again the last end counts, once") {
  RecentlyEnded ended;
  ended.add(id_of(1), end_at(kStart, Ended::idle, true));
  ended.add(id_of(2), end_at(kStart));
  ended.add(id_of(1), end_at(kStart + kTick, Ended::copied, true));
  CHECK(ended.find(id_of(1), kStart + kTick)->why == Ended::copied);
  const std::vector<TicketId> latest_first{id_of(1), id_of(2)};
  CHECK(ids_of(ended.list(std::nullopt, 10, kStart + kTick)) == latest_first);
}

TEST_CASE("of more than are kept the oldest are forgotten, and pages list the others once") {
  RecentlyEnded ended;
  const std::uint64_t all = RecentlyEnded::kMost + 1000;
  for (std::uint64_t n = 1; n <= all; ++n) ended.add(id_of(n), end_at(kStart));
  CHECK_FALSE(ended.find(id_of(1000), kStart));
  CHECK(ended.find(id_of(1001), kStart));
  std::optional<TicketId> before;
  std::uint64_t next = all;
  for (;;) {
    const auto page = ended.list(before, 7000, kStart);
    if (page.empty()) break;
    for (const auto& entry : page) REQUIRE(entry.id == id_of(next--));
    before = page.back().id;
  }
  CHECK(next == 1000);
}

TEST_CASE("what is older is forgotten tick by tick, the latest ends stay") {
  RecentlyEnded ended;
  for (std::uint64_t n = 1; n <= 3000; ++n) ended.add(id_of(n), end_at(kStart));
  const Time later = kStart + RecentlyEnded::kKept + kTick;
  ended.add(id_of(4000), end_at(later));
  for (int tick = 0; tick < 5; ++tick) ended.tick(later);
  CHECK(ended.list(std::nullopt, 10'000, kStart).size() == 1);
  CHECK(ended.find(id_of(4000), later));
}

TEST_CASE("a page behind one that is forgotten is empty") {
  RecentlyEnded ended;
  ended.add(id_of(1), end_at(kStart));
  CHECK(ended.list(id_of(9), 10, kStart).empty());
  CHECK(ended.list(std::nullopt, 10, kStart + RecentlyEnded::kKept + kTick).empty());
}

}  // namespace spillway::waiting

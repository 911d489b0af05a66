// What a proxy has to tell of its visitors is bounded by how many they are, not by what they send.
#include "proxy/waiting/room_outbox.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace spillway::proxy {
namespace {

using waiting::TicketId;

TicketId visitor_of(std::size_t number) {
  TicketId id;
  for (std::size_t n = 0; n < sizeof number; ++n)
    id.bytes[n] = static_cast<std::uint8_t>(number >> (8 * n));
  return id;
}

TEST_CASE("two visitors that ask in turn as fast as they can push out the news of no other") {
  using Tell = void (RoomOutbox::*)(const TicketId&);
  for (const Tell tell : {Tell{&RoomOutbox::hear}, Tell{&RoomOutbox::stay}}) {
    RoomOutbox box([] {});
    for (std::size_t n = 0; n < 2 * RoomOutbox::kMostHeard; ++n) (box.*tell)(visitor_of(n % 2));
    (box.*tell)(visitor_of(2));
    CHECK(box.reported() == std::vector{visitor_of(0), visitor_of(1), visitor_of(2)});
    const waiting::News news = box.take_news();
    CHECK(news.heard.size() + news.stayed.size() == 3);
    CHECK(box.reported().empty());
  }
}

TEST_CASE("control: beyond the bound of visitors nothing is added") {
  RoomOutbox box([] {});
  for (std::size_t n = 0; n < RoomOutbox::kMostHeard + 2; ++n) box.stay(visitor_of(n));
  CHECK(box.reported().size() == RoomOutbox::kMostHeard);
}

TEST_CASE("what could not be written is told once more, each visitor once, some in each row") {
  RoomOutbox box([] {});
  for (std::size_t n = 0; n < RoomOutbox::kHeardAtATime + 1; ++n) box.hear(visitor_of(n));
  waiting::News news = box.take_news();
  REQUIRE(news.heard.size() == RoomOutbox::kHeardAtATime);
  for (const TicketId& id : {news.heard.front(), news.heard.back()}) {
    box.hear(id);
    box.stay(id);
  }
  box.put_back(std::move(news));
  CHECK(box.reported().size() == RoomOutbox::kHeardAtATime + 1);
  std::size_t told = 0;
  while (box.has_news()) told += box.take_news().heard.size();
  CHECK(told == RoomOutbox::kHeardAtATime + 1);
}

}  // namespace
}  // namespace spillway::proxy

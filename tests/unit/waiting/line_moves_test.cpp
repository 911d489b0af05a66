#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "crowd.hpp"
#include "waiting/line/line.hpp"

namespace spillway::waiting {

TEST_CASE("whoever is moved stands where it was put, in a line of many leaves") {
  Line line;
  std::vector<Slot> plain;
  for (Slot slot = 0; slot < 3000; ++slot) {
    // Many of the same arrival.
    line.insert(slot, order_of(kStart + Milliseconds(slot / 100), TicketId{}));
    plain.push_back(slot);
  }
  Random random(7);
  for (int n = 0; n < 20'000; ++n) {
    const auto slot = static_cast<Slot>(random.next() % plain.size());
    // The front of the line is where most go.
    const std::size_t to = random.next() % (n % 3 == 0 ? plain.size() - 1 : 5);
    plain.erase(std::find(plain.begin(), plain.end(), slot));
    line.remove(slot);
    line.insert_before(slot, plain[to]);
    plain.insert(plain.begin() + static_cast<std::ptrdiff_t>(to), slot);
    REQUIRE(line.ahead(slot).all == to);
    REQUIRE(line.at(to) == slot);
  }
  for (std::size_t at = 0; at < plain.size(); ++at) REQUIRE(line.at(at) == plain[at]);
  CHECK(line.at(plain.size()) == kNoSlot);
  for (std::size_t at = 1; at < plain.size(); ++at)
    REQUIRE(line.order(plain[at - 1]) <= line.order(plain[at]));
}

TEST_CASE("how many are of a lower order is known for orders that are there and that are not") {
  Line line;
  CHECK(line.before(5) == 0);
  for (Slot slot = 0; slot < 1000; ++slot) line.insert(slot, Order{10} * (slot + 1));
  CHECK(line.before(0) == 0);
  CHECK(line.before(10) == 0);
  CHECK(line.before(11) == 1);
  CHECK(line.before(5000) == 499);
  CHECK(line.before(5001) == 500);
  CHECK(line.before(10'001) == 1000);
}

TEST_CASE("who is absent stays so when others are moved around it") {
  Line line;
  for (Slot slot = 0; slot < 300; ++slot) line.insert(slot, 1);
  line.set_present(5, false);
  line.remove(200);
  line.insert_before(200, 5);
  CHECK_FALSE(line.is_present(5));
  CHECK(line.is_present(200));
  CHECK(line.ahead(5).all == 6);
  CHECK(line.present() == 299);
}

}  // namespace spillway::waiting

#include "dispatch/queue/class_queue.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace spillway::dispatch;

namespace {

struct Left;
struct Right;
struct Item : Hook<Left>, Hook<Right> {};
using LeftList = IntrusiveList<Item, Left>;

}  // namespace

TEST_CASE("a list is first in first out and gives up items anywhere") {
  std::array<Item, 4> items;
  LeftList list;
  CHECK(list.empty());
  CHECK(list.pop_front() == nullptr);
  CHECK(list.back() == nullptr);
  for (Item& item : items) list.push_back(item);
  items[1].Hook<Left>::unlink();
  items[3].Hook<Left>::unlink();
  CHECK(list.back() == &items[2]);
  CHECK(list.pop_front() == &items[0]);
  CHECK_FALSE(items[0].Hook<Left>::linked());
  CHECK(list.pop_front() == &items[2]);
  CHECK(list.empty());
}

TEST_CASE("an item put in front is the first") {
  std::array<Item, 3> items;
  LeftList list;
  list.push_front(items[0]);
  list.push_back(items[1]);
  list.push_front(items[2]);
  for (const std::size_t i : {2, 0, 1}) CHECK(list.pop_front() == &items[i]);
  CHECK(list.empty());
}

TEST_CASE("an item can be in one list of each kind") {
  Item item;
  LeftList left;
  IntrusiveList<Item, Right> right;
  left.push_back(item);
  right.push_back(item);
  CHECK(left.pop_front() == &item);
  CHECK(right.front() == &item);
}

TEST_CASE("appending moves everything over in order") {
  std::array<Item, 3> items;
  LeftList a, b;
  a.push_back(items[0]);
  b.push_back(items[1]);
  b.push_back(items[2]);
  a.append(b);
  CHECK(b.empty());
  a.append(b);
  for (Item& item : items) CHECK(a.pop_front() == &item);
  b.push_back(items[0]);
  a.append(b);
  CHECK(a.front() == &items[0]);
}

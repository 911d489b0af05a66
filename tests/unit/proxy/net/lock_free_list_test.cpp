#include "proxy/net/lock_free_list.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace spillway::proxy {
namespace {

struct Node {
  int producer = 0;
  int number = 0;
  Node* next = nullptr;
};

using List = LockFreeList<Node, &Node::next>;

std::vector<int> drained(List& list) {
  std::vector<int> numbers;
  list.drain([&](Node& node) { numbers.push_back(node.number); });
  return numbers;
}

}  // namespace

TEST_CASE("nodes are drained oldest first and only the first push finds the list empty") {
  List list;
  std::array<Node, 3> nodes{{{0, 1}, {0, 2}, {0, 3}}};
  CHECK(list.empty());
  CHECK(list.push(nodes[0]));
  CHECK_FALSE(list.push(nodes[1]));
  CHECK_FALSE(list.push(nodes[2]));
  CHECK_FALSE(list.empty());
  CHECK(drained(list) == std::vector{1, 2, 3});
  CHECK(list.empty());
  CHECK(drained(list).empty());
}

TEST_CASE("a node may be pushed again as soon as it is visited and then waits for the next drain") {
  List list;
  std::array<Node, 2> nodes{{{0, 1}, {0, 2}}};
  for (Node& node : nodes) list.push(node);
  int visits = 0;
  list.drain([&](Node& node) {
    ++visits;
    list.push(node);
  });
  CHECK(visits == 2);
  CHECK(drained(list) == std::vector{1, 2});
}

// Exactly one push per batch reports an empty list: that is the wake-up.
TEST_CASE("of nodes pushed by many threads none is lost, each thread's keep their order") {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  List list;
  std::vector<std::vector<Node>> nodes(kThreads, std::vector<Node>(kEach));
  std::atomic<int> wake_ups{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kEach; ++n) {
        Node& node = nodes[t][n];
        node.producer = t;
        node.number = n;
        wake_ups.fetch_add(list.push(node));
      }
    });
  }
  std::array<int, kThreads> next{};
  int taken = 0;
  int batches = 0;
  bool in_order = true;
  while (taken < kThreads * kEach) {
    const int before = taken;
    list.drain([&](Node& node) {
      ++taken;
      in_order = in_order && node.number == next[node.producer]++;
    });
    batches += taken != before;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_order);
  CHECK(wake_ups.load() == batches);
  CHECK(list.empty());
}

}  // namespace spillway::proxy

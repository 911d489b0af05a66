// An intrusive, lock-free, multi-producer single-consumer list (a Treiber stack that is only ever
// emptied as a whole, so there is no ABA problem). Allocates nothing: nodes are linked by a member
// pointer of their own.
//
// Thread-safe: push(), empty(). drain(): one thread at a time.
#pragma once

#include <atomic>
#include <utility>

namespace spillway::proxy {

// `Next` is the member of Node that links it, e.g. LockFreeList<Job, &Job::next>.
template <class Node, Node* Node::*Next>
class LockFreeList {
 public:
  LockFreeList() = default;
  LockFreeList(const LockFreeList&) = delete;
  LockFreeList& operator=(const LockFreeList&) = delete;

  // The node must stay alive, and out of any other list, until drain() has taken it. True if the
  // list was empty: one wake-up is enough for all nodes that are drained together.
  bool push(Node& node) {
    Node* newest = newest_.load(std::memory_order_relaxed);
    do {
      node.*Next = newest;
    } while (!newest_.compare_exchange_weak(newest, &node, std::memory_order_release,
                                            std::memory_order_relaxed));
    return newest == nullptr;
  }

  // Takes all nodes and calls `visit` for each, oldest first. `visit` may push the node again or
  // destroy it. Nodes pushed meanwhile stay for the next drain().
  template <class Visit>
  void drain(Visit visit) {
    for (Node* node = take_all(); node != nullptr;) visit(*std::exchange(node, node->*Next));
  }

  // A hint while other threads push; exact for pushes that happened before.
  bool empty() const { return newest_.load(std::memory_order_relaxed) == nullptr; }

 private:
  // The oldest node, linked to the next newer one.
  Node* take_all() {
    if (empty()) return nullptr;
    Node* oldest = nullptr;
    for (Node* node = newest_.exchange(nullptr, std::memory_order_acquire); node != nullptr;) {
      Node* const older = std::exchange(node->*Next, oldest);
      oldest = std::exchange(node, older);
    }
    return oldest;
  }

  std::atomic<Node*> newest_{nullptr};
};

}  // namespace spillway::proxy

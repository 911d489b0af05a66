// How much goes to the store in one transaction.
#include <doctest/doctest.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "proxy/jobs/call_queue.hpp"

using namespace spillway;
using namespace spillway::proxy;

namespace {

// The sizes of the batches in which requests with these bodies are written down.
std::vector<std::size_t> batches_of(std::size_t requests, std::size_t bytes) {
  CallQueue queue;
  std::deque<StoreCall> calls;
  for (std::size_t n = 0; n < requests; ++n) {
    store::Enqueue enqueue;
    enqueue.job.body.assign(bytes, 'x');
    queue.add(calls.emplace_back(std::move(enqueue)));
  }
  std::vector<std::size_t> sizes;
  while (!queue.is_empty()) sizes.push_back(queue.take_batch().size());
  return sizes;
}

constexpr std::size_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("a transaction is full with 256 requests, or with the one that makes it a MiB") {
  using Sizes = std::vector<std::size_t>;
  CHECK(batches_of(2, kMiB) == Sizes{1, 1});
  CHECK(batches_of(5, kMiB / 2) == Sizes{2, 2, 1});
  CHECK(batches_of(300, 1) == Sizes{256, 44});
  // The control: a byte less than a MiB leaves room for one more.
  CHECK(batches_of(2, kMiB - 1) == Sizes{2});
}

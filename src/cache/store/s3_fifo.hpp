// The order of eviction: S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi, "FIFO queues are all you need for
// cache eviction", SOSP 2023).
//
// New responses enter a small queue, a tenth of the memory. Those requested twice while in it move
// on to the main queue; the others leave and are remembered in the ghost queue: a response that
// returns soon enters the main queue at once. A response requested since it entered the main queue
// is reinserted at its newest end instead of leaving, up to three times. So a scan of URIs that are
// requested once passes through a tenth of the memory. A hit increments a counter; nothing moves.
// (Compared with SIEVE and LRU: README.md.)
//
// Deviations: sizes are in bytes, the number of reinsertions per insertion is bounded, expired and
// invalidated responses leave in turn however often they were requested, and a response that a
// reader pins stays: evicting it would free nothing.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "cache/store/ghost_queue.hpp"
#include "cache/store/invalidation_times.hpp"
#include "cache/store/stored_response.hpp"

namespace spillway::cache {

// Unlinks without freeing.
using ResponseList = boost::intrusive::list<StoredResponse>;

class S3Fifo {
 public:
  static constexpr std::uint8_t kMaxFrequency = 3;
  static constexpr std::uint8_t kToMain = 2;  // hits in the small queue

  explicit S3Fifo(std::size_t max_bytes)
      : small_limit_(max_bytes / 10), ghost_(max_bytes / 1024, max_bytes / 10 * 9) {}

  void insert(StoredResponse& response);
  // `by` takes the position and frequency of another response, which leaves.
  void replace(StoredResponse& response, StoredResponse& by);
  void erase(StoredResponse& response);

  static void hit(StoredResponse& response) {
    if (response.frequency_ < kMaxFrequency) ++response.frequency_;
  }

  // Examines the oldest response of the queue whose turn it is. Returns it if it leaves; null if it
  // stays, reinserted, or if the queues are empty. `chances`: how many may still be reinserted
  // because they were requested.
  StoredResponse* examine(TimePoint now, const InvalidationTimes& invalidated,
                          std::size_t& chances);

  // Disposes of all responses.
  template <class Dispose>
  void clear(Dispose dispose) {
    small_.clear_and_dispose(dispose);
    main_.clear_and_dispose(dispose);
  }
  // The memory of the ghost queue.
  std::size_t bytes() const { return ghost_.bytes(); }

 private:
  enum class Queue : bool { small, main };

  void enter(StoredResponse& response, Queue queue, std::uint8_t frequency);
  ResponseList& queue_of(const StoredResponse& response) {
    return response.in_main_ ? main_ : small_;
  }

  std::size_t small_limit_;
  std::size_t small_bytes_ = 0;
  ResponseList small_;  // the newest at the end
  ResponseList main_;
  GhostQueue ghost_;
};

}  // namespace spillway::cache

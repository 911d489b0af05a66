// Calls that wait for the store, and the order in which they go there.
//
// Calls that change jobs go first, in the order of arrival. Four kinds of calls have places of
// their own in each batch, and their own limits: questions for requests with an Idempotency-Key or
// an order, clients' questions about their jobs, dead letters, and Spillway's own requests. However
// many of these come, they delay no 202 and no acknowledgement. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "proxy/jobs/store_call.hpp"

namespace spillway::proxy {

class CallQueue {
 public:
  using Batch = std::vector<StoreCall*>;

  // Limits of the calls that wait; further down, of a batch.
  static constexpr std::size_t kMostCalls = 8192;
  static constexpr std::size_t kMostBytes = 64 << 20;     // heads, bodies, answers
  static constexpr std::size_t kMostKeyQuestions = 1024;  // including questions about orders
  static constexpr std::size_t kMostLookups = 256;
  static constexpr std::size_t kMostLetters = 256;
  static constexpr std::size_t kMostLetterBytes = 8 << 20;
  static constexpr std::size_t kMostNotices = 512;  // a few hundred bytes each
  static constexpr std::size_t kBatchCalls = 256;
  static constexpr std::size_t kBatchBytes = 1 << 20;
  static constexpr std::size_t kBatchKeyQuestions = 128;
  static constexpr std::size_t kBatchLookups = 64;
  static constexpr std::size_t kBatchAnswers = 8;  // of the lookups; answers may be long
  static constexpr std::size_t kBatchLetters = 64;
  static constexpr std::size_t kBatchNotices = 64;

  // False: as many calls of its kind wait as may. A Settle is always taken.
  bool add(StoreCall& call);
  bool has_room_for_letter() const {
    return letters_.size() < kMostLetters && letter_bytes_ < kMostLetterBytes;
  }
  std::size_t room_for_notices() const { return kMostNotices - notices_.size(); }
  bool is_empty() const {
    return calls_.empty() && key_questions_.empty() && lookups_.empty() && letters_.empty() &&
           notices_.empty();
  }
  // The next transaction. An operator's call that may take long gets one of its own.
  Batch take_batch();
  static bool is_long(const Batch& batch);
  // Takes all calls but acknowledgements: the store has failed.
  Batch take_refused();
  // False: it is not among the waiting calls that change jobs.
  bool remove(const StoreCall& call);
  // Puts a call of a failed batch back to the front.
  void put_back(StoreCall& settle);
  // The number of letters that wait, by route.
  std::map<std::string, std::uint64_t> letters_by_route() const;

 private:
  using Calls = std::deque<StoreCall*>;

  static StoreCall* take(Calls& from);
  static StoreCall* take(Calls& from, std::size_t& bytes);

  Calls calls_;
  // Whether a key is known, and the state of its job; whether an order has unfinished jobs.
  Calls key_questions_;
  Calls lookups_;  // clients' questions about their jobs
  Calls letters_;  // Bury
  Calls notices_;
  std::size_t bytes_ = 0;
  std::size_t letter_bytes_ = 0;
  std::size_t notice_bytes_ = 0;
};

// An acknowledgement, which is kept until the store takes it.
inline bool is_settle(const StoreCall& call) {
  return std::holds_alternative<store::Settle>(call.command);
}

}  // namespace spillway::proxy

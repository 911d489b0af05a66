#include "proxy/jobs/call_queue.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace spillway::proxy {

namespace {

std::size_t bytes_of(const store::Command& command) {
  if (const auto* const enqueue = std::get_if<store::Enqueue>(&command))
    return enqueue->job.head.size() + enqueue->job.body.size();
  if (const auto* const bury = std::get_if<store::Bury>(&command))
    return bury->job.head.size() + bury->job.body.size();
  if (const auto* const settle = std::get_if<store::Settle>(&command))
    return settle->answer ? settle->answer->fields.size() + settle->answer->body.size() : 0;
  return 0;
}

// An operator's call: it must not fail others with it if it fails for taking too long.
bool may_take_long(const store::Command& command) {
  return std::holds_alternative<store::List>(command) ||
         std::holds_alternative<store::Replay>(command) ||
         std::holds_alternative<store::Purge>(command);
}

bool is_key_question(const StoreCall& call) {
  return call.is_of_key || std::holds_alternative<store::KnowsKey>(call.command) ||
         std::holds_alternative<store::HasUnfinished>(call.command);
}

// A client's question; an operator's does not return to a worker.
bool is_lookup(const StoreCall& call) {
  return call.mailbox != nullptr && (std::holds_alternative<store::Find>(call.command) ||
                                     std::holds_alternative<store::ReadAnswer>(call.command) ||
                                     std::holds_alternative<store::Cancel>(call.command));
}

bool is_letter(const StoreCall& call) { return std::holds_alternative<store::Bury>(call.command); }

}  // namespace

bool CallQueue::add(StoreCall& call) {
  if (is_key_question(call)) {
    if (key_questions_.size() >= kMostKeyQuestions) return false;
    key_questions_.push_back(&call);
    return true;
  }
  if (is_lookup(call)) {
    if (lookups_.size() >= kMostLookups) return false;
    lookups_.push_back(&call);
    return true;
  }
  const std::size_t its = bytes_of(call.command);
  if (is_letter(call)) {
    if (!has_room_for_letter()) return false;
    letters_.push_back(&call);
    letter_bytes_ += its;
    return true;
  }
  if (call.is_notice) {
    if (room_for_notices() == 0) return false;
    notices_.push_back(&call);
    notice_bytes_ += its;
    return true;
  }
  const bool has_room = calls_.size() < kMostCalls && bytes_ < kMostBytes;
  if (!has_room && !is_settle(call)) return false;
  calls_.push_back(&call);
  bytes_ += its;
  return true;
}

StoreCall* CallQueue::take(Calls& from) {
  StoreCall* const call = from.front();
  from.pop_front();
  return call;
}

StoreCall* CallQueue::take(Calls& from, std::size_t& bytes) {
  bytes -= bytes_of(from.front()->command);
  return take(from);
}

bool CallQueue::is_long(const Batch& batch) {
  return batch.size() == 1 && may_take_long(batch.front()->command);
}

CallQueue::Batch CallQueue::take_batch() {
  Batch batch;
  std::size_t bytes = 0;
  while (!calls_.empty() && batch.size() < kBatchCalls && bytes < kBatchBytes) {
    const bool is_alone = may_take_long(calls_.front()->command);
    if (is_alone && !batch.empty()) break;
    bytes += bytes_of(calls_.front()->command);
    batch.push_back(take(calls_, bytes_));
    if (is_alone) return batch;
  }
  for (std::size_t n = 0; n < kBatchKeyQuestions && !key_questions_.empty(); ++n)
    batch.push_back(take(key_questions_));
  std::size_t answers = 0;
  for (std::size_t n = 0; n < kBatchLookups && !lookups_.empty(); ++n) {
    const bool is_answer = std::holds_alternative<store::ReadAnswer>(lookups_.front()->command);
    if (is_answer && ++answers > kBatchAnswers) break;
    batch.push_back(take(lookups_));
  }
  // At least one in each batch, so that none waits for ever.
  for (std::size_t n = 0; n < kBatchLetters && !letters_.empty(); ++n) {
    if (n > 0 && bytes >= kBatchBytes) break;
    bytes += bytes_of(letters_.front()->command);
    batch.push_back(take(letters_, letter_bytes_));
  }
  for (std::size_t n = 0; n < kBatchNotices && !notices_.empty(); ++n)
    batch.push_back(take(notices_, notice_bytes_));
  return batch;
}

CallQueue::Batch CallQueue::take_refused() {
  Batch refused(key_questions_.begin(), key_questions_.end());
  refused.insert(refused.end(), lookups_.begin(), lookups_.end());
  refused.insert(refused.end(), letters_.begin(), letters_.end());
  refused.insert(refused.end(), notices_.begin(), notices_.end());
  key_questions_.clear();
  lookups_.clear();
  letters_.clear();
  notices_.clear();
  letter_bytes_ = notice_bytes_ = 0;
  Calls kept;
  for (StoreCall* const call : std::exchange(calls_, {})) {
    if (is_settle(*call)) {
      kept.push_back(call);
    } else {
      refused.push_back(call);
      bytes_ -= bytes_of(call->command);
    }
  }
  calls_ = std::move(kept);
  return refused;
}

bool CallQueue::remove(const StoreCall& call) {
  const auto found = std::find(calls_.begin(), calls_.end(), &call);
  if (found == calls_.end()) return false;
  bytes_ -= bytes_of(call.command);
  calls_.erase(found);
  return true;
}

void CallQueue::put_back(StoreCall& settle) {
  calls_.push_front(&settle);
  bytes_ += bytes_of(settle.command);
}

std::map<std::string, std::uint64_t> CallQueue::letters_by_route() const {
  std::map<std::string, std::uint64_t> counts;
  for (const StoreCall* const call : letters_) ++counts[call->as<store::Bury>().job.lane.route];
  return counts;
}

}  // namespace spillway::proxy

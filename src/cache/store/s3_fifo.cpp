#include "cache/store/s3_fifo.hpp"

namespace spillway::cache {

void S3Fifo::enter(StoredResponse& response, Queue queue, std::uint8_t frequency) {
  response.in_main_ = queue == Queue::main;
  response.frequency_ = frequency;
  queue_of(response).push_back(response);
  if (queue == Queue::small) small_bytes_ += response.bytes();
}

void S3Fifo::insert(StoredResponse& response) {
  enter(response, ghost_.take(response.key().hash) ? Queue::main : Queue::small, 0);
}

void S3Fifo::replace(StoredResponse& response, StoredResponse& by) {
  by.in_main_ = response.in_main_;
  by.frequency_ = response.frequency_;
  queue_of(response).insert(ResponseList::s_iterator_to(response), by);
  if (!by.in_main_) small_bytes_ += by.bytes();
  erase(response);
}

void S3Fifo::erase(StoredResponse& response) {
  queue_of(response).erase(ResponseList::s_iterator_to(response));
  if (!response.in_main_) small_bytes_ -= response.bytes();
}

StoredResponse* S3Fifo::examine(TimePoint now, const InvalidationTimes& invalidated,
                                std::size_t& chances) {
  ResponseList& queue = main_.empty() || small_bytes_ > small_limit_ ? small_ : main_;
  if (queue.empty()) return nullptr;
  StoredResponse& response = queue.front();
  const bool was_in_main = response.in_main_;
  const std::uint8_t frequency = response.frequency_;
  const bool useful = now < response.head_.useful_until &&
                      !invalidated.is_invalid(response.head_.uri_hash, response.requested_at());
  erase(response);
  if (response.is_read() && useful) {
    enter(response, Queue::main, frequency);
  } else if (useful && !was_in_main && frequency >= kToMain) {
    enter(response, Queue::main, 0);
  } else if (useful && was_in_main && frequency > 0 && chances > 0) {
    --chances;
    enter(response, Queue::main, static_cast<std::uint8_t>(frequency - 1));
  } else {
    if (useful && !was_in_main) ghost_.add(response.key().hash, response.bytes());
    return &response;
  }
  return nullptr;
}

}  // namespace spillway::cache

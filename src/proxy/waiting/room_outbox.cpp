#include "proxy/waiting/room_outbox.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>

namespace spillway::proxy {

namespace {

constexpr std::chrono::milliseconds kLogPatience{3'000};

// Removes and returns the first ones.
std::vector<waiting::TicketId> take_some(std::set<waiting::TicketId>& from, std::size_t most) {
  const auto some = static_cast<std::ptrdiff_t>(std::min(from.size(), most));
  const auto end = std::next(from.begin(), some);
  std::vector<waiting::TicketId> taken(from.begin(), end);
  from.erase(from.begin(), end);
  return taken;
}

}  // namespace

bool RoomOutbox::submit(std::shared_ptr<RoomCall> call) {
  {
    const std::lock_guard lock(mutex_);
    if (is_refused_ || calls_.size() >= kMostCalls) return false;
    calls_.push_back(std::move(call));
  }
  ring_();
  return true;
}

void RoomOutbox::add(std::set<waiting::TicketId>& to, const waiting::TicketId& id) {
  const std::lock_guard lock(mutex_);
  if (to.size() < kMostHeard) to.insert(id);
}

void RoomOutbox::count(waiting::WaitingRoom::Door door) {
  using Door = waiting::WaitingRoom::Door;
  const std::lock_guard lock(mutex_);
  if (door == Door::wait) turned_.has_stamped = true;
  if (door == Door::full) ++turned_.full;
  if (door == Door::taken) ++turned_.taken;
}

void RoomOutbox::agree(const waiting::Terms& terms) {
  const std::lock_guard lock(mutex_);
  terms_ = terms;
}

RoomOutbox::Calls RoomOutbox::take_calls() {
  const std::lock_guard lock(mutex_);
  if (calls_.size() <= kAtATime) return std::exchange(calls_, {});
  const auto end = calls_.begin() + kAtATime;
  Calls some(std::make_move_iterator(calls_.begin()), std::make_move_iterator(end));
  calls_.erase(calls_.begin(), end);
  return some;
}

bool RoomOutbox::has_news() const {
  const std::lock_guard lock(mutex_);
  return !heard_.empty() || !stayed_.empty() || turned_.has_stamped || turned_.full > 0 ||
         turned_.taken > 0 || terms_;
}

bool RoomOutbox::is_urgent() const {
  const std::lock_guard lock(mutex_);
  return !calls_.empty() || terms_;
}

waiting::News RoomOutbox::take_news() {
  const std::lock_guard lock(mutex_);
  waiting::News news;
  news.heard = take_some(heard_, kHeardAtATime);
  news.stayed = take_some(stayed_, kHeardAtATime);
  news.turned = std::exchange(turned_, {});
  news.terms = std::exchange(terms_, std::nullopt);
  return news;
}

void RoomOutbox::put_back(waiting::News news) {
  const std::lock_guard lock(mutex_);
  heard_.insert(news.heard.begin(), news.heard.end());
  stayed_.insert(news.stayed.begin(), news.stayed.end());
  turned_.has_stamped |= news.turned.has_stamped;
  turned_.full += news.turned.full;
  turned_.taken += news.turned.taken;
  if (!terms_) terms_ = std::move(news.terms);
}

std::vector<waiting::TicketId> RoomOutbox::reported() const {
  const std::lock_guard lock(mutex_);
  std::vector<waiting::TicketId> all;
  std::ranges::set_union(heard_, stayed_, std::back_inserter(all));
  return all;
}

std::optional<waiting::Outcome> wait_for_log(RoomOutbox& outbox, waiting::Command command) {
  const auto done = std::make_shared<std::promise<void>>();
  const auto call = std::make_shared<RoomCall>(std::move(command), [done] { done->set_value(); });
  if (!outbox.submit(call)) return std::nullopt;
  const bool is_done = done->get_future().wait_for(kLogPatience) == std::future_status::ready;
  return is_done ? call->outcome : std::nullopt;
}

void RoomOutbox::refuse(bool is_refused) {
  Calls refused;
  {
    const std::lock_guard lock(mutex_);
    is_refused_ = is_refused;
    if (is_refused) refused = std::exchange(calls_, {});
  }
  for (const auto& call : refused) call->done();
}

}  // namespace spillway::proxy

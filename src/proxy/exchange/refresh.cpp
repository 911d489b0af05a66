// The background request that makes a stale answer fresh again after it has been given out: of the
// lowest class, only if a slot is free, one at a time per key, and with nobody waiting for it.
#include <algorithm>
#include <cstring>

#include "http/framing.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

bool Exchange::refresh(const Exchange& served) {
  cache::ResponseCache& cache = *served.cache_;
  if (worker_.failed_lately(served.key_.hash())) return false;
  if (!cache.flights().try_lead(served.key_.hash())) return false;  // somebody is about it
  begin_request(*served.here_);
  in_background_ = true;
  cache_ = &cache;
  cache_status_.has_cache = true;
  looked_up_ = true;
  key_ = served.key_;
  stored_ = served.stored_;
  flight_ = key_.hash();
  leads_ = is_for_store_ = true;
  classified_ = true;
  subject_ = served.subject_;
  gone_asker_ = *served.asker_;
  asker_ = &gone_asker_;

  began_ = dispatched_ = Clock::now();
  Gate& gate = here_->upstream(subject_.upstream).gate;
  ticket_.state = dispatch::Waiter::State::idle;
  const dispatch::Terms its_terms = terms(began_);
  if (gate.enter(ticket_, its_terms, began_).kind != dispatch::Offer::Kind::granted) {
    here_->metrics.cache_refresh(subject_.route, observe::CacheRefresh::no_room);
    land(cache::Landing::nothing);
    end_refresh();
    return false;
  }
  slot_ = Slot(gate, its_terms.traffic_class, began_);

  const std::string_view head = served.head();
  head_block_ = (head.size() <= worker_.small_blocks.block_size() ? worker_.small_blocks
                                                                  : worker_.large_blocks)
                    .take();
  std::memcpy(head_block_.bytes().data(), head.data(), head.size());
  http::parse_request({head_block_.bytes().data(), head.size()}, request_);
  http::request_framing(request_);
  request_.method = http::Verb::get;
  request_.method_name = "GET";
  // Its texts are views of the head.
  subject_ = here_->generation().classifier.classify(request_, asker_->peer, began_);
  run_refresh();
  return true;
}

Detached Exchange::run_refresh() {
  frame_ = co_await OwnFrame{};
  const bool answered = co_await forward();
  if (answered && response_.status == 304) {
    confirm_stored();
    here_->metrics.cache_refresh(subject_.route, observe::CacheRefresh::not_modified);
  } else {
    bool stored = false;
    if (answered) stored = co_await absorb();
    if (!stored) worker_.remember_failed(key_.hash());
    here_->metrics.cache_refresh(
        subject_.route, stored ? observe::CacheRefresh::stored : observe::CacheRefresh::failed);
  }
  land(cache::Landing::nothing);
  let_go_of_upstream();
  end_refresh();
  worker_.end_exchange(*this);
}

// Reads the response into the store. False when it was not stored.
Task<bool> Exchange::absorb() {
  response_body_ = http::BodyReader(response_.framing, http::BodyReader::kNoLimit,
                                    http::BodyReader::Of::response);
  upstream_done_ = response_body_.done();
  begin_storing();
  if (!filling_) here_->signals(subject_.upstream).record_result(response_.status >= 500);
  const Milliseconds timeout = here_->upstream(subject_.upstream).config.response_timeout;
  while (filling_) {
    if (!take_in_body(true)) co_return false;
    in_valid_ = in_received_ = 0;
    if (upstream_done_) {
      const bool stored = filling_.has_value();
      upstream_finished();
      co_return stored;
    }
    const IoResult result = upstream_->receive(in_block_.bytes());
    if (result.status == IoResult::Status::done) {
      in_received_ = result.bytes;
    } else if (result.status == IoResult::Status::would_block) {
      const TimePoint deadline = std::min(Clock::now() + timeout, response_due_);
      const Wake wake = co_await parking_.park(deadline, &upstream_->readable());
      if (wake != Wake::timeout) continue;
      co_return fail_within_answer(upstream_stalled());
    } else {
      upstream_done_ = result.status == IoResult::Status::end &&
                       response_body_.end_of_input() == http::Error::none;
      if (!upstream_done_) co_return fail_within_answer(upstream_invalid(http::Error::truncated));
      const bool stored = filling_.has_value();
      upstream_finished();
      co_return stored;
    }
  }
  co_return false;
}

void Exchange::end_refresh() {
  in_background_ = false;
  reset_store_use();
  head_block_.release();
  out_block_.release();
  in_block_.release();
}

}  // namespace spillway::proxy

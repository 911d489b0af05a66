// Whether a request that failed is sent again, and when.
//
// Only where nothing can have happened twice. A request of which no byte went out may always be
// sent again; one that was sent only if its method is idempotent, its body is at hand and not one
// byte of an answer came. Never after a timeout: the server may still be at work on it.
//
// A kept connection that turns out dead is replaced by a fresh one at once, and only once: that it
// idled for too long is nobody's failure. Everything else is one of `retries.attempts`, and takes
// from the upstream's retry budget, so that where everything fails the upstream is hardly asked
// more often than it would be without retries. Before it asks servers again that have just failed,
// the request pauses; it keeps its slot meanwhile, since pauses are short and a request that gave
// its slot back would have to queue for another.
#include "http/method.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"
#include "resilience/backoff.hpp"

namespace spillway::proxy {

namespace {
// Of a pause, either way: those who failed together do not come back together.
constexpr double kBackoffJitter = 0.5;
}  // namespace

bool Exchange::may_send_again(Attempt attempt) const {
  if (attempt == Attempt::unsent) return true;
  return attempt == Attempt::broken && http::is_idempotent(request_.method) && !body_is_streamed_;
}

bool Exchange::has_untried_server() const {
  return !(here_->upstream(subject_.upstream).servers.all() - tried_).empty();
}

// After an attempt that failed. True when it is time for another one, and the request has not
// failed any more; otherwise its fault stands.
Task<bool> Exchange::retry(Attempt attempt) {
  if (!may_send_again(attempt)) co_return false;
  if (is_on_kept_connection_ && !is_replaced_) {
    is_replaced_ = true;
    failed_ = false;
    here_->metrics.retry(subject_.upstream, observe::RetryResult::stale);
    co_return true;
  }
  // Nobody waits for a request in the background.
  const config::Retries& settings = here_->upstream(subject_.upstream).config.retries;
  if (retries_ >= settings.attempts || in_background_) co_return false;
  const resilience::Backoff backoff{settings.backoff, settings.max_backoff, kBackoffJitter};
  const Duration pause =
      has_untried_server() ? Duration{0} : backoff.delay(++pauses_, worker_.random);
  const TimePoint now = Clock::now();
  if (now + pause >= head_due()) co_return false;
  if (!here_->retry_budget(subject_.upstream).try_retry(now)) {
    here_->metrics.retry(subject_.upstream, observe::RetryResult::no_budget);
    co_return false;
  }
  ++retries_;
  failed_ = false;
  if (pause > Duration{0}) {
    watches_client_ = true;
    ++worker_.pausing;
    const Wake wake = co_await parking_.park(now + pause);
    --worker_.pausing;
    watches_client_ = false;
    if (wake == Wake::client_gone) co_return fail(client_gone());
  }
  here_->metrics.retry(subject_.upstream, observe::RetryResult::sent);
  co_return true;
}

}  // namespace spillway::proxy

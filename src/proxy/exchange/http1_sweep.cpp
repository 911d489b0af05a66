// What a worker's sweep does to a session (swept.hpp).
#include "proxy/exchange/http1_session.hpp"

namespace spillway::proxy {

void Http1Session::wake_if_late(TimePoint now) {
  if (parking_.parked() && parking_.deadline() <= now) {
    parking_.wake(Wake::timeout);
  } else if (parking_.parked() && rate_.deadline() <= now && abort_if_client_too_slow(now)) {
    parking_.wake(Wake::client_gone);
  } else if (exchange_) {
    exchange_->body().wake_if_late(now);
  }
}

// Resets the connection of a client that receives its response too slowly. After a plain close the
// kernel would go on buffering the rest.
bool Http1Session::abort_if_client_too_slow(TimePoint now) {
  const SendRateMonitor::Verdict verdict = rate_.judge(client_->descriptor(), now);
  if (verdict == SendRateMonitor::Verdict::fast_enough) return false;
  if (verdict == SendRateMonitor::Verdict::too_slow) services_.gauges.too_slow_takers.add();
  client_->abort();
  return true;
}

int Http1Session::watched_client() {
  return parking_.watches_client() ? client_->descriptor() : -1;
}

std::optional<Swept::AwaitedHead> Http1Session::awaited_head() const {
  if (!exchange_) return std::nullopt;
  const std::optional<TimePoint> since = exchange_->head_awaited_since();
  if (!since) return std::nullopt;
  const RequestContext& request = exchange_->request();
  return AwaitedHead{request.generation.get(), request.subject.upstream, *since};
}

bool Http1Session::keeps_to(const Generation& generation) const {
  return exchange_ && &exchange_->request().generation->generation() == &generation;
}

void Http1Session::end_early() {
  if (parking_.watches_client()) {
    client_left();
  } else if (parking_.parked()) {
    parking_.wake(Wake::timeout);
  } else if (exchange_) {
    exchange_->body().end_early();
  }
}

void Http1Session::abandon() {
  // Destroys the suspended coroutines, and with their frames all that they own.
  frame_.destroy();
  event_stream_.reset();
  exchange_.reset();
  if (client_) client_->close();
}

}  // namespace spillway::proxy

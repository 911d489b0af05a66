#include "proxy/exchange/background_refresh.hpp"

#include <cstring>

#include "http/message/framing.hpp"
#include "proxy/call/background_response.hpp"
#include "proxy/call/record_result.hpp"

namespace spillway::proxy {

namespace {
BlockPool& pool_for(std::string_view head, Services& services) {
  return head.size() <= services.small_blocks.block_size() ? services.small_blocks
                                                           : services.large_blocks;
}
}  // namespace

BackgroundRefresh::BackgroundRefresh(Services& services, const RefreshRequest& request)
    : services_(services),
      block_(pool_for(request.head, services).take()),
      client_(request.served.client),
      request_(RequestContext::Kind::refresh, *request.served.generation, head_, client_,
               services.now()),
      key_(request.lookup.key()),
      admission_(services, request_, parking_),
      lookup_(services, request_, key_),
      flight_(services, request_, lookup_, parking_),
      fill_(services, request_, lookup_, flight_),
      call_(services, request_, parking_, admission_, lookup_, nullptr, nullptr) {
  std::memcpy(block_.bytes().data(), request.head.data(), request.head.size());
  http::parse_request({block_.bytes().data(), request.head.size()}, head_);
  http::request_framing(head_);
  head_.method = http::Verb::get;
  head_.method_name = "GET";
  request_.is_classified = true;
  // Classified again, because the classification holds views of the head.
  request_.classification =
      request_.generation->generation().classifier.classify(head_, client_.peer, request_.arrived);
  lookup_.revalidate(*request.lookup.cache(), request.lookup.stored());
}

void BackgroundRefresh::begin(Services& services, const RefreshRequest& request) {
  Circuits& circuits = request.served.generation->circuits(request.served.classification.upstream);
  if (services.draining || circuits.time_until_allowed().count() != 0) return;
  auto job = std::make_unique<BackgroundRefresh>(services, request);
  if (!job->takes_slot()) return;
  services.owner.begin(*job);
  job.release()->run();
}

bool BackgroundRefresh::takes_slot() {
  if (services_.recent.failed_lately(key_.hash(), request_.arrived) || !flight_.try_lead())
    return false;
  if (admission_.take_free_slot(request_.arrived)) return true;
  request_.metrics().cache_refresh(request_.classification.route, observe::CacheRefresh::no_room);
  flight_.land(cache::Landing::nothing);
  return false;
}

Detached BackgroundRefresh::run() {
  frame_ = co_await OwnFrame{};
  using Result = observe::CacheRefresh;
  Result result = Result::failed;
  const std::optional<Fault> fault = co_await call_.ask();
  if (!fault && call_.response().status == 304) {
    flight_.land(call_.finish_confirmed() ? cache::Landing::stored : cache::Landing::nothing);
    result = Result::not_modified;
  } else if (!fault) {
    const bool stored = co_await store_response();
    if (stored) result = Result::stored;
  }
  if (result == Result::failed) services_.recent.remember_failed(key_.hash(), services_.now());
  request_.metrics().cache_refresh(request_.classification.route, result);
  flight_.land(cache::Landing::nothing);
  call_.abandon();
  services_.owner.end(*this);
}

// Reads the response into the cache. False: it was not stored.
Task<bool> BackgroundRefresh::store_response() {
  const http::ResponseHead& response = call_.response();
  fill_.begin(response, admission_.dispatched(), false);
  if (!fill_.is_filling()) {
    record_result(request_, response.status >= 500);
    co_return false;
  }
  const OnContent keep = [this](std::string_view content) {
    fill_.append(content);
    return fill_.is_filling() ? Wanted::more : Wanted::nothing;
  };
  const BackgroundRead read = co_await read_in_background(parking_, request_, call_, keep);
  if (read.status != BackgroundRead::Status::done) co_return false;
  const bool stored = fill_.is_filling();
  fill_.finish();
  call_.finish();
  co_return stored;
}

void BackgroundRefresh::wake_if_late(TimePoint now) {
  if (parking_.parked() && parking_.deadline() <= now) parking_.wake(Wake::timeout);
}

std::optional<Swept::AwaitedHead> BackgroundRefresh::awaited_head() const {
  const std::optional<TimePoint> since = call_.head_awaited_since();
  if (!since) return std::nullopt;
  const auto& classification = request_.classification;
  return AwaitedHead{request_.generation.get(), classification.upstream, classification.route,
                     *since};
}

bool BackgroundRefresh::keeps_to(const Generation& generation) const {
  return &request_.generation->generation() == &generation;
}

// As if a client had left, which is held against no server.
void BackgroundRefresh::end_early() {
  if (parking_.parked()) parking_.wake(Wake::client_gone);
}

}  // namespace spillway::proxy

// Sends the answer, each kind in its own way. ResponseRelay relays the upstream's response.
#include <string>

#include "cache/rules/reading.hpp"
#include "config/choices.hpp"
#include "http/caching/conditional.hpp"
#include "http/field/accept.hpp"
#include "proxy/exchange/background_refresh.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/exchange/tunnel.hpp"
#include "proxy/request/answer/limit_detail.hpp"

namespace spillway::proxy {

namespace {
// How often a slow client that receives a stored response is checked.
constexpr Duration kReadingRound = std::chrono::seconds(1);
}  // namespace

// Sends the answer. A fault if it could not be sent completely. Before that, a visitor's session in
// a waiting room may end.
Task<std::optional<Fault>> Exchange::send(const Answer& answer) {
  const VisitorSessionEnd end =
      session_.has_started() ? VisitorSessionEnd::none : session_end_with(answer);
  return end == VisitorSessionEnd::none ? send_as(answer) : send_last(answer, end);
}

VisitorSessionEnd Exchange::session_end_with(const Answer& answer) const {
  if (const Fault* const fault = fault_in(answer))
    return visitor_session_end(entrance_.session(), fault->status, nullptr);
  if (!is<UpstreamResponse>(answer)) return VisitorSessionEnd::none;
  return visitor_session_end(entrance_.session(), call_.response().status, &call_.response());
}

Task<std::optional<Fault>> Exchange::send_last(const Answer& answer, VisitorSessionEnd end) {
  co_await entrance_.end_session(end);
  std::optional<Fault> failure = co_await send_as(answer);
  co_return failure;
}

Task<std::optional<Fault>> Exchange::send_as(const Answer& answer) {
  return by_kind(
      answer,  //
      [this](const Fault& fault) { return send_problem(fault); },
      [this](UpstreamResponse) { return relay_.run(); },
      [this](ProtocolSwitch) { return open_tunnel(); },
      [this](CachedResponse) { return send_cached(); },
      [this](RouteFallback) { return send_fallback(); },
      [this](DeferredRequest) {
        job_resource().report_deferred(deferral_.job(), deferral_.applied_to_202());
        return send_own(local_reply_);
      },
      [this](JobReport) { return send_own(local_reply_); },
      [this](JobEvents) { return job_resource().send_events(session_, admission_); },
      [this](WaitingPage) { return send_own(local_reply_); },
      [this](WaitingReport) { return send_own(local_reply_); },
      [this](WaitingEvents) {
        return waiting_resource().send_events(session_, parking_, admission_);
      });
}

// Fields that are added to cached and fallback responses.
http::ForwardedResponse Exchange::additions(const http::CacheStatus& status) const {
  const overload::Verdict& verdict = admission_.verdict();
  const bool is_degraded = admission_.is_degraded();
  return {.request_id = request_.id(services_.random),
          .degraded = is_degraded ? config::name(verdict.mode) : std::string_view{},
          .degraded_for = verdict.reason,
          .cache_status = status,
          .pass_lines = request_.pass_lines};
}

// A refusal or an upstream error: a problem response of the proxy itself.
Task<std::optional<Fault>> Exchange::send_problem(const Fault& fault) {
  // With a slow client the upstream has been waiting, not working, so its slot is freed at once.
  fault.reason == Reason::slow_client ? call_.drop() : call_.abandon();
  if (session_.has_started()) {  // too late for another response; this one must not look complete
    session_.abort();
    co_return std::nullopt;
  }
  if (fault.status == 0) {
    session_.close_now();
    co_return std::nullopt;
  }
  const std::string limit = limit_detail(fault, request_.limits());
  session_.start_problem(
      {.status = fault.status,
       .reason = fault.reason,
       .class_name = request_.is_classified ? std::string_view(request_.traffic_class().name)
                                            : std::string_view{},
       .retry_after = admission_.book_return(fault),
       .predicted_wait = admission_.predicted_wait(fault),
       .queue_wait = admission_.queue_wait(),
       .request_id = request_.id(services_.random),
       .detail = limit.empty() ? std::string_view(fault.detail) : limit,
       .proxy_error = fault.proxy_error,
       .date = services_.wall_clock.date(),
       .html = http::prefers_html(request_.head.fields),
       .cache_status = lookup_.status_for(fault),
       .pass_lines = request_.pass_lines,
       .head_only = request_.head.method == http::Verb::head},
      !fault.close);
  const bool sent = co_await send_to_client(parking_, session_, {});
  if (!sent) session_.close_now();
  co_return std::nullopt;
}

Task<std::optional<Fault>> Exchange::send_cached() {
  const cache::StoredPtr stored = lookup_.stored();  // pinned while it is being sent
  const TimePoint now = Clock::now();
  const bool has_content = stored->status() != 204;
  const http::StoredHead head{
      .status = stored->status(),
      .reason_phrase = stored->reason_phrase(),
      .lines = stored->lines(),
      .content_length =
          has_content ? std::optional<std::uint64_t>(stored->content().size()) : std::nullopt,
      .age = std::chrono::floor<std::chrono::seconds>(stored->age(now)).count(),
      .part = lookup_.part()};
  http::ForwardedResponse with = additions(lookup_.status_of_stored(now));
  with.queue_wait = admission_.queue_wait();
  const bool is_known =
      stored->status() == 200 && http::not_modified(request_.head.fields,
                                                    {.etag = stored->etag(),
                                                     .last_modified = stored->last_modified(),
                                                     .date = stored->date()},
                                                    services_.wall_clock.now());
  if (!session_.start_cached(head, is_known, with)) co_return response_too_large();
  std::string_view content = stored->content();
  if (is_known || request_.head.method == http::Verb::head) content = {};
  if (!content.empty() && head.part) content = content.substr(head.part->first, head.part->size());
  const bool sent = co_await send_kept(content, stored.get());
  if (lookup_.wants_refresh()) {
    BackgroundRefresh::begin(services_,
                             {.served = request_, .head = session_.head_text(), .lookup = lookup_});
  }
  if (!sent) co_return client_gone();
  co_return std::nullopt;
}

// Sends content that stays in memory until the client has taken it. If others need that memory, a
// client that takes it too slowly is cut off (reading.hpp). `stored`: the response that the content
// is part of, or null.
Task<bool> Exchange::send_kept(std::string_view content, const cache::StoredResponse* stored) {
  TimePoint since = services_.now();
  std::uint64_t before = 0;
  for (;;) {
    const std::size_t sent = session_.body_bytes_sent();
    SendToClient round(parking_, session_, content.substr(sent),
                       {.deadline = services_.now() + kReadingRound, .client_gone = true});
    const bool is_done = co_await round;
    if (is_done) co_return true;
    if (!round.has_timed_out()) co_return false;  // the client is gone
    const TimePoint now = services_.now();
    const cache::Reading reading{now - since, session_.body_bytes_sent() - before};
    if (reading.lasted < cache::kReadingGrace) continue;
    const bool is_wanted = stored != nullptr ? stored->is_wanted_back(now)
                                             : services_.recent.missed_memory_lately(now);
    if (is_wanted && !cache::may_go_on(reading)) {
      services_.gauges.too_slow_takers.add();
      session_.abort();
      co_return false;
    }
    since = now;
    before += reading.bytes;
  }
}

Task<std::optional<Fault>> Exchange::send_fallback() {
  const auto& fallback = *request_.generation->fallback(request_.classification.route);
  const auto& form = fallback.form(http::prefers_html(request_.head.fields));
  const http::FallbackHead head{.status = fallback.status(),
                                .lines = fallback.lines(),
                                .content_type = form.type,
                                .content_length = form.content.size(),
                                .varies = fallback.varies(),
                                .is_final = fallback.has_cache_control()};
  http::ForwardedResponse with =
      additions({.has_cache = lookup_.status().has_cache, .detail = "fallback"});
  with.date = services_.wall_clock.date();
  with.queue_wait = admission_.queue_wait();
  if (!session_.start_fallback(head, with)) co_return response_too_large();
  const bool with_content = request_.head.method != http::Verb::head;
  const bool sent =
      co_await send_to_client(parking_, session_, with_content ? form.content : std::string_view{});
  if (!sent) co_return client_gone();
  co_return std::nullopt;
}

Task<std::optional<Fault>> Exchange::send_own(const LocalReply& response) {
  const http::FallbackHead head{.status = response.status,
                                .lines = response.lines,
                                .content_type = {},
                                .content_length = response.content.size(),
                                .is_final = true};
  http::ForwardedResponse with{.request_id = request_.id(services_.random),
                               .pass_lines = request_.pass_lines};
  if (!response.has_date) with.date = services_.wall_clock.date();
  if (response.has_request_id) with.request_id = {};
  with.queue_wait = admission_.queue_wait();
  if (!session_.start_fallback(head, with)) co_return response_too_large();
  std::string_view content = response.content;
  if (request_.head.method == http::Verb::head) content = {};
  if (response.takes_memory) {
    const bool kept_up = co_await send_kept(content, nullptr);
    if (!kept_up) co_return client_gone();
    co_return std::nullopt;
  }
  const bool sent = co_await send_to_client(parking_, session_, content);
  if (!sent) co_return client_gone();
  co_return std::nullopt;
}

// The upstream has switched protocols: passes its head on and hands both connections to a tunnel,
// which outlives this request and its generation.
Task<std::optional<Fault>> Exchange::open_tunnel() {
  auto tunnel =
      std::make_unique<Tunnel>(services_, std::move(call_.permit()), call_.detach_tunnel(),
                               request_.limits().tunnel_idle_timeout);
  tunnel->keep_stay(entrance_.lasting_stay());
  const http::ForwardedSwitch with{.protocol = request_.upgrade,
                                   .request_id = request_.id(services_.random),
                                   .pass_lines = request_.pass_lines};
  const ClientSession::Switched switched = co_await session_.send_switching(call_.response(), with);
  if (switched == ClientSession::Switched::head_too_large)
    co_return upstream_invalid(http::Error::head_too_large);
  if (switched == ClientSession::Switched::client_gone) {
    session_.close_now();
    co_return client_gone();
  }
  const RelayState& state = call_.state();
  if (state.checked_to() < state.end())
    tunnel->keep_for_client({std::move(call_.block()), state.checked_to(), state.end()});
  session_.hand_over(std::move(tunnel));
  co_return std::nullopt;
}

}  // namespace spillway::proxy

// The route's prepared answer, which costs the upstream nothing.
#include "config/choices.hpp"
#include "http/accept.hpp"
#include "http/local_response.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

// A success that nobody worked for may be told of what is only read. Whoever sends something must
// not believe that it was done.
bool Exchange::has_fallback() const {
  const cache::FallbackResponse* const prepared = here_->prepared(subject_.route);
  if (prepared == nullptr) return false;
  return request_.method == http::Verb::get || request_.method == http::Verb::head ||
         prepared->status() >= 400;
}

Task<> Exchange::give_prepared() {
  const cache::FallbackResponse& prepared = *here_->prepared(subject_.route);
  const cache::FallbackResponse::Form& form = prepared.form(http::prefers_html(request_.fields));
  plan_next_request(true);
  const http::PreparedHead head{.status = prepared.status(),
                                .lines = prepared.lines(),
                                .content_type = form.type,
                                .content_length = form.content.size(),
                                .varies = prepared.varies(),
                                .is_final = prepared.says_how_to_cache()};
  const http::ForwardedResponse with{
      .client_version = request_.version,
      .keep_alive = keep_client_,
      .request_id = find_request_id(),
      .date = worker_.date(),
      .degraded = config::name(verdict_.mode),
      .degraded_for = verdict_.reason,
      .cache_status = {.has_cache = cache_status_.has_cache, .detail = "fallback"}};
  if (!out_block_) out_block_ = worker_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  if (!http::write_prepared_head(out, head, with)) {
    out_block_ = worker_.large_blocks.take();
    out = TextWriter(out_block_.bytes());
    if (!http::write_prepared_head(out, head, with)) {
      fail(head_too_large());
      co_return;
    }
  }
  status_ = prepared.status();
  response_started_ = true;
  const bool sent = co_await send_to_client(
      out.text(), request_.method == http::Verb::head ? std::string_view{} : form.content);
  if (!sent) fail(client_gone());
}

}  // namespace spillway::proxy

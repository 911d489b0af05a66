// A visitor takes the place that the waiting page offers, with the page's form
// (waiting_room.join).
//
// A page of another site cannot do it: its form is sent without the cookie (SameSite=Lax). Nor can
// a page of a sister host: browsers mark its request as of another origin (Sec-Fetch-Site, Origin),
// and the form's value is signed for the stamp in the cookie. A form for another stamp takes
// nothing; a browser is led back to the page, with a matching form: it may be from a second tab.
#include <string>
#include <utility>
#include <variant>

#include "http/field/accept.hpp"
#include "http/field/query.hpp"
#include "proxy/visitors/visit.hpp"
#include "proxy/visitors/visitor_wish.hpp"
#include "proxy/visitors/waiting_resource.hpp"
#include "proxy/visitors/waiting_response.hpp"
#include "waiting/page/waiting_page.hpp"

namespace spillway::proxy {

namespace {

constexpr std::uint64_t kMostForm = 1024;  // bytes

struct Form {
  std::string offer;
  std::string work;  // the script's, if a place requires it
};

// Reads application/x-www-form-urlencoded; empty if it is no form of the page.
Form read_form(std::string_view text) {
  auto read = http::read_query(text);
  auto* const fields = std::get_if<http::Parameters>(&read);
  if (fields == nullptr || fields->empty() || fields->size() > 2) return {};
  Form form;
  if (fields->front().name != waiting::kOfferField) return {};
  if (fields->size() == 2) {
    if (fields->back().name != waiting::kWorkField) return {};
    form.work = std::move(fields->back().value);
  }
  form.offer = std::move(fields->front().value);
  return form;
}

}  // namespace

Task<Answer> WaitingResource::accept() {
  std::string text;
  if (body_.has_any()) {
    const std::optional<Fault> unread = co_await body_.read_small(text, kMostForm);
    if (unread) co_return *unread;
  }
  const Form form = read_form(text);
  const TimePoint now = services_.now();
  const std::optional<waiting::Token> token = tokens_.find(*room_, now);
  const bool is_stamp = token && token->kind == waiting::TokenKind::stamp;
  const bool is_browser = http::prefers_html(request_.head.fields);
  const bool is_misfit = is_stamp && !room_->takes_offer(form.offer, *token, now);
  if (!token || is_of_another_origin(request_.head, request_.client.trusted()) ||
      (is_misfit && !is_browser))
    co_return waiting_told(403,
                           "A place is taken by the form of the waiting page, and kept by the "
                           "cookie that came with it. Please load the page again.");
  // With a ticket or a pass it has a place already, for instance from a second tab.
  const bool takes = is_stamp && !is_misfit;
  VisitorStatus told;
  const auto wanted = takes ? ask_of(*room_, *token, now) : std::nullopt;
  if (wanted) {
    VisitorStatus taken = co_await take_place(*token, *wanted, form.work);
    told = std::move(taken);
  }
  // The page goes on by itself, with the same offer.
  if (told.limit != Reason::none && !is_browser) co_return refuse_visit(told);
  response_ = back_to_page(request_.head);
  if (given_) add_token(response_, *room_, *settings_, *given_, now, tokens_.is_program());
  co_return WaitingReport{};
}

}  // namespace spillway::proxy

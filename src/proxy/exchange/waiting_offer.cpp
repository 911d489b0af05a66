// A visitor takes the place that the waiting page offers it, by the page's form
// (waiting_room.join).
//
// A page of another site cannot: it gets no cookie sent along (SameSite=Lax). Nor can one of a
// sister host: browsers say that it is another origin (Sec-Fetch-Site), and what the form sends is
// signed for the stamp in the cookie. A form that was made for another stamp takes nothing; a
// browser is led back to the page, which has one that fits: it may be of a second tab.
#include <string>
#include <utility>
#include <variant>

#include "http/accept.hpp"
#include "http/query.hpp"
#include "proxy/exchange/visitor_wish.hpp"
#include "proxy/exchange/waiting_resource.hpp"
#include "proxy/exchange/waiting_response.hpp"
#include "waiting/waiting_page.hpp"

namespace spillway::proxy {

namespace {

constexpr std::uint64_t kMostForm = 1024;  // bytes

// Of a form as application/x-www-form-urlencoded; empty if it is none of the page's.
std::string offer_in(std::string_view form) {
  auto read = http::read_query(form);
  auto* const fields = std::get_if<http::Parameters>(&read);
  if (fields == nullptr || fields->size() != 1) return {};
  http::Parameter& only = fields->front();
  return only.name == waiting::kOfferField ? std::move(only.value) : std::string();
}

bool is_of_another_origin(const http::RequestHead& head) {
  const http::Field* const site = head.fields.find("Sec-Fetch-Site");
  return site != nullptr && site->value != "same-origin";
}

}  // namespace

Task<Answer> WaitingResource::accept() {
  std::string form;
  if (body_.has_any()) {
    const std::optional<Fault> unread = co_await body_.read_content(form, kMostForm);
    if (unread) co_return *unread;
  }
  if (form.size() > kMostForm) co_return waiting_told(413, "The form has more than 1024 bytes.");
  const TimePoint now = services_.now();
  const std::optional<waiting::Token> token = tokens_.find(*room_, now);
  const bool is_stamp = token && token->kind == waiting::TokenKind::stamp;
  const bool is_browser = http::prefers_html(request_.head.fields);
  const bool is_misfit = is_stamp && !room_->takes_offer(offer_in(form), *token, now);
  if (!token || is_of_another_origin(request_.head) || (is_misfit && !is_browser))
    co_return waiting_told(403,
                           "A place is taken by the form of the waiting page, and kept by the "
                           "cookie that came with it. Please load the page again.");
  // With a ticket or a pass it has a place already: of a second tab.
  const bool takes = is_stamp && !is_misfit;
  VisitorStatus told;
  const auto wanted = takes ? ask_of(*room_, *token, now) : std::nullopt;
  if (wanted) {
    VisitorStatus taken = co_await take_place(*token, *wanted);
    told = std::move(taken);
  }
  // The page goes on by itself, with the same offer.
  if (told.limit != Reason::none && !is_browser) co_return too_many_visits(told.limit, told.poll);
  response_ = back_to_page(request_.head);
  if (given_) add_token(response_, *room_, *settings_, *given_, now, tokens_.is_program());
  co_return WaitingReport{};
}

}  // namespace spillway::proxy

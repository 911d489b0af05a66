// The page for a visitor that has to wait: one HTML document with its style, script and texts. It
// shows the place as it is when the page is sent, so that it is complete without scripts. The
// document around the place is built in, or the operator's (config/page_template.hpp).
//
// What it requires of the server, below PageContent::status_path:
//   GET /ticket    the status as JSON, polled every poll_ms to 1.3 poll_ms (Retry-After if that
//                  is longer), in hidden tabs too; at most 30 s apart after failures
//   GET /events    the same as events named `status`, requested with up to 999 ahead. 409, or an
//                  end within a minute: the page polls, and asks again when half as many are ahead.
//                  With events it polls every 25 s: an open stream has to count as present.
//   POST /leave    with Spillway-Leave: 1. 2xx or 404: the place is given up
//   POST /refresh/off, POST /refresh/on   from a form, for pages without scripts (WCAG 2.2.1,
//                  failure F41); any body is ignored. Answer: 303, Location: return_path(), and
//                  Cache-Control: no-store, and Set-Cookie: spillway_still=1; Path=/; HttpOnly;
//                  SameSite=Lax; Max-Age=86400 (`on`: Max-Age=0). No token is needed or changed.
//                  A page for a request that has this cookie has `refreshes = false`.
//   POST /extend   from a called visitor. The script asks for JSON and gets the status, or no 2xx;
//                  the form gets 303 as above
//   POST /reserve  from a visitor that wants to go away and be called; answered like /extend
//   POST /rejoin   from a form of a page whose place has ended. Answer: 303 as above; tokens of the
//                  ended place are removed, so that the page gives the visitor a new one
//   POST /join     from a form: the field kOfferField has PageContent::offer. Answer: 303 as above,
//                  with a ticket, for which the page then shows a place
// With PageContent::challenge the first GET /ticket is sent when the nonce is found, with the field
// Spillway-Work, and the form has it in kWorkField. 403: the page reloads, to get the challenge
// that is in force now.
// If a second poll returns the state `arrived`, the browser keeps no cookie; after a place was
// shown, it means that the place has ended.
//
// The response needs Content-Security-Policy: waiting_page_csp(page), Referrer-Policy: same-origin,
// Cache-Control: no-store, Vary: Accept-Language, Content-Language: waiting_page_language().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "config/page_template.hpp"
#include "waiting/token/challenge.hpp"

namespace spillway::waiting {

struct Reservation {
  // Whether the place may become a reservation.
  enum class State : std::uint8_t {
    none,    // the waiting room has no reservations
    closed,  // not now, or not for this visitor
    open,
    made
  };
  State state = State::none;
  Milliseconds claim{0};  // how long its visitor has to come in
};

// All characters of the texts are shown as they are: none of them is markup.
struct PageContent {
  std::string_view room;                   // the waiting room's name
  std::string_view accept_language;        // the field, empty if absent
  std::span<const std::string> languages;  // to choose from, as for choose_language()
  std::string_view message;                // the operator's, or empty
  std::string_view status_path;            // "/_spillway/rooms/sale"
  // arrived, offered, waiting, processing, fulfilled, full, elsewhere, closed, expired, cancelled
  // or ended; anything else is shown as arrived.
  std::string_view state = "arrived";
  // The reason of `expired` or `cancelled`, as in JSON; empty if not known. A place that was
  // cancelled by anyone but its visitor is shown as expired.
  std::string_view reason{};
  Milliseconds poll{5'000};            // time until the first poll
  std::optional<std::size_t> ahead{};  // if it is waiting
  std::optional<Milliseconds> p10{};   // the expected wait, with p90
  std::optional<Milliseconds> p90{};
  std::optional<Milliseconds> begins_in{};  // no visitor is called before
  std::string_view why{};  // paused, higher_tier, returned, busy, early, lot, slower, or empty
  std::optional<Milliseconds> waited{};
  std::uint32_t extensions = 0;  // if called: how often it may get more time
  Reservation reservation{};
  bool refreshes = true;     // without scripts it reloads, every 20 s or `poll` if longer
  std::string_view offer{};  // if it is offered: the value that its form sends
  std::optional<Challenge> challenge{};        // the work for the script before there is a place
  const config::PageTemplate* page = nullptr;  // the operator's; null: the built-in one
};

inline constexpr std::string_view kOfferField = "offer";
inline constexpr std::string_view kWorkField = "work";

std::string waiting_page(const PageContent& content);

// The tag of the page's language, for Content-Language.
std::string_view waiting_page_language(const PageContent& content);

// Allows only the page's own style and script, and the styles of the template, by their hashes (CSP
// level 3 section 8.1); the same for all pages of a template. `takes_work`: for a page with a
// challenge, which has one more script.
std::string waiting_page_csp(const config::PageTemplate* page = nullptr, bool takes_work = false);

}  // namespace spillway::waiting

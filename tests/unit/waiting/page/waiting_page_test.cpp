#include "waiting/page/waiting_page.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/places.hpp"
#include "unit/waiting/page_parts.hpp"
#include "waiting/page/page_assets.hpp"
#include "waiting/page/page_language.hpp"
#include "waiting/ticket/ticket.hpp"

using namespace spillway::waiting;
using spillway::Milliseconds;

namespace {

constexpr std::string_view kAllStates[] = {"arrived",   "offered", "waiting",  "processing",
                                           "fulfilled", "full",    "closed",   "expired",
                                           "cancelled", "ended",   "elsewhere"};

PageContent content(std::string_view state = "waiting", std::string_view language = "en") {
  return {.room = "sale",
          .accept_language = language,
          .languages = {},
          .message = {},
          .status_path = "/_spillway/rooms/sale",
          .state = state,
          .ahead = state == "waiting" ? std::optional<std::size_t>(117) : std::nullopt};
}

// As gzip -9 makes it.
std::size_t compressed_size(const std::string& text) {
  const std::string path =
      spillway::support::in_build("waiting-page-") + std::to_string(::getpid()) + ".html";
  std::ofstream(path, std::ios::binary) << text;
  std::FILE* const pipe = ::popen(("gzip -9 -c '" + path + "' | wc -c").c_str(), "r");
  REQUIRE(pipe != nullptr);
  unsigned long size = 0;
  CHECK(std::fscanf(pipe, "%lu", &size) == 1);
  ::pclose(pipe);
  std::remove(path.c_str());
  REQUIRE(size > 1'000);
  return size;
}

// Everything that a visitor or the operator could have written, in one page.
std::string page_with(std::string_view hostile) {
  PageContent hostile_content = content();
  hostile_content.room = hostile;
  hostile_content.message = hostile;
  hostile_content.status_path = hostile;
  hostile_content.accept_language = hostile;
  hostile_content.state = hostile;
  return waiting_page(hostile_content);
}

}  // namespace

TEST_CASE("nothing that is written into the page is markup") {
  const std::string plain = page_with("x");
  for (const std::string_view hostile :
       {"<script>alert(1)</script>", "\" onload=\"alert(1)", "'><img src=x onerror=alert(1)>",
        "</title></style></template></script><b>", "<!--", "&lt;script&gt;", "]]>"}) {
    CAPTURE(hostile);
    const std::string page = page_with(hostile);
    CHECK(count(page, "<") == count(plain, "<"));
    CHECK(count(page, ">") == count(plain, ">"));
    CHECK(count(page, "\"") == count(plain, "\""));
    CHECK_FALSE(contains(page, hostile));
  }
  CHECK(contains(page_with("a&b"), "a&amp;b"));
}

TEST_CASE("a text that looks like a placeholder is shown as it is") {
  PageContent tricky = content();
  tricky.room = "{{path}}";
  tricky.message = "{{js}} {n} {{message}}";
  const std::string page = waiting_page(tricky);
  CHECK(contains(page, "<bdi>{{path}}</bdi>"));
  CHECK(contains(page, ">{{js}} {n} {{message}}</p>"));
}

TEST_CASE("controls are left out of what is written into the page, lines of a message are kept") {
  PageContent odd = content();
  odd.message = std::string_view("one\ntwo\0\x1b\x7f", 10);
  CHECK(contains(waiting_page(odd), ">one\ntwo</p>"));
}

TEST_CASE("the policy allows the page's own style and script, byte for byte, and nothing else") {
  const std::string csp(waiting_page_csp());
  CHECK(csp.starts_with("default-src 'none'; "));
  for (const std::string_view part :
       {"connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"})
    CHECK(contains(csp, part));
  CHECK_FALSE(contains(csp, "unsafe"));
  for (const PageTexts& texts : page_languages()) {
    for (const std::string_view state : kAllStates) {
      const std::string page = waiting_page(content(state, texts.tag()));
      CHECK(count(page, "<style") == 1);
      CHECK(count(page, "<script") == 1);
      CHECK(contains(csp, "style-src " + hash_of(between(page, "<style>", "</style>")) + ";"));
      CHECK(contains(csp, "script-src " + hash_of(between(page, "<script>", "</script>")) + ";"));
      // attributes that the policy would not let act
      CHECK_FALSE(std::regex_search(page, std::regex(R"(<[a-z][^<>]* (style|on[a-z]+)=)")));
    }
  }
}

TEST_CASE("the page is one request: no address of anything else") {
  for (const PageTexts& texts : page_languages()) {
    const std::string page = waiting_page(content("waiting", texts.tag()));
    for (const std::string_view part : {"http:", "https:", "src=", "url(", "@import", "srcset"})
      CHECK_MESSAGE(!contains(page, part), part);
    CHECK(count(page, "href=") == 1);
    CHECK(contains(page, "<link rel=\"icon\" href=\"data:,\">"));
    CHECK(contains(page, "<meta name=\"robots\" content=\"noindex\">"));
  }
}

TEST_CASE("the page is at most 8 KiB compressed, with the longest message 14 KiB") {
  std::string message;
  for (unsigned n = 0; message.size() < 2'000; ++n)
    message += std::to_string(n * 2'654'435'761U) + "<";
  for (const PageTexts& texts : page_languages()) {
    PageContent large = content("waiting", texts.tag());
    CHECK(compressed_size(waiting_page(large)) <= 8 * 1024);
    large.message = message;
    CHECK(compressed_size(waiting_page(large)) <= 14 * 1024);
  }
}

TEST_CASE("a page offers to leave and be called to who may, and tells who has that it may go") {
  CHECK_FALSE(contains(waiting_page(content()), "/reserve\""));
  for (const PageTexts& texts : page_languages()) {
    PageContent away = content("waiting", texts.tag());
    using State = Reservation::State;
    for (const State each : {State::closed, State::open, State::made}) {
      away.reservation = {each, Milliseconds(900'000)};
      const std::string page = waiting_page(away);
      const std::string form =
          between(page, "data-when=\"may_reserve\" method=\"post\" action=\"", "</form>");
      const std::string note = between(page, "data-when=\"reserved\"", "</p>");
      CHECK(form.starts_with("/_spillway/rooms/sale/reserve\""));
      CHECK(contains(form, "reserve\" hidden>") == (each != State::open));
      CHECK(contains(note, " hidden>") == (each != State::made));
      CHECK((contains(form, "15") && contains(note, "15") && !contains(form + note, "{a}")));
      for (const std::string_view stays : {std::string_view("/refresh/off"), texts.find("keep")})
        CHECK(contains(page, stays) == (each != State::made));
      CHECK(compressed_size(page) <= 9 * 1024);
    }
  }
}

TEST_CASE("each language is marked as what it is, Arabic from right to left") {
  for (const PageTexts& texts : page_languages()) {
    const std::string tag(texts.tag());
    const std::string page = waiting_page(content("waiting", tag));
    CHECK(
        contains(page, "<html lang=\"" + tag + "\" dir=\"" + (tag == "ar" ? "rtl" : "ltr") + "\""));
    CHECK(waiting_page_language(content("waiting", tag)) == tag);
    CHECK(contains(page, std::string(texts.find("h_waiting")) + "</h1>"));
    CHECK_FALSE(contains(page, "{{"));
  }
}

TEST_CASE("each state has its heading, its sentence and its title") {
  const PageTexts& texts = choose_language("en", {});
  for (const std::string_view state : kAllStates) {
    CAPTURE(state);
    const std::string page = waiting_page(content(state));
    const std::string heading(texts.find("h_" + std::string(state)));
    REQUIRE_FALSE(heading.empty());
    CHECK(contains(page, "data-state=\"" + std::string(state) + "\""));
    CHECK(contains(page, "<h1 id=\"heading\">" + heading + "</h1>"));
    CHECK(contains(page, std::string(texts.find("p_" + std::string(state))) + "</p>"));
    CHECK(
        contains(page, "<title>" + (state == "waiting" ? "118 · waiting" : heading) + "</title>"));
    CHECK(contains(
        page, "<bdi id=\"number\">" + std::string(state == "waiting" ? "118" : "") + "</bdi>"));
  }
  CHECK(contains(waiting_page(content("nonsense")), "data-state=\"arrived\""));
}

TEST_CASE("whose place has ended is told why, in each language, and by a form joins again") {
  for (const PageTexts& texts : page_languages()) {
    CAPTURE(texts.tag());
    const auto page_of = [&texts](std::string_view state, std::string_view reason) {
      PageContent over = content(state, texts.tag());
      over.reason = reason;
      return waiting_page(over);
    };
    const auto sentence = [](const std::string& page) {
      return between(page, "id=\"sentence\">", "<");
    };
    std::set<std::string> told;
    for (std::size_t n = 0; n < kEndedCount; ++n) {
      const auto why = static_cast<Ended>(n);
      if (why == Ended::cancelled) continue;
      CAPTURE(name(why));
      const std::string page = page_of(is_expiry(why) ? "expired" : "cancelled", name(why));
      const std::string_view text = texts.find("e_" + std::string(name(why)));
      REQUIRE_FALSE(text.empty());
      CHECK(sentence(page) == text);
      CHECK(told.insert(sentence(page)).second);
      CHECK(between(page, "id=\"heading\">", "<") == texts.find("h_expired"));
      CHECK(contains(page, "data-state=\"expired\""));
      CHECK(contains(page,
                     "method=\"post\" action=\"/_spillway/rooms/sale/rejoin\"><button id="
                     "\"again\">" +
                         std::string(texts.find("again")) + "</button></form>"));
    }
    const std::string left = page_of("cancelled", "cancelled");
    CHECK(sentence(left) == texts.find("p_cancelled"));
    CHECK(between(left, "id=\"heading\">", "<") == texts.find("h_cancelled"));
    CHECK(sentence(page_of("expired", "")) == texts.find("p_expired"));
    CHECK(sentence(page_of("expired", "nonsense")) == texts.find("p_expired"));
  }
}

TEST_CASE("the place and the expected wait are there without a script") {
  struct Row {
    std::size_t ahead;
    std::int64_t p10, p90;
    const char *language, *number, *expected;
  };
  const Row rows[] = {{0, 0, 60'000, "en", "1", "under a minute"},
                      {117, 90'000, 130'000, "en", "118", "1 to 3 min"},
                      {117, 10'000, 61'000, "en", "118", "1 to 2 min"},
                      {117, 121'000, 180'000, "en", "118", "2 to 3 min"},
                      {117, 130'000, 170'000, "de", "118", "2 bis 3 Min."},
                      {9'998, 7'200'000, 14'400'000, "de", "9999", "2 bis 4 Std."},
                      {9'999, 3'600'000, 10'799'000, "de", "10.000", "60 bis 180 Min."},
                      {1'234'566, 3'500'000, 10'800'000, "en", "1,234,567", "1 to 3 h"},
                      {5, 240'000, 240'000, "en", "6", "4 min"}};
  for (const Row& row : rows) {
    PageContent waits = content("waiting", row.language);
    waits.ahead = row.ahead;
    waits.p10 = Milliseconds(row.p10);
    waits.p90 = Milliseconds(row.p90);
    const std::string page = waiting_page(waits);
    CHECK(between(page, "id=\"number\">", "<") == row.number);
    CHECK(between(page, "id=\"expected\">", "<") == row.expected);
  }
  PageContent unknown = content();
  unknown.waited = Milliseconds(150'000);
  CHECK(between(waiting_page(unknown), "id=\"expected\">", "<") == "not known yet");
  CHECK(between(waiting_page(unknown), "id=\"waited\">", "<") == "2 min");
}

TEST_CASE("without scripts the page reloads itself, not too often, and that can be switched") {
  PageContent waits = content();
  std::string page = waiting_page(waits);
  CHECK(contains(page, "<noscript><meta http-equiv=\"refresh\" content=\"20\"></noscript>"));
  CHECK(contains(page, "method=\"post\" action=\"/_spillway/rooms/sale/refresh/off\""));
  waits.poll = Milliseconds(30'001);
  CHECK(contains(waiting_page(waits), "content=\"31\""));
  waits.refreshes = false;
  page = waiting_page(waits);
  CHECK_FALSE(contains(page, "http-equiv"));
  CHECK(contains(page, "action=\"/_spillway/rooms/sale/refresh/on\""));
  // a reload would put them in line again
  for (const std::string_view state : {"expired", "cancelled"})
    CHECK_FALSE(contains(waiting_page(content(state)), "<noscript>"));
}

TEST_CASE("whoever is called asks for more time by a form, as often as it may (WCAG 2.2.1)") {
  for (const PageTexts& texts : page_languages()) {
    PageContent called = content("processing", texts.tag());
    const std::string form =
        "<form id=\"more\" method=\"post\" action=\"/_spillway/rooms/sale/extend\"";
    const std::string button = "><button>" + std::string(texts.find("more")) + "</button></form>";
    CHECK(contains(waiting_page(called), form + " hidden" + button));
    called.extensions = 1;
    CHECK(contains(waiting_page(called), form + button));
  }
}

TEST_CASE("what has to be announced is: politely, and a call at once") {
  const std::string page = waiting_page(content());
  CHECK(contains(page, "<p id=\"polite\" class=\"unseen\" role=\"status\"></p>"));
  CHECK(contains(page, "<p id=\"urgent\" class=\"unseen\" role=\"alert\"></p>"));
  CHECK(count(page, "role=\"alert\"") == 1);
  CHECK(contains(page, "prefers-reduced-motion"));
}

TEST_CASE(
    "a page without scripts says why a place rises or stays, and does not reload once it has "
    "ended") {
  for (const char* const why : {"paused", "higher_tier", "returned", "busy", "slower"}) {
    CAPTURE(why);
    PageContent held = content();
    held.why = why;
    for (const PageTexts& texts : page_languages()) {
      const std::string told(texts.find(why));
      CHECK_FALSE(told.empty());
      held.accept_language = texts.tag();
      CHECK(contains(waiting_page(held), "class=\"note\">" + told + "</p>"));
      CHECK_FALSE(contains(between(waiting_page(content()), "id=\"why\"", "</p>"), told));
    }
  }
  const std::string ended = waiting_page(content("ended"));
  CHECK_FALSE(contains(ended, "http-equiv=\"refresh\""));
  CHECK_FALSE(contains(ended, "/refresh/off"));
  CHECK(contains(waiting_page(content()), "http-equiv=\"refresh\""));
}

TEST_CASE("the script finds each text that it uses, and each element") {
  const PageTexts& texts = choose_language("en", {});
  const std::string script(page_assets().js);
  const std::string given = "\n" + std::string(texts.for_script()) + "\n";
  const std::string page = waiting_page(content());
  const auto each = [&script](const char* pattern, auto check) {
    const std::regex expression(pattern);
    std::size_t found = 0;
    for (std::sregex_iterator match(script.begin(), script.end(), expression), end; match != end;
         ++match, ++found)
      check((*match)[1].str());
    return found;
  };
  const auto is_given = [&given](const std::string& key) {
    CHECK_MESSAGE(contains(given, "\n" + key + ": "), key);
  };
  const auto is_there = [&page](const std::string& id) {
    CHECK_MESSAGE(contains(page, "id=\"" + id + "\""), id);
  };
  CHECK(each(R"(texts\.(\w+))", is_given) > 10);
  CHECK(each(R"((?:at|put)\('([\w-]+)')", is_there) > 20);
  for (const char* const key : {"minutes", "hours", "range", "range_h", "title", "busy", "slower",
                                "paused", "higher_tier", "returned"})
    is_given(key);
  for (const std::string_view state : kAllStates) {
    is_given("h_" + std::string(state));
    is_given("p_" + std::string(state));
  }
  for (std::size_t n = 0; n < kEndedCount; ++n) {
    const auto why = static_cast<Ended>(n);
    if (why != Ended::cancelled) is_given("e_" + std::string(name(why)));
  }
}

TEST_CASE("where a place takes work the page says so, and what a visitor without scripts can do") {
  Challenge challenge{18, TicketId{}};
  challenge.id.bytes.fill(0xa5);
  for (const PageTexts& texts : page_languages()) {
    PageContent checked = content("arrived", texts.tag());
    CHECK(between(waiting_page(checked), "id=\"heading\">", "<") == texts.find("h_arrived"));
    CHECK_FALSE(contains(waiting_page(checked), texts.find("no_scripts")));
    CHECK(contains(waiting_page(checked), "data-bits=\"\" data-prefix=\"\""));
    checked.challenge = challenge;
    const std::string page = waiting_page(checked);
    CHECK(between(page, "id=\"heading\">", "<") == texts.find("h_checking"));
    CHECK(between(page, "id=\"sentence\">", "<") == texts.find("p_checking"));
    CHECK(between(page, "<title>", "<") == texts.find("h_checking"));
    CHECK(contains(page, "data-state=\"arrived\""));
    CHECK(between(page, "data-bits=\"", "\"") == "18");
    CHECK(between(page, "data-prefix=\"", "\"") == challenge.prefix());
    CHECK(contains(page, "<noscript><p>" + std::string(texts.find("no_scripts")) + "</p>"));
    CHECK(compressed_size(page) <= 9 * 1024);
    // Its script is a second one, which the policy allows as well.
    CHECK(count(page, "<script") == 2);
    CHECK(count(waiting_page(content("arrived", texts.tag())), "<script") == 1);
    const std::string script = between(page, "<script>", "</script>");
    CHECK(contains(script, "const proofOfWork"));
    CHECK(contains(waiting_page_csp(nullptr, true), " " + hash_of(script) + "; connect-src"));
    CHECK_FALSE(contains(waiting_page_csp(), hash_of(script)));
    // The offer says what it is before it is checked.
    PageContent offered = content("offered", texts.tag());
    offered.offer = "o1";
    CHECK_FALSE(contains(waiting_page(offered), "name=\"work\""));
    offered.challenge = challenge;
    const std::string form = between(waiting_page(offered), "<form class=\"offer\"", "</form>");
    CHECK(contains(form, "name=\"offer\" value=\"o1\""));
    CHECK(contains(form, "name=\"work\" value=\"\""));
    CHECK(between(waiting_page(offered), "id=\"heading\">", "<") == texts.find("h_offered"));
  }
}

TEST_CASE("before a draw the page shows without scripts when entry begins, and no place") {
  PageContent before = content();
  before.begins_in = Milliseconds(12 * 60'000);
  before.why = "lot";
  before.ahead.reset();
  const std::string drawn = waiting_page(before);
  CHECK(between(drawn, "<span id=\"number-label\">", "</span>") == "Entry begins in");
  CHECK(between(drawn, "<bdi id=\"number\">", "</bdi>") == "12 min");
  CHECK(between(drawn, "data-begins=\"", "\"") == "720000");
  CHECK(between(waiting_page(content()), "data-begins=\"", "\"").empty());
  before.why = "early";
  before.ahead = 117;
  const std::string by_arrival = waiting_page(before);
  CHECK(between(by_arrival, "<span id=\"number-label\">", "</span>") == "Your place");
  CHECK(between(by_arrival, "<bdi id=\"number\">", "</bdi>") == "118");
}

// The operator's template around the place.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/page_template.hpp"
#include "unit/waiting/page_parts.hpp"
#include "waiting/page/page_assets.hpp"
#include "waiting/page/page_language.hpp"
#include "waiting/page/waiting_page.hpp"

namespace spillway::waiting {
namespace {

const std::string kStyle = "\nbody { color: #123 }\n";
const std::string kTemplate =
    "<!doctype html>\n<html lang=\"{{lang}}\" dir='{{dir}}' data-state=\"{{state}}\"><head>{{head}}"
    "<style>" +
    kStyle +
    "</style><title>ACME: {{title}}</title></head>\n<body class=\"acme\" data-said=\"{{message}}\">"
    "<h2>{{heading}} / {{sentence}} / {{room}}</h2>\n"
    "<p>{{position}}|{{ahead}}|{{estimate}}|{{waited}}|{{why}}|{{message}}|</p>{{content}}"
    "<i>it is </i></body></html>\n";

config::PageTemplate own() {
  config::ReadPage read = config::read_page_template(kTemplate);
  REQUIRE_MESSAGE(read.page, read.problem);
  return *std::move(read.page);
}

PageContent content(const config::PageTemplate& page, std::string_view state = "waiting") {
  PageContent made;
  made.room = "sale";
  made.accept_language = "en";
  made.status_path = "/_spillway/rooms/sale";
  made.state = state;
  made.page = &page;
  if (state == "waiting") made.ahead = 117;
  return made;
}

// The contents of all elements of that name.
std::vector<std::string> all_of(const std::string& html, const std::string& name) {
  std::vector<std::string> found;
  const std::string begin = "<" + name + ">";
  for (std::size_t at = html.find(begin); at != html.npos; at = html.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    found.push_back(html.substr(from, html.find("</" + name, from) - from));
  }
  return found;
}

}  // namespace

TEST_CASE("the operator's page has the figures of the place, and the place itself") {
  const config::PageTemplate page = own();
  PageContent waits = content(page);
  waits.p10 = Milliseconds(90'000);
  waits.p90 = Milliseconds(130'000);
  waits.waited = Milliseconds(150'000);
  waits.why = "busy";
  waits.message = "Doors close at 20:00.";
  const std::string html = waiting_page(waits);
  const std::string why(choose_language("en", {}).find("busy"));
  CHECK(html.starts_with(
      "<!doctype html>\n<html lang=\"en\" dir='ltr' data-state=\"waiting\"><head><meta"));
  CHECK(contains(html, "<title>ACME: 118 · waiting</title>"));
  CHECK(contains(html,
                 "<h2>You are in line / This page lets you in by itself when it is your "
                 "turn. / sale</h2>"));
  CHECK(contains(html, "<p>118|117|1 to 3 min|2 min|" + why +
                           "|Doors close at 20:00.|</p><div id=\"spillway-place\""));
  CHECK(contains(html, "data-said=\"Doors close at 20:00.\""));
  CHECK(contains(html, "<bdi id=\"number\">118</bdi>"));
  CHECK(contains(html, "<meta name=\"robots\" content=\"noindex\">"));
  CHECK(contains(html, "</script>\n<i>it is </i></body></html>\n"));
  CHECK_FALSE(contains(html, "{{"));
  // Of a visitor that is not in line there are none.
  CHECK(contains(waiting_page(content(page, "full")), "<p>||||||</p>"));
}

TEST_CASE("nothing that is put into the operator's page is markup") {
  const config::PageTemplate page = own();
  PageContent plain = content(page);
  plain.message = plain.room = "x";
  const std::string before = waiting_page(plain);
  for (const std::string hostile : {"<script>alert(1)</script>", "\" onload=\"alert(1)", "' x='",
                                    "</title></style><b>", "{{content}}{{head}}", "--><!--"}) {
    CAPTURE(hostile);
    PageContent told = content(page);
    told.message = told.room = hostile;
    const std::string html = waiting_page(told);
    for (const std::string character : {"<", ">", "\"", "'"})
      CHECK(count(html, character) == count(before, character));
    CHECK(count(html, "id=\"spillway-place\"") == 1);
  }
}

TEST_CASE(
    "the policy allows the styles of the operator's page by their hash, and its scripts never") {
  const config::PageTemplate page = own();
  const std::string csp = waiting_page_csp(&page);
  const std::vector<std::string> styles = all_of(waiting_page(content(page)), "style");
  REQUIRE(styles.size() == 2);
  CHECK(styles[1] == kStyle);
  CHECK(contains(csp, "style-src " + hash_of(styles[0]) + " " + hash_of(styles[1]) + ";"));
  const std::vector<std::string> scripts = all_of(waiting_page(content(page)), "script");
  REQUIRE(scripts.size() == 1);
  CHECK(contains(csp, "script-src " + hash_of(scripts[0]) + ";"));
  CHECK(csp.starts_with("default-src 'none'; "));
  CHECK_FALSE(contains(csp, "unsafe"));
  // Another template's style is not this one's.
  CHECK_FALSE(contains(waiting_page_csp(), hash_of(kStyle)));
  CHECK(contains(waiting_page_csp(), "style-src " + hash_of(styles[0]) + ";"));
}

TEST_CASE("the operator's page reloads itself without scripts, and that can be switched off") {
  const config::PageTemplate page = own();
  PageContent waits = content(page);
  CHECK(contains(waiting_page(waits), "<noscript><meta http-equiv=\"refresh\" content=\"20\">"));
  waits.refreshes = false;
  CHECK_FALSE(contains(waiting_page(waits), "http-equiv"));
  CHECK(contains(waiting_page(waits), "action=\"/_spillway/rooms/sale/refresh/on\""));
}

TEST_CASE("the built-in page is a template, and the script needs nothing of it but its own part") {
  const config::ReadPage read = config::read_page_template(page_assets().html);
  REQUIRE_MESSAGE(read.page, read.problem);
  CHECK(read.page->style_sources.empty());
  const std::string parts = std::string(page_assets().head) + std::string(page_assets().content);
  const std::string script(page_assets().js);
  CHECK_FALSE(contains(script, "getElementById"));
  // An id of the operator's own does not get in the way, and each of ours is there once.
  const std::regex ids("id=\"([\\w-]+)\"");
  std::set<std::string> seen;
  for (std::sregex_iterator match(parts.begin(), parts.end(), ids), end; match != end; ++match)
    CHECK(seen.insert((*match)[1].str()).second);
  CHECK(seen.size() > 20);
}

TEST_CASE("a place that is offered is taken by a form, and by nothing else") {
  const config::PageTemplate page = own();
  const std::string form =
      "<form class=\"offer\" method=\"post\" action=\"/_spillway/rooms/sale/join\">"
      "<input type=\"hidden\" name=\"offer\" value=\"oAbC-_9\"><button>Take a "
      "place</button></form>";
  for (const config::PageTemplate* const each :
       {&page, static_cast<const config::PageTemplate*>(nullptr)}) {
    PageContent offered = content(page, "offered");
    offered.page = each;
    offered.offer = "oAbC-_9";
    const std::string html = waiting_page(offered);
    CHECK(count(html, form) == 1);
    CHECK(contains(html, "data-state=\"offered\""));
    CHECK(contains(html, "<h1 id=\"heading\">Do you want a place in line?</h1>"));
    CHECK(contains(html, "http-equiv=\"refresh\""));
    offered.state = "waiting";
    CHECK_FALSE(contains(waiting_page(offered), "class=\"offer\""));
  }
  for (const PageTexts& texts : page_languages()) {
    PageContent offered = content(page, "offered");
    offered.accept_language = texts.tag();
    offered.offer = "o";
    REQUIRE_FALSE(texts.find("take").empty());
    CHECK(contains(waiting_page(offered),
                   "<button>" + std::string(texts.find("take")) + "</button>"));
  }
}

}  // namespace spillway::waiting

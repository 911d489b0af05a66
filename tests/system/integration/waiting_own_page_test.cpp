// The operator's template of the waiting page: what a visitor is sent, and what a reload changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/base64.hpp"
#include "base/sha256.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kHostile =
    "</p><script>alert(1)</script><p title=\"x\" id='y'>{{content}} & more";
const std::string kEscaped =
    "&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;p title=&quot;x&quot; "
    "id=&#39;y&#39;&gt;{{content}} &amp; more";

std::string page_of(const std::string& brand, const std::string& more = "") {
  return "<!doctype html>\r\n<html lang=\"{{lang}}\">\r\n<head>\r\n{{head}}\r\n<style>\r\nh2 { "
         "color: "
         "teal }\r\n</style>\r\n<title>" +
         brand + ": {{title}}</title>\r\n</head>\r\n<body>\r\n<h2>" + brand +
         "</h2>\r\n<p title=\"{{message}}\">{{position}}/{{ahead}}/{{state}}/{{message}}</p>\r\n" +
         more + "{{content}}\r\n</body>\r\n</html>\r\n";
}

// A file with a page, which changes.
class PageFile {
 public:
  explicit PageFile(const std::string& text) { write(text); }
  void write(const std::string& text) const { directory_.write("wait.html", text); }
  std::string path() const { return (directory_.path() / "wait.html").string(); }

 private:
  TemporaryDirectory directory_;
};

json with_page(const PageFile& file) {
  json room = always();
  room["page"] = file.path();
  room["message"] = kHostile;
  room["languages"] = {"en"};
  return selling(room);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The sources that the policy names for a directive.
std::set<std::string> sources(const std::string& policy, const std::string& directive) {
  std::set<std::string> found;
  const std::size_t begin = policy.find(directive + " ");
  REQUIRE(begin != std::string::npos);
  const std::size_t end = std::min(policy.find(';', begin), policy.size());
  for (std::size_t at = begin + directive.size() + 1; at < end;) {
    const std::size_t next = std::min(policy.find(' ', at), end);
    found.insert(policy.substr(at, next - at));
    at = next + 1;
  }
  return found;
}

// The hash sources of all elements of that name, of what was sent.
std::set<std::string> hashes(const std::string& html, const std::string& element) {
  std::set<std::string> found;
  const std::string begin = "<" + element + ">";
  for (std::size_t at = html.find(begin); at != html.npos; at = html.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    const Sha256 digest = sha256(html.substr(from, html.find("</" + element + ">", from) - from));
    found.insert("'sha256-" + base64(std::string(digest.begin(), digest.end())) + "'");
  }
  return found;
}

}  // namespace

TEST_CASE(
    "a visitor is sent the operator's page, with its figures, and a hostile message as text") {
  const PageFile file(page_of("ACME"));
  Shop shop;
  ProxyUnderTest proxy(shop.address(), with_page(file));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor before(proxy);
  before.join();
  Visitor visitor(proxy);
  const Message first = visitor.visit();
  CHECK(first.status() == 503);
  CHECK(first.field("Content-Type") == "text/html; charset=utf-8");
  CHECK(first.field("Cache-Control") == "no-store");
  CHECK(contains(first.body, "<h2>ACME</h2>"));
  CHECK(contains(first.body, "<p title=\"" + kEscaped + "\">//arrived/" + kEscaped + "</p>"));
  const Message second = visitor.visit();
  CHECK(contains(second.body, ">2/1/waiting/" + kEscaped + "</p>"));
  CHECK(contains(second.body, "<title>ACME: 2 · waiting</title>"));
  CHECK(contains(second.body, "<bdi id=\"number\">2</bdi>"));
  CHECK(contains(second.body, "action=\"/_spillway/rooms/sale/refresh/off\""));
  for (const Message& page : {first, second}) {
    CHECK_FALSE(contains(page.body, "alert(1)</script>"));
    CHECK_FALSE(contains(page.body, "\r"));
  }
}

TEST_CASE(
    "the policy of the operator's page names the hash of each style and script that was sent") {
  const PageFile file(page_of("ACME", "<style>p { margin: 0 }</style>"));
  Shop shop;
  ProxyUnderTest proxy(shop.address(), with_page(file));
  const Message page = Visitor(proxy).visit();
  const std::string policy = page.field("Content-Security-Policy").value_or("");
  const std::set<std::string> styles = hashes(page.body, "style");
  const std::set<std::string> scripts = hashes(page.body, "script");
  CHECK(styles.size() == 3);
  CHECK(scripts.size() == 1);
  CHECK(sources(policy, "style-src") == styles);
  CHECK(sources(policy, "script-src") == scripts);
  CHECK(sources(policy, "default-src") == std::set<std::string>{"'none'"});
  // The control: of another page they are others.
  CHECK(hashes(page.body + "<style>p{}</style>", "style") != styles);
}

TEST_CASE("a page is in force until a reload, and a bad one is refused by it") {
  const PageFile file(page_of("ACME"));
  Shop shop;
  const json settings = configuration({shop.address()}, with_page(file));
  ProxyUnderTest proxy(settings);
  const auto brand = [&proxy] {
    const std::string page = Visitor(proxy).visit().body;
    const std::size_t begin = page.find("<h2>");
    REQUIRE(begin != std::string::npos);
    return page.substr(begin + 4, page.find("</h2>") - begin - 4);
  };
  const auto refused = [&](const std::string& text, const std::string& why) {
    file.write(text);
    const Message answer = proxy.reload(settings);
    CHECK(answer.status() != 200);
    CHECK_MESSAGE(contains(answer.body, "$.routes[0].waiting_room.page"), answer.body);
    CHECK_MESSAGE(contains(answer.body, why), answer.body);
    CHECK(brand() == "ACME");
  };
  file.write(page_of("Globex"));
  CHECK(brand() == "ACME");
  refused(page_of("Globex", "\n{{positoin}}\n"), "line 14: there is no placeholder");
  refused(page_of("Globex", "<script src=\"data:\"></script>"), "<script>");
  refused("<h2>Globex</h2>", "{{content}} is missing");
  refused(page_of("\xFF"), "it is not UTF-8");
  refused(page_of("Globex", std::string(70'000, ' ')), "too long");
  json elsewhere = settings;
  elsewhere["routes"][0]["waiting_room"]["page"] = file.path() + "2";
  CHECK(contains(proxy.reload(elsewhere).body, "No such file"));
  file.write(page_of("Globex"));
  CHECK(brand() == "ACME");
  REQUIRE(proxy.reload(settings).status() == 200);
  CHECK(brand() == "Globex");
  // Without the key it is the built-in one again, and no visitor has lost its place.
  Visitor visitor(proxy);
  const std::string id = visitor.join().at("id");
  json built_in = settings;
  built_in["routes"][0]["waiting_room"].erase("page");
  REQUIRE(proxy.reload(built_in).status() == 200);
  CHECK_FALSE(contains(Visitor(proxy).visit().body, "<h2>"));
  CHECK(visitor.poll().value("id", "") == id);
}

TEST_CASE("programs get the same problem, whatever the page") {
  const PageFile file(page_of("ACME"));
  Shop shop;
  ProxyUnderTest proxy(shop.address(), with_page(file));
  const Message told = RawClient(proxy.port()).ask(get("/sale/page"));
  CHECK(told.status() == 503);
  CHECK(told.field("Content-Type") == "application/problem+json");
  CHECK(json::parse(told.body).at("message") == kHostile);
}

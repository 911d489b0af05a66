// The tier and the user of a visitor by a signed token: a JWT, or a cookie that the backend signs.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "support/places.hpp"
#include "support/signing_keys.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kSecret(32, 's');
const std::string kNextSecret(32, 'n');

std::string base64url(std::string_view bytes) {
  std::string text(base64url_size(bytes.size()), '\0');
  write_base64url({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, text.data());
  return text;
}

std::string signature_of(const std::string& text, const std::string& secret) {
  const Sha256 code =
      hmac_sha256({reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()}, text);
  return base64url({reinterpret_cast<const char*>(code.data()), code.size()});
}

std::string jwt(const json& claims, const std::string& secret = kSecret,
                const std::string& kid = "a") {
  json all{{"exp", std::time(nullptr) + 600}};
  all.update(claims);
  const std::string text =
      base64url(json{{"alg", "HS256"}, {"kid", kid}}.dump()) + "." + base64url(all.dump());
  return text + "." + signature_of(text, secret);
}

std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }

std::string tier_cookie(const std::string& tier, const std::string& user,
                        const std::string& rooms = "sale") {
  const std::string text =
      std::to_string(std::time(nullptr) + 600) + "~" + tier + "~" + base64url(user) + "~a~" + rooms;
  return text + "~" + signature_of(text, kSecret);
}

// With one bit flipped, in the middle of its last part.
std::string flipped(std::string token) {
  char& c = token[token.size() - 20];
  c = c == 'A' ? 'B' : 'A';
  return token;
}

// A sale with one session, which is taken, that believes tokens by keys in this test's directory.
struct Full {
  explicit Full(const json& room = {{"per_user", 0}}) {
    write("secret", kSecret);
    write("next", kNextSecret);
    write("rsa.pem", kRsaPublic);
    json settings{
        {"trusted_tokens",
         {{"jwt",
           {{"keys",
             {{{"kid", "a"}, {"algorithm", "HS256"}, {"key_file", file("secret")}},
              {{"kid", "r"}, {"algorithm", "RS256"}, {"key_file", file("rsa.pem")}}}}}},
          {"cookie", {{"keys", {{{"kid", "a"}, {"key_file", file("secret")}}}}}}}},
        {"tenants",
         {{"api_keys", {{{"name", "acme"}, {"key", "very-important-1"}, {"tier", "vip"}}}}}}};
    json its = always();
    its.merge_patch(room);
    changes = selling(its, settings);
    proxy.emplace(configuration({shop.address()}, changes));
    inside.emplace(*proxy);
    inside->join();
    REQUIRE(inside->is_called());
    REQUIRE(is_in(inside->visit()));
  }
  std::string file(const std::string& name) const { return (directory.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    directory.write(name, text);
    REQUIRE(::chmod(file(name).c_str(), 0600) == 0);
  }
  // The tier of a visitor with these fields, as the operator sees it.
  std::string tier_of(const std::string& fields) {
    Visitor visitor(*proxy, kNavigation + fields);
    const std::string id = visitor.join().at("id");
    return Operator{proxy->admin_port()}.get("/rooms/sale/tickets/" + id).at("tier");
  }
  double unverified(const std::string& source, const std::string& reason) {
    return proxy->metric("spillway_waiting_room_unverified_total{room=\"sale\",source=\"" + source +
                         "\",reason=\"" + reason + "\"}");
  }

  const TemporaryDirectory directory;
  Shop shop;
  json changes;
  std::optional<ProxyUnderTest> proxy;
  std::optional<Visitor> inside;
};

std::string docs() {
  std::ifstream file(in_source("docs/waiting-room-reference.md"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a visitor with a premium token is called before those who came first") {
  Full full;
  const std::string token = jwt({{"sub", "ann"}, {"tier", "premium"}});
  Visitor first(*full.proxy), forger(*full.proxy, kNavigation + bearer(flipped(token)));
  CHECK(first.join().at("position") == 1);
  CHECK(forger.join().at("position") == 2);
  Visitor premium(*full.proxy, kNavigation + bearer(token));
  CHECK(premium.join().at("position") == 1);  // the poll carries the signed stamp alone
  CHECK(first.poll().at("position") == 2);
  CHECK(forger.poll().at("position") == 3);
  CHECK(full.unverified("jwt", "bad_signature") == 1);
  CHECK(
      full.inside
          ->ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
          .status() == 204);
  REQUIRE(premium.is_called());
  CHECK(is_in(premium.visit()));
  CHECK(first.poll().at("state") == "waiting");
  // It is the application's own, and goes on as it came.
  CHECK(full.shop.requests().back().field("Authorization") == "Bearer " + token);
}

TEST_CASE("a cookie that the backend signed gives its tier in the rooms that it names") {
  Full full;
  const auto with = [](const std::string& value) { return "Cookie: a=1; tier=" + value + "\r\n"; };
  const std::string good = tier_cookie("enterprise", "ann");
  CHECK(full.tier_of(with(good)) == "enterprise");
  CHECK(full.tier_of(with(tier_cookie("enterprise", "ann", "tour~sale"))) == "enterprise");
  CHECK(full.tier_of(with(tier_cookie("gold", "ann"))) == "standard");
  CHECK(full.tier_of(with(flipped(good))) == "standard");
  CHECK(full.unverified("cookie", "bad_signature") == 1);
  CHECK(full.tier_of(with(tier_cookie("enterprise", "ann", "tour"))) == "standard");
  CHECK(full.unverified("cookie", "wrong_audience") == 1);
  CHECK(full.tier_of(with(good) + with(good)) == "standard");
  CHECK(full.unverified("cookie", "repeated") == 1);
  CHECK(full.tier_of(with("enterprise")) == "standard");
  CHECK(full.unverified("cookie", "malformed") == 1);
}

TEST_CASE("a token that does not count is as none, and is counted by its reason") {
  Full full;
  const std::string good = jwt({{"tier", "premium"}});
  const auto now = std::time(nullptr);
  CHECK(full.tier_of(bearer(good)) == "premium");
  CHECK(full.tier_of("Authorization: Basic YTpi\r\n") == "standard");
  CHECK(full.tier_of(bearer(jwt({{"tier", "premium"}, {"exp", now - 60}}))) == "standard");
  CHECK(full.unverified("jwt", "expired") == 1);
  CHECK(full.tier_of(bearer(jwt({{"tier", "premium"}, {"nbf", now + 300}}))) == "standard");
  CHECK(full.unverified("jwt", "too_early") == 1);
  CHECK(full.tier_of(bearer(jwt({{"tier", "premium"}}, kSecret, "b"))) == "standard");
  CHECK(full.unverified("jwt", "unknown_key") == 1);
  CHECK(full.tier_of(bearer(jwt({{"tier", "premium"}}, kRsaPublic, "r"))) == "standard");
  CHECK(full.unverified("jwt", "wrong_alg") == 1);
  CHECK(full.tier_of(bearer("opaque")) == "standard");
  CHECK(full.unverified("jwt", "malformed") == 1);
  // What else is verified counts.
  CHECK(full.tier_of("X-Api-Key: very-important-1\r\n" + bearer("opaque")) == "vip");
  CHECK(full.tier_of("X-Api-Key: very-important-1\r\n" + bearer(good)) == "premium");
  CHECK(full.tier_of("Cookie: tier=" + tier_cookie("enterprise", "") + "\r\n" + bearer("opaque")) ==
        "enterprise");
  CHECK(full.tier_of("Cookie: tier=" + tier_cookie("enterprise", "") + "\r\n" + bearer(good)) ==
        "premium");
}

TEST_CASE("an address that sends many bad signatures has no more of them verified for a while") {
  Full full;
  RawClient client(full.proxy->port());
  const std::string claims = base64url(R"({"tier":"premium","exp":4000000000})");
  const std::string bad = base64url(R"({"alg":"RS256","kid":"r"})") + "." + claims + "." +
                          base64url(std::string(256, 'x'));
  for (int n = 0; n < 300; ++n)
    CHECK(client.ask("GET /sale/page HTTP/1.1\r\nHost: a\r\n" + kNavigation + bearer(bad) + "\r\n")
              .status() == 503);
  const double bad_ones = full.unverified("jwt", "bad_signature");
  CHECK(bad_ones >= 200);
  CHECK(full.unverified("jwt", "limited") == 300 - bad_ones);
  CHECK(full.unverified("jwt", "limited") > 0);
  // Of a token that needs no verification it is found out in any case.
  CHECK(full.tier_of("Cookie: tier=" + tier_cookie("premium", "") + "\r\n") == "premium");
}

TEST_CASE("the user of a token has one place, by whichever browser it comes") {
  Full full(json{{"per_user", 1}});
  Visitor one(*full.proxy, kNavigation + bearer(jwt({{"sub", "ann"}})));
  CHECK(one.join().at("state") == "waiting");
  const auto found = Operator{full.proxy->admin_port()}.get("/rooms/sale/tickets?user=ann");
  CHECK(found.at("tickets").size() == 1);
  const auto state_of = [&](const std::string& fields) {
    RawClient client(full.proxy->port());
    const Message answer = client.ask("POST /_spillway/rooms/sale/tickets HTTP/1.1\r\nHost: a\r\n" +
                                      fields + "Spillway-Join: 1\r\nContent-Length: 0\r\n\r\n");
    return std::to_string(answer.status()) + " " +
           json::parse(answer.body).value("state", std::string());
  };
  CHECK(state_of(bearer(jwt({{"sub", "ann"}, {"n", 2}}))) == "409 elsewhere");
  CHECK(state_of(bearer(jwt({{"sub", "bob"}}))) == "202 arrived");
  CHECK(state_of(bearer(flipped(jwt({{"sub", "ann"}})))) == "202 arrived");  // nobody that is known
  CHECK(state_of("") == "202 arrived");
}

TEST_CASE("the tier of a token may bypass, with each request, and is verified with each") {
  Full full(json{{"bypass", {{"tiers", {"staff"}}}}});
  const std::string token = jwt({{"tier", "staff"}});
  Visitor staff(*full.proxy, kNavigation + bearer(token));
  for (int n = 0; n < 3; ++n) CHECK(is_in(staff.visit()));
  CHECK(full.proxy->metric(R"(spillway_waiting_room_bypassed_total{room="sale"})") == 3);
  CHECK(Visitor(*full.proxy, kNavigation + bearer(flipped(token))).visit().status() == 503);
  CHECK(full.unverified("jwt", "bad_signature") == 1);  // once, not for each question
  CHECK(Visitor(*full.proxy, kNavigation + bearer(jwt({{"tier", "vip"}}))).visit().status() == 503);
}

TEST_CASE("a reload takes keys in and out, and keeps what it has if one cannot be read") {
  Full full;
  const std::string old = bearer(jwt({{"tier", "premium"}}));
  const std::string next = bearer(jwt({{"tier", "premium"}}, kNextSecret, "n"));
  CHECK(full.tier_of(old) == "premium");
  CHECK(full.tier_of(next) == "standard");
  auto& keys = full.changes["trusted_tokens"]["jwt"]["keys"];
  keys.push_back({{"kid", "n"}, {"algorithm", "HS256"}, {"key_file", full.file("next")}});
  const auto reload = [&] {
    return full.proxy->reload(configuration({full.shop.address()}, full.changes));
  };
  REQUIRE(reload().status() == 200);
  CHECK(full.tier_of(old) == "premium");
  CHECK(full.tier_of(next) == "premium");
  keys.erase(0);
  REQUIRE(reload().status() == 200);
  CHECK(full.tier_of(old) == "standard");  // although it was verified before
  CHECK(full.tier_of(next) == "premium");
  REQUIRE(::chmod(full.file("next").c_str(), 0644) == 0);
  const Message refused = reload();
  CHECK(refused.status() != 200);
  CHECK(refused.body.find("$.trusted_tokens.jwt.keys[1].key_file") != std::string::npos);
  CHECK(full.tier_of(next) == "premium");
}

TEST_CASE("the lines that the manual shows sign a cookie that counts") {
  const std::string text = docs();
  const std::size_t section = text.find("A cookie that your backend signs");
  REQUIRE(section != std::string::npos);
  const std::size_t begin = text.find("```python\n", section);
  REQUIRE(begin != std::string::npos);
  const std::string lines = text.substr(begin + 10, text.find("```", begin + 10) - begin - 10);
  const TemporaryDirectory directory;
  const auto script =
      directory.write("sign.py", lines + "\nprint(tier_cookie(\"premium\", \"J\\u00fcrgen\", b\"" +
                                     kSecret + "\", \"a\"), end=\"\")\n");
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen(("python3 " + script.string() + " 2>&1").c_str(), "r"), ::pclose);
  std::string made;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) made += static_cast<char>(c);
  if (made.find("not found") != std::string::npos) {
    MESSAGE("no python3: not run");
    return;
  }
  CAPTURE(made);
  Full full;
  CHECK(full.tier_of("Cookie: tier=" + made + "\r\n") == "premium");
}

// What a running proxy writes and serves does not contain what must stay secret.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

// All that must stay secret contains it, and nothing else does.
constexpr std::string_view kMark = "hush";
constexpr std::string_view kToken = "hush-admin-token";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

nlohmann::json talkative(const std::string& server) {
  return configuration(
      {server},
      never_shed(
          {{"admin", {{"token", kToken}}},
           {"tenants",
            {{"api_keys", nlohmann::json::array({{{"tenant", "acme"}, {"key", "hush-api-key"}}})}}},
           {"log", {{"level", "debug"}, {"access_sample", 1}}}}));
}

TEST_CASE("no log line and no page tells a secret of the configuration or of a client") {
  ScriptedPeer peer(ok("x"));
  ProxyProcess proxy(talkative(peer.address()));
  const std::string credentials =
      "Authorization: Bearer hush-1\r\nCookie: session=hush-2\r\nX-Api-Key: hush-api-key\r\n"
      "Proxy-Authorization: Basic hush-3\r\n";
  std::string answers;
  RawClient client(proxy.port());
  for (const std::string target :
       {"/first?access_token=hush-4", "http://a.example/second?hush-5", "/third?a=1&b=hush-6"}) {
    answers += client.ask(get(target, credentials)).body;
  }
  answers += client.ask(post("/fourth?hush-7", "password=hush-8", credentials)).body;
  // Requests that never become one, each on a connection of its own.
  for (const std::string& bytes : std::vector<std::string>{
           get("http://user:hush-9@a.example/fifth?hush"),
           "CONNECT user:hush@a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n",
           "GET user:hush@a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
           "GET /sixth?hush HTTP/1.1\r\nHost: a b\r\n" + credentials + "\r\n",
           "GET /seventh?hush HTTP/1.1\r\nHost: a.example\r\nhush hush: 1\r\n\r\n",
           "GET /eighth?hush HTTP/9.9\r\nHost: a.example\r\n\r\n",
           "TRACE /ninth?hush HTTP/1.1\r\nHost: a.example\r\n" + credentials + "\r\n",
           get("/" + std::string(9000, 'x') + "?hush"),
       }) {
    RawClient other(proxy.port());
    const Message answer = other.ask(bytes);
    CHECK(answer.status() >= 400);
    answers += answer.start_line + answer.body;
  }
  CHECK_FALSE(has(answers, kMark));

  for (const std::string page : {"/", "/metrics", "/state", "/config", "/healthz", "/readyz"}) {
    CAPTURE(page);
    RawClient stranger(proxy.admin_port()), guesser(proxy.admin_port()), owner(proxy.admin_port());
    const std::string begin = "GET " + page + "?hush HTTP/1.1\r\nHost: localhost\r\n";
    const bool is_open = page == "/healthz" || page == "/readyz";
    const Message strange = stranger.ask(begin + "\r\n");
    CHECK(strange.status() == (is_open ? 200 : 401));
    const Message guess = guesser.ask(begin + "Authorization: Bearer hush-admin-tokeN\r\n\r\n");
    CHECK(guess.status() == (is_open ? 200 : 401));
    const Message own =
        owner.ask(begin + "Authorization: Bearer " + std::string(kToken) + "\r\n\r\n");
    CHECK(own.status() == 200);
    CHECK_FALSE(has(strange.body + guess.body + own.body, kMark));
    if (page == "/config") CHECK(has(own.body, "<redacted>"));
  }

  proxy.process().signal(SIGTERM);
  client.close();
  CHECK(proxy.process().wait() == 0);
  const std::string log = proxy.process().out() + proxy.process().err();
  CHECK_FALSE(has(log, kMark));
  // The log did have something to say, and the backend got what was meant for it.
  CHECK(has(log, R"("path":"/first")"));
  CHECK(has(log, R"("path":"/sixth")"));
  CHECK(has(log, R"("tenant":"acme")"));
  CHECK(has(peer.seen().received[0], "access_token=hush-4"));
  CHECK(has(peer.seen().received[0], "session=hush-2"));
}

}  // namespace
}  // namespace spillway::support

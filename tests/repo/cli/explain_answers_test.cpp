// What explain says of stored and prepared answers: the modes of a rule that degrades, and its
// miss.
#include <doctest/doctest.h>

#include <string>

#include "repo/cli/command.hpp"
#include "support/places.hpp"

using namespace cli;

namespace {

const std::string kLadder = spillway::support::in_source("config/examples/ladder.json");

std::string explain(const std::string& file, const std::string& arguments) {
  const Result result = run("explain --config " + file + " " + arguments);
  CAPTURE(arguments);
  CHECK_MESSAGE(result.code == 0, result.err);
  return result.out;
}

// One route, /a, on which the class P1 degrades so.
std::string explain_rule(const std::string& rule, const std::string& route,
                         const std::string& arguments = "GET /a --at OVERLOADED") {
  const ScratchFile file("explain.json",
                         R"({"upstreams":[{"name":"app","servers":["127.0.0.1:3000"]}],
      "overload":{"rules":{"P1":{"strategy":"degrade","retry_after_ms":2000)" +
                             rule + R"(}}},"routes":[{"name":"a","match":{"path":"/a"})" + route +
                             "}]}");
  return explain(file.path(), arguments);
}

void check_says(const std::string& out, std::string_view fragment) {
  CHECK_MESSAGE(contains(out, fragment), out);
}

const std::string kCache = R"(,"cache":{"max_bytes":1048576,"stale_ms":7000})";
const std::string kFallback = R"(,"fallback":{"status":503,"html":{"body":"<p>"}})";

}  // namespace

TEST_CASE("explain says what is deferred before it is tried, and what in place of a refusal") {
  const auto deferring = [](const std::string& defer, const std::string& request) {
    return explain_rule("", R"(,"class":"P2","defer":{)" + defer + "}", request);
  };
  const std::string always = R"("when":"always")";
  for (const std::string state : {"NORMAL", "OVERLOADED"}) {
    const std::string out = deferring(always, "POST /a --at " + state);
    check_says(out, "defer     before it is tried (when: always)\n");
    check_says(out, "verdict   202, deferred\n");
    CHECK_FALSE(contains(out, "free slot"));
    CHECK(contains(out, "If its rule refuses it for EVENT_LOOP_LAG") == (state == "OVERLOADED"));
  }
  const std::string read = deferring(always, "GET /a");
  check_says(read, "defer     not this request: only with Prefer: respond-async\n");
  check_says(read, "verdict   allow\n");
  check_says(deferring(always, "GET /a -H 'Prefer: respond-async'"), "verdict   202, deferred\n");
  check_says(deferring(always, "POST /a -H 'Content-Length: 2000000'"),
             "not this request: its body is longer than max_body_bytes\n");
  check_says(
      deferring("", "POST /a"),
      "defer     202, as a job, in place of a refusal for want of room (when: overloaded)\n");
  check_says(deferring("", "POST /a"), "verdict   allow\n");
  check_says(deferring(R"("when":"prefer")", "POST /a"), "only with Prefer: respond-async\n");
}

TEST_CASE("explain says when visitors wait, and what Spillway answers itself") {
  const std::string room = R"(,"waiting_room":{"when":"always"})";
  check_says(
      explain_rule("", room, "GET /a"),
      "room      a visitor who has not come in yet waits for its turn, even if there is room "
      "(when: always): 503 WAITING_ROOM.\n");
  check_says(explain_rule("", R"(,"waiting_room":{})", "GET /a"), "waits while it is full (when: ");
  for (const std::string& with : {room, std::string(R"(,"defer":{})")}) {
    const std::string own = explain_rule("", with, "GET /_spillway/jobs/abc");
    check_says(own, "verdict   answered by Spillway itself\n");
    CHECK_FALSE(contains(own, "class "));
  }
  check_says(explain_rule("", room, "GET /_spillways"), "class     P1");
  check_says(explain_rule("", "", "GET /_spillway/jobs/abc"), "class     P1");
}

TEST_CASE("explain says when else a class is refused, and when a single class is") {
  const auto at = [](const std::string& more, const std::string& request = "GET /") {
    const ScratchFile file(
        "classes.json",
        R"({"upstreams":[{"name":"app","servers":["127.0.0.1:3000"]}])" + more + "}");
    return explain(file.path(), request + " --at OVERLOADED");
  };
  const std::string several = at("");
  check_says(several, "EVENT_LOOP_LAG, ERROR_BURST: deny");
  check_says(several, "or Spillway's own loop is late.");
  check_says(several, "while a higher class waits for a slot.");
  const std::string highest = at(R"(,"overload":{"rules":{"P0":{"strategy":"deny"}}},
      "default_route":{"class":"P0"})");
  check_says(highest, "EVENT_LOOP_LAG, ERROR_BURST: deny");
  CHECK_FALSE(contains(highest, "higher class"));
  const std::string only = at(R"(,"classes":[{"name":"all"}])");
  check_says(only, "EVENT_LOOP_LAG: deny");
  check_says(only, "ERROR_BURST: allow, as no other class gains\n");
  CHECK_FALSE(contains(only, "ERROR_BURST: deny"));
}

TEST_CASE("explain says that stale_ok gives what is stored and refreshes it behind the client") {
  const std::string out = explain_rule("", kCache);
  check_says(out, "rule      degrade, mode stale_ok, on a miss forward");
  check_says(out, "verdict   degrade\n");
  check_says(out, "given at once, fresh or up to 7000 ms stale");
  check_says(out, "refreshed in the background, as the lowest class");
  check_says(out, "miss      forwarded as in NORMAL.");
  check_says(out, "It takes a free slot");
}

TEST_CASE("explain says that cache_only does not ask the upstream") {
  const std::string out = explain_rule(R"(,"mode":"cache_only")", kCache);
  check_says(out, "verdict   degrade\n");
  check_says(out, "The upstream is not asked, not even to refresh what is stale.");
  check_says(out,
             "miss      refused (503, retry after 2000 to 3000 ms or later, by turn), even if a "
             "slot is free");
  const std::string prepared =
      explain_rule(R"(,"mode":"cache_only","miss":"fallback")", kCache + kFallback);
  check_says(prepared, "miss      the fallback (503, HTML). The upstream is not asked.");
}

TEST_CASE("explain says that other misses are refused only for want of room") {
  const std::string out = explain_rule(R"(,"miss":"deny")", kCache);
  check_says(out, "miss      refused (503, retry after 2000 to 3000 ms or later, by turn).\n");
  check_says(out, "no slot is left idle");
  // The route has no fallback to give.
  check_says(explain_rule(R"(,"miss":"fallback")", kCache), "miss      refused (503");
}

TEST_CASE("explain says why there can be no cached response and what the miss makes of it") {
  std::string out = explain_rule("", "");
  check_says(out, "verdict   allow\n");
  check_says(out, "degrades by stale_ok, but route a has no cache, so its miss counts:");
  check_says(out, "forwarded as in NORMAL.");
  out = explain_rule(R"(,"mode":"cache_only")", "");
  check_says(out, "verdict   deny\n");
  check_says(out, "even if a slot is free");
  out = explain_rule(R"(,"miss":"deny")", "");
  check_says(out, "verdict   depends on the reason of the overload:");
  check_says(out, "so its miss counts: refused.");
  out = explain_rule(R"(,"miss":"fallback")", kFallback);
  check_says(out, "verdict   degrade\n");
  check_says(out, "the fallback (503, HTML)");
  out = explain_rule("", kCache, "POST /a --at OVERLOADED");
  check_says(out, "verdict   allow\n");
  check_says(out, "cache     not for this request");
  check_says(out, "no cached response is given to such a request");
}

TEST_CASE("explain says in any state what goes before a refusal") {
  const char* normal = "GET /a --at NORMAL";
  const std::string both = explain_rule("", kCache + kFallback, normal);
  check_says(
      both,
      "refusals  Before it is refused, whatever the reason, what is stored is given, or else "
      "the fallback (503, HTML).\n");
  check_says(explain_rule(R"(,"mode":"cache_only")", kCache), "what is stored is given.\n");
  check_says(explain_rule("", kFallback), "whatever the reason, the fallback (503, HTML).\n");
  for (const std::string& none :
       {explain_rule("", "", normal), explain_rule(R"(,"miss":"deny")", kFallback, normal),
        explain_rule("", kCache, "POST /a --at NORMAL")})
    CHECK(none.find("refusals ") == std::string::npos);
}

TEST_CASE("explain says whether skip_downstream is announced or answered with the fallback") {
  const std::string skip = R"(,"mode":"skip_downstream")";
  const char* announced = "forwarded with Spillway-Degrade: skip-downstream";
  check_says(explain_rule(skip, ""), announced);
  check_says(explain_rule(skip, kFallback), "The route's fallback is given (503, HTML).");
  check_says(explain_rule(skip + R"(,"annotate":true)", kFallback), announced);
  const std::string neither = explain_rule(skip + R"(,"annotate":false,"miss":"deny")", "");
  check_says(neither, "annotate false");
  check_says(neither,
             "It is not to be announced to the backend, and route a has no fallback for it");
  check_says(neither, "verdict   depends on the reason");
}

TEST_CASE("explain says that a fallback that tells of success is not for a POST") {
  const std::string page = R"(,"fallback":{"status":200,"html":{"body":"<p>"}})";
  const std::string skip = R"(,"mode":"skip_downstream")";
  const char* post = "POST /a --at OVERLOADED";
  check_says(explain_rule(skip, page), "The route's fallback is given (200, HTML).");
  check_says(explain_rule(skip, kFallback, post), "The route's fallback is given (503, HTML).");
  check_says(explain_rule(skip, page, post), "forwarded with Spillway-Degrade: skip-downstream");
  check_says(explain_rule(R"(,"miss":"fallback")", page, post), "so its miss counts: refused.");
  CHECK_FALSE(contains(explain_rule("", page, post), "refusals "));
}

TEST_CASE("explain says in any state what a request may get of the cache") {
  check_says(explain_rule("", kCache, "GET /a"), "cache     answers are given while overloaded");
  const std::string fresh = R"(,"cache":{"max_bytes":1048576,"serve":"fresh")";
  std::string out = explain_rule("", fresh + "}", "GET /a");
  check_says(out,
             "cache     a fresh answer is given in any state, without a slot; in place of the");
  CHECK_FALSE(contains(out, "one person's"));
  CHECK_FALSE(contains(out, "only-if-cached"));
  CHECK_FALSE(
      contains(explain_rule("", fresh + R"(,"stale_if_error":false})", "GET /a"), "in place of"));
  check_says(explain_rule("", kCache, "GET /a -H 'Cookie: a=b'"), "only what says public or");
  CHECK_FALSE(
      contains(explain_rule("", fresh + R"(,"vary":["Cookie"]})", "GET /a -H 'Cookie: a=b'"),
               "one person's"));
  check_says(explain_rule("", kCache, "GET /a -H 'Cache-Control: only-if-cached'"),
             "504 when nothing is stored");
  CHECK_FALSE(contains(explain_rule("", "", "GET /a"), "cache"));
}

TEST_CASE("the example of a ladder gives each class what its comment says") {
  const auto at = [](const std::string& request, const std::string& state) {
    return explain(kLadder, request + " --at " + state);
  };
  check_says(at("GET /feeds/new", "ELEVATED"), "given at once, fresh or up to 3600000 ms stale");
  check_says(at("GET /product/7", "ELEVATED"), "verdict   allow\n");
  check_says(at("GET '/search?q=tea'", "OVERLOADED"), "miss      the fallback (503, JSON or HTML");
  check_says(at("GET /recommendations", "OVERLOADED"), "The route's fallback is given (200, JSON)");
  check_says(at("GET /about", "OVERLOADED"), "forwarded with Spillway-Degrade: skip-downstream");
  check_says(at("GET /product/7", "OVERLOADED"), "verdict   allow\n");
  check_says(at("GET /export/all", "OVERLOADED"), "ERROR_BURST: deny");
  check_says(at("GET /product/7", "CRITICAL"), "fresh or up to 600000 ms stale");
  check_says(at("POST /checkout/pay", "CRITICAL"), "forwarded with Spillway-Degrade");
  check_says(at("GET /recommendations", "CRITICAL"), "the fallback (200, JSON)");
  check_says(at("GET /about", "CRITICAL"), "verdict   deny\n");
  check_says(at("GET /export/all", "CRITICAL"), "ERROR_BURST: drop");
  const std::string cart = at("GET /cart -H 'Cookie: id=1'", "CRITICAL");
  check_says(cart, "fresh or up to 30000 ms stale");
  CHECK_FALSE(contains(cart, "one person's"));
}

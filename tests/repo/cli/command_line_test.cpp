// The commands of the built binary: what they print, where, and their exit codes.
#include <doctest/doctest.h>

#include <string>

#include "repo/cli/command.hpp"

using namespace cli;

namespace {

std::string explain(const std::string& arguments) {
  const Result result = run("explain --config " + kShipped + " " + arguments);
  CAPTURE(result.err);
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  return result.out;
}

}  // namespace

TEST_CASE("version names the compiler and the libraries") {
  const Result result = run("version");
  CHECK(result.code == 0);
  CHECK(contains(result.out, "spillway "));
  CHECK(contains(result.out, "compiler: "));
  CHECK(contains(result.out, "boost: 1."));
}

TEST_CASE("schema prints what is shipped") {
  CHECK(run("schema").out == source("config/spillway.schema.json"));
}

TEST_CASE("schema prints the reference table of the README if asked to") {
  const Result result = run("schema --reference");
  CHECK(result.code == 0);
  CHECK(contains(result.out, "| `upstreams[].servers` | required |"));
  CHECK(contains(source("config/README.md"), "begin -->\n" + result.out + "<!-- reference"));
}

TEST_CASE("check prints the effective configuration and what it prints passes check") {
  const Result first = run("check --config " + kShipped);
  CHECK(first.code == 0);
  CHECK(first.err == kShipped + ": valid\n");
  const ScratchFile dump("dump.json", first.out);
  CHECK(run("check --config " + dump.path()).out == first.out);
}

TEST_CASE("check has nothing against waiting rooms that several proxies share") {
  const ScratchFile file("fleet.json",
                         R"({"upstreams":[{"name":"a","servers":["127.0.0.1:1"]}],
      "store":{"url":"postgresql:///jobs"},
      "routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{}}]})");
  const Result result = run("check --config " + file.path());
  CHECK(result.code == 0);
  CHECK_FALSE(contains(result.err, "$.store"));
}

TEST_CASE("check names what is wrong with a waiting room's page, and where") {
  const ScratchFile page("wait.html", "<head>{{head}}</head>\n<body>{{contents}}</body>\n");
  const ScratchFile file("sale.json",
                         R"({"upstreams":[{"name":"a","servers":["127.0.0.1:1"]}],
      "routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{"page":")" +
                             page.path() + R"("}}]})");
  const Result result = run("check --config " + file.path());
  CHECK(result.code == 2);
  CHECK(contains(result.err, "error: $.routes[0].waiting_room.page: " + page.path() +
                                 ": line 2: there is no placeholder \"contents\": did you mean "
                                 "\"content\"?"));
}

TEST_CASE("check and run refuse a bad file with every error on standard error") {
  const ScratchFile bad("bad.json", R"({"lisen":{},"upstreams":[{"name":"a","servers":["x"]}]})");
  for (const std::string command : {"check", "run", "explain"}) {
    CAPTURE(command);
    const std::string request = command == "explain" ? " GET /" : "";
    const Result result = run(command + " --config " + bad.path() + request);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, "error: $.lisen: unknown key: did you mean \"listen\"?"));
    CHECK(contains(result.err, "error: $.upstreams[0].servers[0]: found \"x\""));
    CHECK(contains(result.err, "2 error(s)"));
  }
}

TEST_CASE("a syntax error names file and line and column") {
  const ScratchFile bad("syntax.json", "{\n  \"upstreams\" []\n}\n");
  const Result result = run("check --config " + bad.path());
  CHECK(result.code == 2);
  CHECK(contains(result.err, bad.path() + ":2:15: "));
}

TEST_CASE("routes that no table can hold are an error of the configuration") {
  std::string routes;
  for (int shape = 0; shape < 128; ++shape) {
    std::string path;
    for (int bit = 0; bit < 7; ++bit) path += (shape >> bit & 1) != 0 ? "/*" : "/a";
    routes += (shape == 0 ? "" : ",") + std::string(R"({"name":"r)") + std::to_string(shape) +
              R"(","match":{"path":")" + path + R"("}})";
  }
  const ScratchFile bad(
      "shapes.json", R"({"upstreams":[{"name":"a","servers":["h:1"]}],"routes":[)" + routes + "]}");
  const Result result = run("check --config " + bad.path());
  CHECK(result.code == 2);
  CHECK(contains(result.err, "error: $.routes: "));
}

TEST_CASE("bad usage is 2 and asking for help is fine") {
  CHECK(run("").code == 2);
  CHECK(run("serve").code == 2);
  CHECK(run("check").code == 2);
  CHECK(run("check --config /nonexistent.json").code == 2);
  CHECK(run("explain --config " + kShipped + " GET").code == 2);
  CHECK(run("explain --config " + kShipped + " GET / --at SIDEWAYS").code == 2);
  CHECK(run("--help").code == 0);
  CHECK(run("run --help").code == 0);
}

TEST_CASE("a configuration file is named by a word as by --config") {
  const std::string words[] = {"check", "explain POST /checkout/7", "simulate --json --rps 10"};
  for (const std::string& command : words) {
    CAPTURE(command);
    const auto space = command.find(' ');
    const std::string name = command.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : command.substr(space);
    const Result by_option = run(name + " --config " + kShipped + rest);
    const Result by_word = run(name + " " + kShipped + rest);
    CHECK(by_word.code == 0);
    CHECK(by_word.out == by_option.out);
    CHECK_FALSE(by_word.out.empty());

    const Result twice = run(name + " --config other.json " + kShipped + rest);
    CHECK(twice.code == 2);
    CHECK(contains(twice.err, "the configuration file is named twice: " + kShipped +
                                  " and --config other.json"));
  }
}

TEST_CASE("a command without its configuration file says how to name it") {
  for (const char* command : {"check", "run"}) {
    const Result none = run(command);
    CHECK(none.code == 2);
    CHECK(contains(none.err, "FILE or --config is required"));
  }
  for (const std::string words : {"", "GET", "GET /", kShipped.c_str()}) {
    CAPTURE(words);
    const Result few = run("explain " + words);
    CHECK(few.code == 2);
    CHECK(contains(few.err, "explain takes FILE METHOD URL, or --config and METHOD URL"));
  }
}

TEST_CASE("a word that is no command is named, with those that there are") {
  CHECK(contains(run("chekc --config x").err, "\"chekc\" is no command; use one of run, check, "));
  const Result jobs = run("jobs foo");
  CHECK(jobs.code == 2);
  CHECK(contains(jobs.err, "\"foo\" is no command; use one of list, "));
  const Result version = run("--version");
  CHECK(version.code == 0);
  CHECK(contains(version.out, "spillway 0."));
}

TEST_CASE("an answer that cannot be written is a failure at run time") {
  CHECK(run("check --config " + kShipped + " >/dev/full").code == 1);
  CHECK(run("schema >/dev/full").code == 1);
}

TEST_CASE("explain names route and class and tenant and deadline") {
  const std::string out = explain("POST http://shop.example/checkout/7 -H 'X-Api-Key: abc'");
  CHECK(contains(out, "route     checkout: POST /checkout/**\n"));
  CHECK(contains(out, "class     P0, number 1 of 3"));
  CHECK(contains(out,
                 "upstream  app, up to 1000 slots (dispatch.concurrency.max): 127.0.0.1:3000\n"));
  // No such key is configured.
  CHECK(contains(out, "tenant    client_address 127.0.0.1\n"));
  CHECK(contains(out, "deadline  1000 ms after arrival for a slot, set by the class's sla_ms\n"));
  CHECK(contains(out, "verdict   allow\n"));
  CHECK(contains(explain("GET /checkout/7"), "default (no other route matches)"));
}

TEST_CASE("explain says that a path has several readings and what comes of it") {
  const std::string confused = explain("POST '/checkout/..%2fexport/x'");
  CHECK(contains(confused, "class     P2, "));
  CHECK(contains(confused, "path      ambiguous: a backend may take it for another route's"));
  const std::string settled = explain("POST '/checkout/a%2Fb'");
  CHECK(contains(settled, "class     P0, "));
  CHECK(contains(settled, "path      ambiguous: nothing is stored"));
  CHECK_FALSE(contains(explain("POST /checkout/a%20b"), "path  "));
  const ScratchFile strict("strict.json", R"({"upstreams":[{"name":"a","servers":["127.0.0.1:1"]}],
      "routes":[{"name":"export","match":{"path":"/export/**"},"class":"P2"}],
      "ambiguous_paths":"reject"})");
  const auto ask = [&](const std::string& path) {
    return run("explain --config " + strict.path() + " GET '" + path + "'");
  };
  const Result refused = ask("/export/../x");
  CHECK(refused.code != 0);
  CHECK(contains(refused.out + refused.err, "answered 400: The path can be read in several ways"));
  CHECK(ask("/export/a%2Fb").code == 0);
}

TEST_CASE("explain says that a HEAD counts as a GET too") {
  const ScratchFile file("head.json", R"({"upstreams":[{"name":"a","servers":["127.0.0.1:1"]}],
      "routes":[{"name":"export","match":{"methods":["GET"],"path":"/export/**"},"class":"P2"}],
      "ambiguous_paths":"reject"})");
  const std::string command = "explain --config " + file.path();
  const std::string head = run(command + " HEAD /export/x").out;
  CHECK(contains(head, "route     export: GET /export/**"));
  CHECK(contains(head, "class     P2, "));
  CHECK(contains(head, "method    HEAD: a GET has another route"));
  CHECK_FALSE(contains(run(command + " GET /export/x").out, "method  "));
  CHECK_FALSE(contains(run(command + " HEAD /other").out, "method  "));
}

TEST_CASE("explain shows whose deadline counts and what it ends") {
  const auto line = [](const std::string& fields) {
    const std::string out = explain("POST http://shop.example/checkout/7" + fields);
    const std::size_t at = out.find("deadline  ");
    return at == std::string::npos ? out : out.substr(at, out.find('\n', at) - at);
  };
  CHECK(line(" -H 'X-Request-Deadline: 250ms'") ==
        "deadline  250 ms after arrival for a slot, set by its client; 250 ms for the response "
        "head");
  CHECK(line(" -H 'grpc-timeout: 5S'") ==
        "deadline  1000 ms after arrival for a slot, set by the class's sla_ms; 5000 ms for the "
        "response head, set by its client");
  CHECK(line(" -H 'X-Request-Deadline: soon'") ==
        "deadline  1000 ms after arrival for a slot, set by the class's sla_ms");
}

TEST_CASE("explain says which deadline of a client is ignored and why") {
  const auto told = [](const std::string& fields) { return explain("GET /a" + fields); };
  CHECK(contains(told(" -H 'X-Request-Deadline: soon'"),
                 "X-Request-Deadline is ignored, and not passed on: it is not what is left, such "
                 "as 250ms or 2s"));
  CHECK(contains(told(" -H 'grpc-timeout: 5s'"),
                 "grpc-timeout is ignored, and not passed on: it is not 1 to 8 digits"));
  CHECK(contains(told(" -H 'X-Request-Deadline: 1s' -H 'x-request-deadline: 1s'"),
                 "X-Request-Deadline is ignored, and not passed on: it comes 2 times"));
  for (const char* valid : {"", " -H 'grpc-timeout: 5S'", " -H 'X-Request-Deadline: 0ms'"})
    CHECK_FALSE(contains(told(valid), "ignored"));
}

TEST_CASE("explain says whether an upgrade becomes a tunnel") {
  const auto told = [](const std::string& upgrade,
                       const std::string& rest = " -H 'Connection: upgrade'",
                       const std::string& method = "GET") {
    return explain(method + " /a -H 'Upgrade: " + upgrade + "'" + rest);
  };
  CHECK(contains(told("h2c, WebSocket/13"),
                 "upgrade   WebSocket/13: asked of the upstream; once that agrees, a tunnel (one "
                 "of 1000 of limits.tunnels)"));
  const std::string other = told("irc");
  CHECK(contains(other, "upgrade   none: the upgrades of route default allow websocket. "));
  CHECK(contains(other, "goes on as any other, without its Upgrade."));
  CHECK(contains(told("h2c"), "upgrade   none: the upgrades of route default allow websocket."));
  CHECK(contains(told("websocket", ""), "upgrade   none: Connection does not name it."));
  CHECK(contains(told("websocket", " -H 'Connection: upgrade'", "POST"),
                 "upgrade   none: the method is not GET."));
  CHECK(contains(told("websocket", " -H 'Connection: upgrade' -H 'Content-Length: 2'"),
                 "upgrade   none: the request has a body."));
  CHECK_FALSE(contains(explain("GET /a"), "upgrade "));
}

TEST_CASE("run names the place of each server that has no address") {
  const ScratchFile file("names.json",
                         R"({"listen": {"port": 0}, "admin": {"port": 0}, "upstreams": [
    {"name": "one", "servers": ["127.0.0.1:1", "nowhere.invalid:80"]},
    {"name": "two", "servers": ["nobody.invalid:81"]}]})");
  const Result result = run("run --config " + file.path());
  CHECK(result.code == 1);  // it may be known in a moment
  CHECK(contains(result.err,
                 "error: $.upstreams[0].servers[1]: found \"nowhere.invalid:80\", which has no "
                 "address: "));
  CHECK(contains(result.err, "error: $.upstreams[1].servers[0]: found \"nobody.invalid:81\""));
  CHECK(contains(result.err, "2 error(s)"));
}

TEST_CASE("explain shows the tenant and the priority that are believed") {
  const ScratchFile file("trust.json", R"({
    "trusted_peers": ["127.0.0.1"],
    "trusted_headers": {"tenant": "X-Tenant", "priority": "X-Priority"},
    "tenants": {"api_keys": [{"tenant": "shop", "key": "key-of-the-shop"}]},
    "upstreams": [{"name": "app", "servers": ["127.0.0.1:3000"]}]})");
  const auto told = [&](const std::string& field) {
    const Result result = run("explain --config " + file.path() + " GET /x -H '" + field + "'");
    CHECK_MESSAGE(result.code == 0, result.err);
    return result.out;
  };
  CHECK(contains(told("X-Api-Key: key-of-the-shop"), "tenant    api_key shop\n"));
  CHECK(contains(told("X-Api-Key: guessed"), "tenant    client_address 127.0.0.1\n"));
  CHECK(contains(told("X-Tenant: acme"), "tenant    trusted_header acme\n"));
  CHECK(contains(told("X-Forwarded-For: 2001:db8::5"), "client_address 2001:db8::/64\n"));
  CHECK(contains(told("X-Priority: 0"), "from the priority 0 that X-Priority gives it\n"));
}

TEST_CASE("explain at OVERLOADED says what the draw means and when a slot is free") {
  for (const std::string state : {"OVERLOADED", "overloaded"}) {
    const std::string out = explain("GET /search/x --at " + state);
    CHECK(contains(out, "state     OVERLOADED (of NORMAL, OVERLOADED)\n"));
    CHECK(contains(out, "rule      deny, probability 0.5, retry after 1000 ms"));
    CHECK(contains(out, "ERROR_BURST: deny (503, retry after 1000 to 1500 ms or later, by turn)"));
    CHECK(contains(out, "QUEUE_WAIT_RISK: allow_if_short_wait"));
    CHECK(contains(out, "the lowest class first: at most 50 % of this one,"));
    CHECK(contains(out, "no slot is left idle"));
  }
  CHECK(contains(explain("GET /export/x --at OVERLOADED"), "at most 100 % of this one,"));
  CHECK(contains(explain("POST /checkout/x --at OVERLOADED"), "verdict   allow\n"));
}

TEST_CASE("explain refuses requests that no client could send") {
  const auto refused = [](const std::string& arguments, std::string_view fragment) {
    const Result result = run("explain --config " + kShipped + " " + arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(contains(result.err, fragment), result.err);
  };
  refused("GET no-slash", "400");
  refused("CONNECT h:1", "405");
  refused("GET / -H \"$(printf 'a: b\\r\\nHost: c')\"", "control character");
  refused("GET / -H 'no colon'", "400");
}

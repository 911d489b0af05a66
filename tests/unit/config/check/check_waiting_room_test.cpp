#include "config/check/checks.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

std::string route(const std::string& room, const std::string& more = "",
                  const std::string& of_route = "") {
  return with(R"("routes":[{"name":"sale","match":{"path":"/sale/**"},)" + of_route +
              R"("waiting_room":)" + room + "}]" + (more.empty() ? "" : "," + more));
}

const WaitingRoom& room_of(const Config& config) { return *config.routes[0].waiting_room; }

const std::string kPath = "$.routes[0].waiting_room";

TEST_CASE("a waiting room needs no key, and no route has one unless it says so") {
  CHECK_FALSE(load_good(with(R"("routes":[{"name":"a","match":{}}])")).routes[0].waiting_room);
  const Config config = load_good(route("{}"));
  const WaitingRoom& room = room_of(config);
  CHECK(room.sessions.most == 200);
  CHECK_FALSE(room.sessions.per_minute);
  CHECK(room.opening.when == WaitingWhen::full);
  CHECK(room.page.status == 503);
  CHECK(room.page.file.empty());
  CHECK_FALSE(room.page.own);
  CHECK(room.tickets.join == WaitingJoin::automatic);
  CHECK(room.tickets.challenge.work_bits == 0);
  CHECK(room.secure_cookie);
  CHECK(room.tickets.claim >= Milliseconds{120'000});  // WCAG 2.2.1
  CHECK(room.tickets.abandon >= Milliseconds{150'000});
  CHECK_FALSE(room.sessions.traffic_class);
}

TEST_CASE("every key of a waiting room has its range") {
  for (const char* good :
       {R"({"active_sessions":1})", R"({"per_minute":1000000})", R"({"when":"always"})",
        R"({"status":200})", R"({"status":202})", R"({"status":429})",
        R"({"poll":{"min_ms":1000,"max_ms":1000}})", R"({"languages":["de","ar"]})",
        R"({"join":"auto"})", R"({"join":"offer"})", R"({"page":""})", R"({"challenge":{}})",
        R"({"challenge":{"work_bits":0}})", R"({"challenge":{"work_bits":24}})",
        R"({"message":"Bitte warten."})", R"({"class":"P1"})", R"({"secure_cookie":false})"})
    load_good(route(good));
  check_problem(route(R"({"active_sessions":0})"), kPath + ".active_sessions", "found 0");
  check_problem(route(R"({"per_minute":0})"), kPath + ".per_minute", "found 0");
  check_problem(route(R"({"when":"never"})"), kPath + ".when", "overloaded");
  check_problem(route(R"({"join":"never"})"), kPath + ".join", "offer");
  check_problem(route(R"({"challenge":{"work_bits":25}})"), kPath + ".challenge.work_bits",
                "found 25");
  check_problem(route(R"({"challenge":18})"), kPath + ".challenge", "");
  check_problem(route(R"({"page":"a\nb"})"), kPath + ".page", "control characters");
  for (const char* status : {"201", "302", "418", "500", "600"})
    check_problem(route(R"({"status":)" + std::string(status) + "}"), kPath + ".status",
                  "found " + std::string(status));
  check_problem(route(R"({"abandon_ms":149999})"), kPath + ".abandon_ms", "found 149999");
  check_problem(route(R"({"attempts":0})"), kPath + ".attempts", "found 0");
  check_problem(route(R"({"languages":["tlh"]})"), kPath + ".languages[0]", "found");
  check_problem(route(R"({"message":"a\nb"})"), kPath + ".message", "control characters");
  check_problem(route(R"({"message":")" + std::string(501, 'a') + "\"}"), kPath + ".message",
                "500");
  check_problem(route(R"({"class":"P9"})"), kPath + ".class", "P9");
  check_problem(route(R"({"sessions":1})"), kPath + ".sessions", "");
}

TEST_CASE("a start is a time, and a draw needs one") {
  const WaitingRoom room = room_of(
      load_good(route(R"({"opens_at":"2026-12-01T10:00:00+01:00","queueing":"random_start"})")));
  CHECK(room.opening.queueing == Queueing::random_start);
  CHECK(room.opening.at == "2026-12-01T10:00:00+01:00");
  CHECK(room_of(load_good(route("{}"))).opening.queueing == Queueing::fifo);
  for (const char* wrong : {"tomorrow", "2026-12-01", "2026-02-30T10:00:00Z", "10:00"})
    check_problem(route(R"({"opens_at":")" + std::string(wrong) + "\"}"), kPath + ".opens_at",
                  "RFC 3339");
  check_problem(route(R"({"queueing":"random_start"})"), kPath + ".queueing", "needs a start");
  check_problem(route(R"({"queueing":"lifo"})"), kPath + ".queueing", "fifo");
}

TEST_CASE("who bypasses is named by blocks, patterns and tiers, also a tier of nobody in line") {
  const WaitingRoom room = room_of(load_good(route(
      R"({"bypass":{"clients":["10.0.0.0/8","::1"],"paths":["/sale/a/**"],"tiers":["staff"]}})",
      R"("tenants":{"api_keys":[{"name":"us","key":"of-our-own-staff","tier":"staff"}]})")));
  CHECK(room.bypass.clients.size() == 2);
  CHECK(room_of(load_good(route("{}"))).bypass.paths.empty());
  const std::string bypass = kPath + ".bypass";
  check_problem(route(R"({"bypass":{"clients":["10.0.0.0/99"]}})"), bypass + ".clients[0]", "CIDR");
  check_problem(route(R"({"bypass":{"paths":["/sale/../a"]}})"), bypass + ".paths[0]", "dot");
  check_problem(route(R"({"bypass":{"paths":["a*"]}})"), bypass + ".paths[0]", "path");
  check_problem(route(R"({"bypass":{"users":["a"]}})"), bypass + ".users", "");
}

TEST_CASE("the times of a waiting room fit one another") {
  check_problem(route(R"({"poll":{"min_ms":31000}})"), kPath + ".poll.min_ms", "up to");
  check_problem(route(R"({"idle_ms":5000,"session_ttl_ms":4999})"), kPath + ".idle_ms", "up to");
  check_problem(route(R"({"abandon_ms":150000,"poll":{"max_ms":50001}})"), kPath + ".abandon_ms",
                "three times");
  load_good(route(R"({"abandon_ms":150000,"poll":{"max_ms":50000}})"));
}

TEST_CASE("visitors ask for their place below own_path, and can be let in") {
  check_problem(route("{}", R"("own_path":"")"), kPath, "$.own_path");
  check_problem(route("{}", "", R"("defer":{"when":"always"},)"), kPath, "deferred");
  load_good(route("{}", "", R"("defer":{},)"));
}

TEST_CASE("the tiers of a waiting room are a list of up to 8, of different names and priorities") {
  const WaitingRoom usual = room_of(load_good(route("{}")));
  REQUIRE(usual.tiers.size() == 4);
  CHECK(usual.tiers.front().name == "standard");
  CHECK(usual.tiers.front().priority == 0);
  CHECK(usual.tiers.back().name == "enterprise");
  CHECK(usual.tiers.back().priority == 3);
  CHECK(usual.tiers.back().share == 0);
  const auto tiers = [](const std::string& list) { return route(R"({"tiers":[)" + list + "]}"); };
  const WaitingRoom own = room_of(load_good(
      tiers(R"({"name":"all","priority":5,"share":0.3},{"name":"members","priority":9})")));
  REQUIRE(own.tiers.size() == 2);  // in place of the usual ones
  CHECK(own.tiers[0].share == doctest::Approx(0.3));
  load_good(tiers(R"({"name":"all","priority":0})"));
  const std::string path = kPath + ".tiers";
  check_problem(tiers(""), path, "1 to 8");
  check_problem(tiers(R"({"name":"a"})"), path + "[0].priority", "required");
  check_problem(tiers(R"({"priority":1})"), path + "[0].name", "required");
  check_problem(tiers(R"({"name":"a","priority":256})"), path + "[0].priority", "found 256");
  check_problem(tiers(R"({"name":"a","priority":1,"share":1})"), path + "[0].share", "found 1");
  check_problem(tiers(R"({"name":"a","priority":1},{"name":"a","priority":2})"), path + "[1].name",
                "the same as of");
  check_problem(tiers(R"({"name":"a","priority":1},{"name":"b","priority":1})"),
                path + "[1].priority", "the same as of");
  check_problem(
      tiers(R"({"name":"a","priority":0,"share":0.6},{"name":"b","priority":1,"share":0.5},
                         {"name":"c","priority":2})"),
      path, "below 1");
  check_problem(tiers(R"({"name":"a","priority":0},{"name":"b","priority":1,"share":0.1})"),
                path + "[1].share", "goes first anyway");
}

TEST_CASE("resources have types, names of their own, and sizes") {
  const auto with_resources = [](const std::string& list, const std::string& more = "") {
    return route(R"({"resources":)" + list + more + "}");
  };
  const std::string one = R"([{"type":"gpu","name":"a","sizes":{"memory_gb":64}}])";
  CHECK(room_of(load_good(with_resources(one))).resources.groups[0].sizes[0].value == 64);
  CHECK(device_names({.type = "gpu", .name = "", .count = 2, .sizes = {}}) ==
        std::vector<std::string>{"gpu-1", "gpu-2"});
  load_good(
      with_resources(R"([{"type":"gpu","count":500},{"type":"gpu","name":"b","count":500}])"));
  load_good(with_resources(one, R"(,"default_type":"gpu","duration":{"min_ms":1000,"max_ms":2000,
      "default_ms":1500},"own_max_wait":{"min_ms":1000,"max_ms":2000},"when":"always")"));
  load_good(with_resources("[]"));
  const std::string path = kPath + ".resources";
  check_problem(with_resources(R"([{"name":"a"}])"), path + "[0].type", "missing");
  check_problem(with_resources(R"([{"type":"gpu"}])"), path + "[0]", "needs a name");
  check_problem(with_resources(R"([{"type":"gpu","name":"a"},{"type":"b","name":"a"}])"),
                path + "[1]", "a second device named a");
  check_problem(with_resources(R"([{"type":"gpu","count":2},{"type":"b","name":"gpu-2"}])"),
                path + "[1]", "a second device named gpu-2");
  check_problem(with_resources(R"([{"type":"gpu","name":"g","count":1001}])"), path + "[0].count",
                "1001");
  check_problem(with_resources(R"([{"type":"a","count":600},{"type":"b","count":600}])"), path,
                "1200 devices");
  for (const std::string name : {"type", "duration_ms", "max_wait_ms"})
    check_problem(with_resources(R"([{"type":"gpu","name":"a","sizes":{")" + name + R"(":1}}])"),
                  path + "[0].sizes." + name, "letters");
  check_problem(with_resources(R"([{"type":"gpu","name":"a","sizes":{"memory_gb":0}}])"),
                path + "[0].sizes.memory_gb", "found 0");
}

TEST_CASE("what contradicts resources is a problem") {
  const std::string list = R"("resources":[{"type":"gpu","name":"a"}])";
  const auto check = [&](const std::string& more, const std::string& at, const char* text) {
    check_problem(route("{" + list + "," + more + "}"), kPath + at, text);
  };
  check(R"("default_type":"scope")", ".default_type", "no resource has this type");
  check(R"("when":"overloaded")", ".when", "always");
  check(R"("duration":{"max_ms":3600001})", ".duration.max_ms", "session_ttl_ms");
  check(R"("duration":{"min_ms":2000,"max_ms":1000})", ".duration.min_ms", "max_ms");
  check(R"("duration":{"max_ms":2000,"default_ms":3000})", ".duration.default_ms", "max_ms");
  check(R"("duration":{"min_ms":2000,"default_ms":1500})", ".duration.min_ms", "default_ms");
  check(R"("own_max_wait":{"max_ms":1800001})", ".own_max_wait.max_ms", "max_wait_ms");
  check(R"("own_max_wait":{"min_ms":2000,"max_ms":1000})", ".own_max_wait.min_ms", "max_ms");
  check_problem(route(R"({"default_type":"gpu"})"), kPath + ".default_type", "no resources");
  const std::string deferred = R"("defer":{"when":"prefer"},)";
  check_problem(route("{" + list + "}", "", deferred), kPath + ".resources", "another visitor's");
  load_good(route("{}", "", deferred));
}

TEST_CASE("kinds of requirement, types and names of sizes are bounded by the configuration") {
  const auto rooms = [](const std::string& list) {
    return route(R"({"resources":[)" + list + "]}");
  };
  // Each larger in one size and smaller in the other: a kind for each pair of bounds.
  const auto crossed = [](int count) {
    std::string list;
    for (int n = 1; n <= count; ++n)
      list += std::string(n > 1 ? "," : "") + R"({"type":"gpu","name":"g)" + std::to_string(n) +
              R"(","sizes":{"a":)" + std::to_string(n) + R"(,"b":)" +
              std::to_string(count + 1 - n) + "}}";
    return list;
  };
  load_good(rooms(crossed(7)));
  check_problem(rooms(crossed(8)), kPath + ".resources", "more than 32");
  // In one size alone there are as many as devices that differ.
  std::string chain;
  for (int n = 1; n <= 33; ++n)
    chain += std::string(n > 1 ? "," : "") + R"({"type":"gpu","name":"g)" + std::to_string(n) +
             R"(","sizes":{"a":)" + std::to_string(n) + "}}";
  check_problem(rooms(chain), kPath + ".resources", "more than 32");
  std::string types;
  for (int n = 1; n <= 17; ++n)
    types +=
        std::string(n > 1 ? "," : "") + R"({"type":"t)" + std::to_string(n) + R"(","count":1})";
  check_problem(rooms(types), kPath + ".resources", "17 types");
  std::string sizes;
  for (int n = 1; n <= 9; ++n)
    sizes += std::string(n > 1 ? "," : "") + R"({"type":"gpu","name":"g)" + std::to_string(n) +
             R"(","sizes":{"s)" + std::to_string(n) + R"(":1}})";
  check_problem(rooms(sizes), kPath + ".resources", "9 names of sizes");
}

TEST_CASE("a key's tier is one of a waiting room's, and the same for all keys of a tenant") {
  const auto keys = [](const std::string& list) {
    return route("{}", R"("tenants":{"api_keys":[)" + list + "]}");
  };
  const Config config = load_good(keys(R"({"name":"a","key":"12345678","tier":"vip"})"));
  CHECK(config.tenants.api_keys[0].tier == "vip");
  check_problem(keys(R"({"name":"a","key":"12345678","tier":"gold"})"),
                "$.tenants.api_keys[0].tier", "no waiting room");
  check_problem(keys(R"({"name":"a","key":"12345678","tier":"vip"},
                        {"name":"a","key":"12345679","tier":"premium"})"),
                "$.tenants.api_keys[1].tier", "give it once");
  load_good(with(R"("tenants":{"api_keys":[{"name":"a","key":"12345678","tier":"gold"}]})"));
}

}  // namespace
TEST_CASE("a webhook goes to a route with defer, from which clients may be kept") {
  const auto hooked = [](const std::string& webhook, const std::string& to) {
    return with(
        R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{"webhook":)" +
        webhook + "}}," + to + "]");
  };
  const std::string webhook = R"({"route":"hooks","path":"/in?v=1","key_file":"key"})";
  const std::string internal = R"({"name":"hooks","match":{},"internal":true,"defer":{}})";
  const Config config = load_good(hooked(webhook, internal));
  CHECK(room_of(config).webhook->events.size() == kWaitingEventCount);
  CHECK(config.routes[1].internal);
  load_good(hooked(webhook, R"({"name":"hooks","match":{"path":"/in"},"defer":{}})"));
  const std::string path = kPath + ".webhook";
  check_problem(hooked(R"({"route":"hook","key_file":"key"})", internal), path + ".route",
                "no route of this name");
  check_problem(hooked(webhook, R"({"name":"hooks","match":{"path":"/in"}})"), path + ".route",
                "needs $.routes[1].defer");
  check_problem(hooked(R"({"route":"hooks"})", internal), path + ".key_file", "missing");
  check_problem(hooked(R"({"route":"hooks","key_file":"key","path":"in"})", internal),
                path + ".path", "starts with '/'");
  check_problem(hooked(R"({"route":"hooks","key_file":"key","events":["left"]})", internal),
                path + ".events[0]", "cancelled");
  check_problem(
      hooked(webhook, R"({"name":"hooks","match":{"path":"/in"},"internal":true,"defer":{}})"),
      "$.routes[1].match", "its match is {}");
  check_problem(with(R"("routes":[{"name":"hooks","match":{},"internal":true}])"),
                "$.routes[0].internal", "none without defer");
}

TEST_CASE("a reservation needs a webhook that tells of it, also where resources are handed out") {
  const auto reserving = [](const std::string& more, const std::string& reserve = "{}") {
    return with(
        R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{"reserve":)" +
        reserve + more + R"(}},{"name":"hooks","match":{},"internal":true,"defer":{}}])");
  };
  const auto told = [](const std::string& events) {
    return R"(,"webhook":{"route":"hooks","key_file":"key")" + events + "}";
  };
  const Config config = load_good(reserving(told("")));
  CHECK(room_of(config).tickets.reserve->keep == Milliseconds{14'400'000});
  CHECK(room_of(config).tickets.reserve->claim == Milliseconds{900'000});
  CHECK_FALSE(room_of(config).tickets.reserve->anonymous);
  CHECK_FALSE(room_of(load_good(route("{}"))).tickets.reserve);
  load_good(reserving(told(R"(,"events":["called","reserved"])")));
  load_good(reserving(told("") + R"(,"resources":[{"type":"gpu","count":1}])"));
  const std::string path = kPath + ".reserve";
  check_problem(reserving(""), path, "webhook, which is missing");
  check_problem(reserving(told(R"(,"events":["reserved"])")), path, "needs the event called");
  check_problem(reserving(told(R"(,"events":["called"])")), path, "needs the event reserved");
  check_problem(reserving(told(""), R"({"keep_ms":200000})"), path + ".keep_ms", "at least");
  check_problem(reserving(told(""), R"({"claim_ms":60000})"), path + ".claim_ms", "at least");
  check_problem(reserving(told(""), R"({"keep_ms":43200001})"), path + ".keep_ms", "43200000");
}

}  // namespace spillway::config

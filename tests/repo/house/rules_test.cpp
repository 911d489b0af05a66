#include "repo/house/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "support/places.hpp"

namespace spillway::house {
namespace {

using Rooms = std::set<std::string>;

Rooms operator+(Rooms rooms, const Rooms& more) {
  rooms.insert(more.begin(), more.end());
  return rooms;
}

// The arrows of the house, and all of them: each line may include what the lines before it name.
House spillway() {
  const Rooms described = {"base", "config", "config/describe"};
  const Rooms loaded = described + Rooms{"config/check", "config/file"};
  const Rooms field = {"base", "config", "http/field"};
  const Rooms message = field + Rooms{"http/caching", "http/message"};
  const Rooms http = message + Rooms{"http/outgoing"};
  const Rooms signals = http + Rooms{"resilience", "overload/signals"};
  const Rooms overload =
      signals + Rooms{"overload/limit", "overload/admission", "overload/control"};
  const Rooms dispatch = {"dispatch/queue", "dispatch/estimate", "dispatch/discipline",
                          "dispatch/scheduler"};
  const Rooms parts = {"traffic/route", "traffic/client", "traffic/trusted_token"};
  const Rooms traffic = parts + Rooms{"traffic/classify"};
  const Rooms decisions = overload + dispatch + traffic;
  const Rooms cache = {"cache", "cache/rules", "cache/store"};
  const Rooms stores = {"store/contract", "store/sqlite", "store/postgres"};
  const Rooms deferral = stores + Rooms{"store", "jobs"};
  const Rooms ticket = http + Rooms{"waiting/ticket"};
  const Rooms line = ticket + Rooms{"waiting/line"};
  const Rooms terms = line + Rooms{"waiting/resources", "waiting/terms"};
  const Rooms session = terms + Rooms{"waiting/place", "waiting/session"};
  const Rooms room = session + Rooms{"waiting/token", "waiting/pace", "waiting/room"};
  const Rooms waiting = room + Rooms{"waiting/replica", "waiting/page"};
  const Rooms counted = decisions + cache + deferral + waiting;
  const Rooms snapshot = counted + Rooms{"observe/count", "observe/snapshot"};
  const Rooms below_proxy = snapshot + Rooms{"observe/log", "observe/metrics", "observe/page"};
  const Rooms scenario =
      decisions + waiting + loaded + Rooms{"cache/rules", "jobs", "simulate/recording"};
  const Rooms simulate =
      scenario + Rooms{"simulate/scenario", "simulate/model", "simulate/run", "simulate/report"};
  const Rooms net = below_proxy + Rooms{"proxy/net"};
  const Rooms upstream = net + Rooms{"proxy/upstream"};
  const Rooms generation = upstream + loaded + Rooms{"proxy/waiting", "proxy/generation"};
  const Rooms jobs = generation + Rooms{"proxy/jobs"};
  const Rooms owner = jobs + Rooms{"proxy/request/owner"};
  const Rooms asked =
      owner + Rooms{"proxy/request/client", "proxy/request/context", "proxy/request/answer"};
  const Rooms request = asked + Rooms{"proxy/request/admission", "proxy/request/body"};
  const Rooms call = request + Rooms{"proxy/visitors", "proxy/cache", "proxy/call"};
  const Rooms exchange = call + Rooms{"proxy/deferral", "proxy/exchange"};
  const Rooms http1 = exchange + Rooms{"proxy/http1"};
  const Rooms server = http1 + Rooms{"proxy/worker", "proxy/admin", "proxy/server"};
  const Rooms cli = {"cli/terminal", "cli/admin", "cli/explain", "cli/simulate"};
  const Rooms below_store = waiting + Rooms{"resilience", "jobs"};
  return {.arrows = {{"base", {}},
                     {"config", {"base"}},
                     {"config/describe", {"base", "config"}},
                     {"config/check", described},
                     {"config/file", described + Rooms{"config/check"}},
                     {"http/field", {"base", "config"}},
                     {"http/caching", field},
                     {"http/message", field},
                     {"http/outgoing", message},
                     {"traffic/route", http},
                     {"traffic/client", http},
                     {"traffic/trusted_token", field},
                     {"traffic/classify", http + parts},
                     {"resilience", {"base", "config"}},
                     {"overload/signals", http + Rooms{"resilience"}},
                     {"overload/limit", signals},
                     {"overload/admission", signals},
                     {"overload/control", signals + Rooms{"overload/limit", "overload/admission"}},
                     {"dispatch/queue", http},
                     {"dispatch/estimate", http},
                     {"dispatch/discipline", http + Rooms{"dispatch/queue"}},
                     {"dispatch/scheduler",
                      http + Rooms{"dispatch/queue", "dispatch/estimate", "dispatch/discipline"}},
                     {"jobs", http + Rooms{"resilience"}},
                     {"waiting/ticket", http},
                     {"waiting/line", ticket},
                     {"waiting/resources", line},
                     {"waiting/terms", line + Rooms{"waiting/resources"}},
                     {"waiting/token", terms},
                     {"waiting/pace", ticket},
                     {"waiting/place", line},
                     {"waiting/session", terms + Rooms{"waiting/place"}},
                     {"waiting/room", session + Rooms{"waiting/token", "waiting/pace"}},
                     {"waiting/replica", room},
                     {"waiting/page", terms + Rooms{"waiting/token"}},
                     {"store/contract", below_store},
                     {"store/sqlite", below_store + Rooms{"store/contract"}},
                     {"store/postgres", below_store + Rooms{"store/contract"}},
                     {"store", below_store + stores},
                     {"simulate/recording", loaded},
                     {"simulate/scenario", scenario},
                     {"simulate/model", scenario + Rooms{"simulate/scenario"}},
                     {"simulate/run", scenario + Rooms{"simulate/scenario", "simulate/model"}},
                     {"simulate/report", loaded + Rooms{"simulate/recording"}},
                     {"cache/rules", http},
                     {"cache/store", http + Rooms{"cache/rules"}},
                     {"cache", http + Rooms{"cache/rules", "cache/store"}},
                     {"observe/count", counted},
                     {"observe/log", counted + Rooms{"observe/count"}},
                     {"observe/snapshot", counted + Rooms{"observe/count"}},
                     {"observe/metrics", snapshot},
                     {"observe/page", snapshot},
                     {"proxy/net", below_proxy},
                     {"proxy/upstream", net},
                     {"proxy/waiting", net},
                     {"proxy/generation", upstream + loaded + Rooms{"proxy/waiting"}},
                     {"proxy/jobs", generation},
                     {"proxy/request/owner", jobs},
                     {"proxy/request/client", owner},
                     {"proxy/request/context", owner},
                     {"proxy/request/answer", counted + Rooms{"observe/count"}},
                     {"proxy/request/admission", asked},
                     {"proxy/request/body", asked},
                     {"proxy/visitors", request},
                     {"proxy/cache", request},
                     {"proxy/call", request + Rooms{"proxy/visitors", "proxy/cache"}},
                     {"proxy/deferral", call},
                     {"proxy/exchange", call + Rooms{"proxy/deferral"}},
                     {"proxy/http1", exchange},
                     {"proxy/worker", http1},
                     {"proxy/admin", jobs},
                     {"proxy/server", http1 + Rooms{"proxy/worker", "proxy/admin"}},
                     {"cli/terminal", {"base"}},
                     {"cli/admin", ticket + loaded + Rooms{"jobs", "cli/terminal"}},
                     {"cli/explain",
                      overload + traffic + terms + Rooms{"cache/rules", "jobs", "cli/terminal"}},
                     {"cli/simulate", simulate},
                     {"main", server + simulate + cli}},
          .pure = {"base", "http", "traffic", "resilience", "overload", "dispatch", "jobs",
                   "waiting", "cache/rules"}};
}

const House kSpillway = spillway();

const std::string kRoot = support::in_source();

std::string listed(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + '\n';
  return text;
}

// A small house in order, with a file more.
std::vector<std::string> violations_with(const SourceFile& more) {
  std::vector<SourceFile> files{
      {"README.md", ""},
      {"main.cpp", "#include \"proxy/worker/worker.hpp\"\n"},
      {"base/README.md", ""},
      {"base/time.hpp", "#include <chrono>\n"},
      {"http/README.md", ""},
      {"http/message/head.hpp", "#include \"base/time.hpp\"\n"},
      {"proxy/README.md", ""},
      {"proxy/net/stream.hpp", "#include <thread>\n"},
      {"proxy/worker/worker.hpp", "#include \"proxy/net/stream.hpp\"\nclass Worker final {\n};\n"}};
  std::erase_if(files, [&](const SourceFile& file) { return file.path == more.path; });
  files.push_back(more);
  return violations(kSpillway, files);
}

bool reported(const SourceFile& more, const std::string& what) {
  const auto found = violations_with(more);
  INFO(listed(found));
  return found.size() == 1 && found.front().find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("the sources keep the rules of the house") {
  const auto files = read_tree(kRoot + "/src");
  CHECK(files.size() > 50);
  CHECK(listed(violations(kSpillway, files)) == "");
}

TEST_CASE("tests and tools keep to the length of a file and to names that say something") {
  for (const char* folder : {"/tests", "/bench"}) {
    CHECK(listed(untidy_files(read_tree(kRoot + folder))) == "");
  }
}

TEST_CASE("each folder of tests and tools says what is in it or mirrors one that does") {
  CHECK(listed(undescribed_folders(read_tree(kRoot + "/tests"), {"unit"})) == "");
  CHECK(listed(undescribed_folders(read_tree(kRoot + "/bench"), {})) == "");
}

TEST_CASE("a made-up house in order has no violations") {
  CHECK(listed(violations_with({"README.md", ""})) == "");
}

TEST_CASE("a made-up violation of each rule is reported") {
  SUBCASE("arrows") {
    CHECK(reported({"http/message/head.hpp", "#include \"proxy/net/stream.hpp\"\n"},
                   "http/message -> proxy/net"));
    CHECK(reported({"proxy/net/pipe.hpp", "#include \"proxy/worker/worker.hpp\"\n"},
                   "proxy/net -> proxy/worker"));
    CHECK(reported({"base/ids.hpp", "  #  include <http/message/head.hpp>\n"},
                   "base -> http/message"));
    CHECK(listed(violations_with({"cellar/wine.hpp", ""})) ==
          "cellar has no README.md\nthe table has no arrows for cellar\n");
  }
  SUBCASE("arrows that a forward declaration hides") {
    CHECK(reported({"proxy/net/pipe.hpp", "class Worker;\n"}, "declares Worker"));
    CHECK(violations_with({"proxy/server/server.hpp", "class Worker;\n"}).empty());
    CHECK(violations_with({"proxy/net/pipe.hpp", "class PipePool;\n\nclass PipePool {\n};\n"})
              .empty());
    CHECK(violations_with({"proxy/net/pipe.hpp", "class logger;  // of a library\n"}).empty());
  }
  SUBCASE("circles") {
    CHECK(violations_with({"base/time.hpp", "#include \"http/message/head.hpp\"\n"}).back() ==
          "circle: base/time.hpp -> http/message/head.hpp -> base/time.hpp");
    CHECK(listed(circles({{"a", {"b"}}, {"b", {"c", "d"}}, {"c", {"a"}}, {"d", {}}})) ==
          "a -> b -> c -> a\n");
    CHECK(circles({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {}}}).empty());
  }
  SUBCASE("purity of includes") {
    for (const std::string impure :
         {"boost/asio.hpp", "boost/asio/io_context.hpp", "boost/beast/core/tcp_stream.hpp",
          "boost/beast.hpp", "boost/beast/http/read.hpp", "thread", "mutex", "condition_variable",
          "sys/socket.h", "netinet/in.h", "arpa/ftp.h", "unistd.h", "fstream", "filesystem",
          "ctime", "random", "spdlog/spdlog.h"}) {
      CAPTURE(impure);
      CHECK(reported({"http/message/body.hpp", "#include <" + impure + ">\n"},
                     "includes <" + impure));
      CHECK(violations_with({"proxy/net/body.hpp", "#include <" + impure + ">\n"}).empty());
    }
    for (const std::string pure :
         {"atomic", "chrono", "boost/beast/http/verb.hpp", "boost/beast/core/string_type.hpp",
          "boost/intrusive/list.hpp", "arpa/inet.h"}) {
      CAPTURE(pure);
      CHECK(violations_with({"http/message/body.hpp", "#include <" + pure + ">\n"}).empty());
    }
  }
  SUBCASE("purity of time") {
    CHECK(reported({"http/message/body.cpp", "auto t = Clock::now();\n"}, "asks the clock"));
    CHECK(violations_with({"http/message/body.cpp", "int x;  // never calls Clock::now()\n"})
              .empty());
    CHECK(violations_with({"proxy/net/body.cpp", "auto t = Clock::now();\n"}).empty());
  }
  SUBCASE("length") {
    std::string lines;
    for (int n = 0; n < 400; ++n) lines += "\n";
    CHECK(violations_with({"http/message/body.cpp", lines}).empty());
    CHECK(reported({"http/message/body.cpp", lines + "\n"}, "has 401 lines"));
  }
  SUBCASE("names") {
    CHECK(reported({"http/message/string_utils.hpp", ""}, "does not say"));
    CHECK(reported({"http/message/helper.hpp", ""}, "does not say"));
    CHECK(violations_with({"http/message/commonplace.hpp", ""}).empty());
  }
  SUBCASE("a README.md in each folder") {
    CHECK(reported({"traffic/route/routes.hpp", ""}, "traffic/route has no README.md"));
  }
}

}  // namespace spillway::house

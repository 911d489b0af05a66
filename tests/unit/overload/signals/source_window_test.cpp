#include "overload/signals/source_window.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "overload/signals/signals.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// Requests in a window, each from the next of so many clients and paths.
struct Part {
  const char* name;  // of its tenant and route
  std::uint32_t failed = 0;
  std::uint32_t succeeded = 0;
  std::uint64_t clients = 1;
  std::uint64_t paths = 1;
};

// One upstream with two workers: the shards' counts pass through a window of two slices.
class Traffic {
 public:
  Traffic() { close(); }

  Traffic& with(const Part& part) {
    const std::uint64_t of_part = Random(++parts_).next() % 1000 * 1000;
    const std::uint32_t all = part.failed + part.succeeded;
    for (std::uint32_t i = 0; i < all; ++i) {
      // The failures spread evenly over clients and paths.
      const bool failed = std::uint64_t{i} * part.failed / all != (i + 1ull) * part.failed / all;
      const std::uint64_t client = of_part + i % part.clients, path = of_part + i % part.paths;
      const std::string client_name = std::string(part.name) + "-client";
      AnswerSource source;
      source[SourceKind::client] = {Random(client).next(), client_name};
      source[SourceKind::path] = {Random(path ^ 0xfff).next(), "/path"};
      source[SourceKind::tenant] = {Random(of_part).next(), part.name};
      source[SourceKind::route] = {parts_, part.name};
      (i % 2 == 0 ? one_ : two_)->record(source, failed);
    }
    return *this;
  }

  void close() {
    const SourceCounts* const shards[] = {one_.get(), two_.get()};
    window_.close_slice(shards);
  }

  std::optional<LeftOut> worst() {
    close();
    const SourceCounts* const shards[] = {one_.get(), two_.get()};
    return window_.worst(10, shards);
  }
  std::string named() {
    const auto found = worst();
    return found ? std::string(name(found->kind)) + " " + std::string(found->name.view()) : "";
  }

 private:
  std::unique_ptr<SourceCounts> one_ = std::make_unique<SourceCounts>();
  std::unique_ptr<SourceCounts> two_ = std::make_unique<SourceCounts>();
  SourceWindow window_{2};
  std::uint64_t parts_ = 0;
};

}  // namespace

TEST_CASE("one client that asks for what fails is left out") {
  Traffic traffic;
  traffic.with({"good", 0, 88, 50, 20}).with({"bad", 22, 0, 1, 1});
  const auto found = traffic.worst();
  REQUIRE(found);
  CHECK(found->kind == SourceKind::client);
  CHECK(found->name.view() == "bad-client");
  CHECK(found->failed == 22);
  CHECK(found->finished >= 22);  // with who shares its bucket
  CHECK(found->others == 0);
}

TEST_CASE("of sources without which no error is left the first is named, or a much smaller one") {
  const struct {
    const char* what;
    Part bad;
    const char* named;
  } table[] = {
      {"one client, one path", {"bad", 22, 0, 1, 1}, "client bad-client"},
      {"many clients, one path", {"bad", 22, 0, 100, 1}, "path /path"},
      {"one client, many paths", {"bad", 22, 0, 1, 100}, "client bad-client"},
      {"a tenant of many clients and paths", {"bad", 64, 0, 64, 64}, "tenant bad"},
      {"a client most of whose requests are well, one path", {"bad", 20, 60, 1, 4}, "path /path"},
      {"a client whose other requests are well, many paths",
       {"bad", 20, 20, 1, 100},
       "client bad-client"},
  };
  for (const auto& row : table) {
    CAPTURE(row.what);
    Traffic traffic;
    traffic.with({"good", 0, 200, 200, 200}).with(row.bad);
    CHECK(traffic.named() == row.named);
    CHECK(traffic.worst()->others == 0);
  }
}

TEST_CASE("a route that fails is its own trouble, with up to three quarters of the requests") {
  Traffic traffic;
  traffic.with({"reports", 300, 0, 300, 300}).with({"others", 0, 100, 100, 100});
  const auto found = traffic.worst();
  REQUIRE(found);
  CHECK(found->others == 0);
  CHECK(found->finished == 300);
  Traffic nearly_all;
  nearly_all.with({"reports", 304, 0, 300, 300}).with({"others", 0, 100, 100, 100});
  CHECK_FALSE(nearly_all.worst());
}

TEST_CASE("a client or a tenant that fails is its own trouble, however often it asks") {
  const struct {
    const char* what;
    Part bad;
    SourceKind kind;
  } table[] = {{"one client, its paths", {"bad", 2900, 0, 1, 2900}, SourceKind::client},
               {"a tenant of many clients", {"bad", 2900, 0, 300, 2900}, SourceKind::tenant}};
  for (const auto& row : table) {
    CAPTURE(row.what);
    Traffic traffic;
    for (const char* name : {"a", "b", "c", "d"}) traffic.with({name, 0, 25, 8, 8});
    traffic.with(row.bad);
    const auto found = traffic.worst();
    REQUIRE(found);
    CHECK(found->kind == row.kind);
    CHECK(found->sources == 1);
    CHECK(found->others == 0);
    traffic.with({row.bad.name, 400, 0, 1, 400});  // more than 31 of 32
    CHECK_FALSE(traffic.worst());
  }
}

TEST_CASE("a few good answers of others do not hide an upstream that fails") {
  Traffic many;
  many.with({"app", 10'000, 0, 300, 1}).with({"scanner", 0, 20, 1, 20});
  CHECK_FALSE(many.worst());
  // The address of a balancer, with all clients behind it, beside health checks of three machines.
  Traffic balancer;
  balancer.with({"app", 10'000, 0, 1, 300});
  for (const char* name : {"a", "b", "c"}) balancer.with({name, 0, 10, 1, 1});
  CHECK_FALSE(balancer.worst());
  // Four tenants have nearly all requests; crawlers fetch what needs no backend.
  Traffic tenants;
  for (const char* name : {"a", "b", "c", "d"}) tenants.with({name, 240, 0, 60, 60});
  for (const char* name : {"e", "f", "g", "h", "i"}) tenants.with({name, 0, 7, 1, 7});
  CHECK_FALSE(tenants.worst());
  // Eleven answers say little where one in five fails.
  Traffic few;
  few.with({"gateway", 62, 247, 1, 100});
  for (const char* name : {"a", "b", "c", "d"}) few.with({name, 0, 3, 1, 3});
  CHECK_FALSE(few.worst());
  // One other client, or two, may be such checks too.
  Traffic two;
  two.with({"app", 120, 0, 1, 60}).with({"a", 0, 15, 1, 1}).with({"b", 0, 15, 1, 1});
  CHECK_FALSE(two.worst());
}

TEST_CASE("no source is left out where all fail alike") {
  Traffic all_fail;
  all_fail.with({"a", 50, 0, 25, 5}).with({"b", 50, 0, 25, 5}).with({"c", 50, 0, 25, 5});
  CHECK_FALSE(all_fail.worst());
  Traffic some_fail;
  some_fail.with({"a", 25, 75, 25, 25}).with({"b", 30, 70, 25, 25}).with({"c", 35, 65, 25, 25});
  CHECK_FALSE(some_fail.worst());
}

TEST_CASE("a source without which more than half of the error rate is left is not left out") {
  Traffic more;
  more.with({"a", 44, 56, 100, 100}).with({"b", 16, 84, 100, 100});
  CHECK_FALSE(more.worst());
  Traffic half;
  half.with({"a", 45, 55, 100, 100}).with({"b", 15, 85, 100, 100});
  const auto found = half.worst();
  REQUIRE(found);
  CHECK(found->others == doctest::Approx(0.15));
}

TEST_CASE("the only client, path, tenant and route is not left out") {
  Traffic alone;
  CHECK_FALSE(alone.with({"all", 50, 50, 1, 1}).worst());
  // Nor a source beside which there are too few others.
  Traffic nearly;
  CHECK_FALSE(nearly.with({"all", 10, 10, 1, 1}).with({"few", 0, 9, 1, 1}).worst());
  CHECK(nearly.with({"few", 0, 1, 1, 1}).named() == "client all-client");
}

TEST_CASE("many users behind one address that fail as others do are not left out") {
  Traffic traffic;
  traffic.with({"network", 40, 60, 1, 50}).with({"others", 8, 12, 20, 10});
  CHECK_FALSE(traffic.worst());
  Traffic ill;
  ill.with({"network", 40, 60, 1, 50}).with({"others", 0, 40, 20, 10});
  CHECK(ill.named() == "client network-client");
}

TEST_CASE("up to four clients that ask for what fails are left out, each on paths of its own") {
  for (const int clients : {2, 3, 4}) {
    CAPTURE(clients);
    Traffic traffic;
    traffic.with({"good", 2, 86, 50, 20});  // some fail by chance
    const char* const names[] = {"first", "second", "third", "fourth"};
    for (int n = 0; n < clients; ++n) traffic.with({names[n], 22, 0, 1, 22});
    const auto found = traffic.worst();
    REQUIRE(found);
    CHECK(found->kind == SourceKind::client);
    CHECK(found->sources == static_cast<std::size_t>(clients));
    CHECK(found->failed >= 22u * static_cast<std::size_t>(clients));
    CHECK(found->others < 0.03);
  }
  // A fifth one is more than a few: then it is the upstream.
  Traffic many;
  many.with({"good", 0, 88, 50, 20});
  for (const char* name : {"a", "b", "c", "d", "e"}) many.with({name, 22, 0, 1, 22});
  const auto found = many.worst();
  CHECK((!found || found->kind != SourceKind::client));
}

TEST_CASE("failing clients that ask more and less often are found together") {
  Traffic traffic;
  traffic.with({"good", 0, 88, 50, 20});
  traffic.with({"small", 10, 0, 1, 10})
      .with({"large", 40, 0, 1, 40})
      .with({"middle", 20, 0, 1, 20});
  const auto found = traffic.worst();
  REQUIRE(found);
  CHECK(found->sources == 3);
  CHECK(found->name.view() == "middle-client");  // of the last failures none was the large one's
  CHECK(found->others == 0);
}

TEST_CASE("one failing client is one source though others fail now and then") {
  Traffic traffic;
  traffic.with({"good", 4, 196, 50, 20}).with({"bad", 60, 0, 1, 60});
  const auto found = traffic.worst();
  REQUIRE(found);
  CHECK(found->sources == 1);
  CHECK(found->others < 0.03);
}

TEST_CASE("clients that fail by chance are not left out, however few there are") {
  // Every answer fails with the same probability; the worst of few clients look like sources.
  int left_out = 0, runs = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    for (const double rate : {0.2, 0.4, 0.7}) {
      for (const std::uint64_t clients : {5, 10, 20, 40}) {
        SourceCounts counts;
        SourceWindow window(1);
        const SourceCounts* const shards[] = {&counts};
        window.close_slice(shards);
        for (std::uint64_t i = 0; i < 100; ++i) {
          AnswerSource source;
          source[SourceKind::client] = {Random(i % clients + 1000 * seed).next(), "client"};
          source[SourceKind::path] = {Random(i * 31 % (clients + 3)).next(), "/path"};
          counts.record(source, random.uniform() < rate);
        }
        window.close_slice(shards);
        ++runs;
        left_out += window.worst(10, shards) ? 1 : 0;
      }
    }
  }
  CHECK(left_out <= runs / 100);
}

TEST_CASE(
    "as many sources are left as are left out, at least: with most routes the upstream fails") {
  const auto routes = [](std::size_t failing, std::size_t well) {
    Traffic traffic;
    const char* const names[] = {"a", "b", "c", "d", "e", "f"};
    for (std::size_t n = 0; n < failing; ++n) traffic.with({names[n], 40, 0, 40, 40});
    for (std::size_t n = 0; n < well; ++n)
      traffic.with({names[failing + n], 0, static_cast<std::uint32_t>(160 / well), 40, 40});
    const auto found = traffic.worst();
    return found ? found->sources : 0;
  };
  CHECK(routes(1, 1) == 1);
  CHECK(routes(2, 2) == 2);
  CHECK(routes(3, 3) == 3);
  CHECK(routes(2, 1) == 0);
  CHECK(routes(4, 1) == 0);
}

TEST_CASE("addresses and paths that both change are one source by their route") {
  SourceCounts counts;
  SourceWindow window(1);
  const SourceCounts* const shards[] = {&counts};
  window.close_slice(shards);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const bool fails = i % 3 == 0;
    AnswerSource source;
    source[SourceKind::client] = {Random(i).next(), "client"};
    source[SourceKind::path] = {Random(~i).next(), "/path"};
    source[SourceKind::route] = {fails ? 1u : 2u, fails ? "search" : "others"};
    counts.record(source, fails);
  }
  window.close_slice(shards);
  const auto found = window.worst(10, shards);
  REQUIRE(found);
  CHECK(found->kind == SourceKind::route);
  CHECK(found->name.view() == "search");
  CHECK(found->others == 0);
}

TEST_CASE("a hundred clients on paths of their own are one source by tenant or route only") {
  // What a source-by-source view cannot tell from trouble of the upstream: no tenant, no route of
  // their own.
  Traffic traffic;
  std::uint64_t total = 0;
  SourceCounts counts;
  SourceWindow window(1);
  const SourceCounts* const shards[] = {&counts};
  window.close_slice(shards);
  for (std::uint64_t i = 0; i < 500; ++i) {
    AnswerSource source;
    source[SourceKind::client] = {Random(i).next(), "client"};
    source[SourceKind::path] = {Random(~i).next(), "/path"};
    counts.record(source, i % 4 == 0);
    total += i % 4 == 0;
  }
  window.close_slice(shards);
  const auto found = window.worst(10, shards);
  CHECK(total == 125);
  CHECK_FALSE(found);
}

TEST_CASE("errors leave the window, and a name is kept of the last failures only") {
  Traffic traffic;
  traffic.with({"good", 0, 40, 40, 40}).with({"bad", 22, 0, 1, 1});
  CHECK(traffic.named() == "client bad-client");
  traffic.with({"good", 0, 40, 40, 40}).close();
  CHECK(traffic.named() == "");  // the slice of the errors has left
}

TEST_CASE("the error rate is that of the others, and the total is told besides") {
  config::Overload settings;
  SignalWindow window(settings);
  SignalShard shard;
  const SignalShard* const shards[] = {&shard};
  window.tick({.shards = shards}, TimePoint{} + 1h);
  for (std::uint64_t i = 0; i < 100; ++i) {
    AnswerSource source;
    source[SourceKind::client] = {i < 80 ? Random(i).next() : 7, i < 80 ? "good" : "bad"};
    shard.record_result(i >= 80, source);
  }
  const OverloadSignals signals = window.tick({.shards = shards}, TimePoint{} + 1h + 100ms);
  CHECK(*signals.total_error_rate == doctest::Approx(0.2));
  CHECK(*signals.error_rate == 0);
  REQUIRE(signals.left_out);
  CHECK(signals.left_out->name.view() == "bad");
  // Without whose requests they are, all count.
  for (int i = 0; i < 100; ++i) shard.record_result(i < 50);
  CHECK(*window.tick({.shards = shards}, TimePoint{} + 1h + 200ms).total_error_rate ==
        doctest::Approx(0.35));
}

TEST_CASE("a long name is cut") {
  SourceCounts counts;
  AnswerSource source;
  const std::string path(100, 'x');
  source[SourceKind::path] = {3, path};
  counts.record(source, true);
  CHECK(counts.name_in(static_cast<std::size_t>(SourceKind::path), 3).view() == path.substr(0, 48));
  CHECK(counts.name_in(static_cast<std::size_t>(SourceKind::path), 4).view().empty());
}

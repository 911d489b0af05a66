#include "proxy/server/reloader.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>

#include "support/event.hpp"

namespace spillway::proxy {
namespace {

using support::Event;

ReadConfiguration problem(const char* text) { return {{}, {}, {{"$", text}}}; }

}  // namespace

TEST_CASE("the requester of a reload is told its result") {
  const auto reads = std::make_shared<std::atomic<int>>(0);
  Event told;
  ReloadResult result;
  Reloader reloader(
      [reads] {
        ++*reads;
        return problem("broken");
      },
      [](ReadConfiguration read) {
        return ReloadResult{7, std::move(read.problems)};
      },
      [] { return true; });
  reloader.start();
  reloader.request([&](const ReloadResult& came) {
    result = came;
    told.set();
  });
  REQUIRE(told.wait());
  CHECK(*reads == 1);
  CHECK(result.generation == 7);
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].message == "broken");
}

TEST_CASE("requests for a reload during an attempt share one more attempt") {
  const auto reads = std::make_shared<std::atomic<int>>(0);
  const auto begun = std::make_shared<Event>(), go = std::make_shared<Event>();
  Event told;
  std::atomic<int> answers{0};
  Reloader reloader(
      [=] {
        ++*reads;
        begun->set();
        go->wait();
        return problem("");
      },
      [](ReadConfiguration) { return ReloadResult{}; }, [] { return true; });
  reloader.start();
  const auto ask = [&] {
    reloader.request([&](const ReloadResult&) {
      if (++answers == 4) told.set();
    });
  };
  ask();
  REQUIRE(begun->wait());
  for (int n = 0; n < 3; ++n) ask();
  go->set();
  REQUIRE(told.wait());
  CHECK(*reads == 2);
}

TEST_CASE("what is still being read is not waited for and takes no effect") {
  const auto begun = std::make_shared<Event>(), go = std::make_shared<Event>(),
             over = std::make_shared<Event>();
  std::atomic<bool> applied{false}, answered{false};
  {
    Reloader reloader(
        [=] {
          begun->set();
          go->wait(support::Milliseconds{60'000});
          over->set();
          return problem("");
        },
        [&](ReadConfiguration) {
          applied = true;
          return ReloadResult{};
        },
        [] { return true; });
    reloader.start();
    reloader.request([&](const ReloadResult&) { answered = true; });
    REQUIRE(begun->wait());
    reloader.stop();
    CHECK(reloader.is_stopping());
    CHECK_FALSE(over->is_set());
  }
  // It ends by itself, after all that it worked for.
  go->set();
  CHECK(over->wait());
  CHECK_FALSE(applied);
  CHECK_FALSE(answered);
}

}  // namespace spillway::proxy

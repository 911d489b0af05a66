#include "proxy/admin/store_desk.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace spillway::proxy {
namespace {

namespace asio = boost::asio;
using Result = StoreDesk::Result;

// A store that answers when it is told to.
struct Store {
  std::vector<StoreCall*> calls;
  bool is_open = true;

  StoreDesk::Submit submit() {
    return [this](StoreCall& call) {
      if (is_open) calls.push_back(&call);
      return is_open;
    };
  }
  void answer() {
    std::vector<StoreCall*> taken = std::exchange(calls, {});
    std::thread([&] {
      for (StoreCall* const call : taken) call->done();
    }).join();
  }
};

std::future<StoreDesk::Answer> ask(asio::io_context& io, StoreDesk& desk,
                                   StoreDesk::Then then = {}) {
  return asio::co_spawn(io, desk.ask(store::Command(store::Totals{}), std::move(then)),
                        asio::use_future);
}

}  // namespace

TEST_CASE("a call comes back to the coroutine that awaits it") {
  Store store;
  asio::io_context io;
  StoreDesk desk(io, store.submit());
  int told = 0;
  auto answer = ask(io, desk, [&](const StoreCall&) { ++told; });
  io.poll();
  REQUIRE(store.calls.size() == 1);
  store.answer();
  CHECK(told == 1);
  io.run();
  const StoreDesk::Answer got = answer.get();
  CHECK(got.result == Result::executed);
  CHECK(got.call != nullptr);
  desk.close();
}

TEST_CASE("a call is freed once its answer was read") {
  Store store;
  asio::io_context io;
  StoreDesk desk(io, store.submit());
  const auto mark = std::make_shared<int>(0);
  auto answer = ask(io, desk, [mark](const StoreCall&) {});
  io.poll();
  CHECK(mark.use_count() > 1);
  store.answer();
  io.run();
  CHECK(answer.get().result == Result::executed);
  CHECK(mark.use_count() == 1);
  desk.close();
}

TEST_CASE("without a store, or with one that refuses or fails, nothing was changed") {
  asio::io_context io;
  StoreDesk none(io, {});
  Store closed;
  closed.is_open = false;
  StoreDesk refused(io, closed.submit());
  Store failing;
  StoreDesk failed(io, failing.submit());
  int told = 0;
  auto first = ask(io, none);
  auto second = ask(io, refused);
  auto third = ask(io, failed, [&](const StoreCall&) { ++told; });
  io.poll();
  failing.calls.at(0)->failure = store::Failure{};
  failing.answer();
  io.restart();
  io.run();
  CHECK(first.get().result == Result::unavailable);
  CHECK(second.get().result == Result::unavailable);
  CHECK(third.get().result == Result::unavailable);
  CHECK(told == 0);
}

TEST_CASE("a store that takes too long is not waited for, and what it does is told all the same") {
  Store store;
  asio::io_context io;
  StoreDesk desk(io, store.submit(), std::chrono::milliseconds(1));
  int told = 0;
  auto answer = ask(io, desk, [&](const StoreCall&) { ++told; });
  io.run();
  CHECK(answer.get().result == Result::late);
  store.answer();
  CHECK(told == 1);
  io.restart();
  io.run();  // the letter finds that it is not awaited any more
  desk.close();
}

TEST_CASE("an answer that comes when the event loop is gone is dropped") {
  Store store;
  int told = 0;
  std::optional<asio::io_context> io(std::in_place);
  auto desk = std::make_unique<StoreDesk>(*io, store.submit());
  auto answer = ask(*io, *desk, [&](const StoreCall&) { ++told; });
  io->poll();
  desk->close();
  SUBCASE("with the waiting coroutine") {
    io.reset();
    desk.reset();
  }
  SUBCASE("after which the loop is") {
    store.answer();
    io.reset();
    desk.reset();
    CHECK(told == 1);
    return;
  }
  REQUIRE(store.calls.size() == 1);
  store.answer();
  CHECK(told == 1);
}

TEST_CASE("calls that wait are bounded, and one that ends makes room") {
  Store store;
  asio::io_context io;
  StoreDesk desk(io, store.submit());
  std::vector<std::future<StoreDesk::Answer>> answers;
  for (std::size_t n = 0; n < StoreDesk::kMostCalls; ++n) answers.push_back(ask(io, desk));
  io.poll();
  auto more = ask(io, desk);
  io.poll();
  CHECK(more.get().result == Result::busy);
  store.answer();
  io.poll();
  for (auto& answer : answers) CHECK(answer.get().result == Result::executed);
  io.restart();
  auto again = ask(io, desk);
  io.poll();
  CHECK(store.calls.size() == 1);
  store.answer();
  io.poll();
  CHECK(again.get().result == Result::executed);
  desk.close();
}

}  // namespace spillway::proxy

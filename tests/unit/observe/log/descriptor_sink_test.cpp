#include "observe/log/descriptor_sink.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "observe/log/log.hpp"

namespace spillway::observe {
namespace {

using TestClock = std::chrono::steady_clock;
using std::chrono_literals::operator""s;

struct Pipe {
  Pipe() {
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    ::fcntl(ends[1], F_SETPIPE_SZ, 16'384);
  }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  std::string read(std::size_t size) {
    std::string text(size, '\0');
    text.resize(static_cast<std::size_t>(::read(ends[0], text.data(), size)));
    return text;
  }
  int ends[2];
};

}  // namespace

TEST_CASE("lines that are not read do not delay the end") {
  Pipe pipe;
  const auto sink = std::make_shared<DescriptorSink>(pipe.ends[1]);
  const auto begin = TestClock::now();
  {
    Log log({}, sink);
    for (int n = 0; n < 600; ++n) log.message(Level::warn, std::string(100, 'x'));
  }
  CHECK(TestClock::now() - begin < 5s);
  CHECK(sink->lost() > 300);
  CHECK(pipe.read(10) == R"({"time":"2)");
}

TEST_CASE("at the end all that is read is written") {
  Pipe pipe;
  const auto sink = std::make_shared<DescriptorSink>(pipe.ends[1]);
  {
    Log log({}, sink);
    for (int n = 0; n < 10; ++n) log.message(Level::warn, "last words");
  }
  CHECK(sink->lost() == 0);
  const std::string all = pipe.read(4096);
  std::size_t lines = 0;
  for (const char c : all) lines += c == '\n';
  CHECK(lines == 10);
}

TEST_CASE("lines that cannot be written are counted as dropped without other effects") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  const auto sink = std::make_shared<DescriptorSink>(full);
  {
    Log log({}, sink);
    for (int n = 0; n < 10; ++n) log.message(Level::warn, "nowhere to go");
  }
  CHECK(sink->lost() == 10);
  ::close(full);
}

TEST_CASE("a line longer than a pipe is written whole as its reader goes on") {
  Pipe pipe;
  DescriptorSink sink(pipe.ends[1]);
  sink.set_pattern("%v");
  const std::string text(20'000, 'y');
  std::thread writer([&] { sink.log({"", spdlog::level::warn, text}); });
  std::string all;
  while (all.size() < text.size() + 1) all += pipe.read(4096);
  writer.join();
  CHECK((all == text + "\n"));
  CHECK(sink.lost() == 0);
}

}  // namespace spillway::observe

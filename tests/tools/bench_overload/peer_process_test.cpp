#include "bench/overload/peer_process.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

using namespace spillway;
using namespace spillway::bench;

namespace {

std::string log_file() {
  std::string path = (std::filesystem::temp_directory_path() / "spillway-peer-XXXXXX").string();
  const int file = mkstemp(path.data());
  REQUIRE(file >= 0);
  return path;
}

}  // namespace

TEST_CASE("a process ends with the object that started it and can end its own children") {
  const std::string log = log_file();
  {
    PeerProcess process({"sh", "-c", "echo $$; trap 'kill $!' TERM; sleep 600 & wait"}, log, 0);
    while (end_of_file(log, 100).empty()) CHECK(process.running());
    CHECK(process.running());
  }
  const pid_t pid = std::stoi(end_of_file(log, 100));
  CHECK(kill(pid, 0) != 0);
  std::filesystem::remove(log);
}

TEST_CASE("waiting for the port of a process that has ended does not take long") {
  const std::string log = log_file();
  PeerProcess process({"sh", "-c", "echo sorry >&2; exit 1"}, log, 0);
  CHECK_FALSE(process.await_port(free_port(), [] { return false; }));
  CHECK_FALSE(process.running());
  CHECK(end_of_file(log, 100) == "sorry\n");
  CHECK(end_of_file(log, 3) == "ry\n");
  std::filesystem::remove(log);
}

TEST_CASE("a command that is not there ends at once and says so") {
  const std::string log = log_file();
  PeerProcess process({"/no/such/program"}, log, 0);
  CHECK_FALSE(process.await_port(free_port(), [] { return false; }));
  CHECK(end_of_file(log, 100) == "cannot run /no/such/program\n");
  std::filesystem::remove(log);
}

TEST_CASE("a peer that is told to stop does not wait for a port") {
  const std::string log = log_file();
  PeerProcess process({"sleep", "600"}, log, 0);
  const TimePoint start = Clock::now();
  CHECK_FALSE(process.await_port(free_port(), [] { return true; }));
  CHECK(Clock::now() - start < std::chrono::seconds(5));
  std::filesystem::remove(log);
}

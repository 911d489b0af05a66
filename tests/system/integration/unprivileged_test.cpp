// What the process needs of the system: no privilege, no file to write, two ports.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "support/child_process.hpp"
#include "support/counting_backend.hpp"
#include "support/places.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// By their inodes.
std::set<std::string> sockets_of(const std::string& proc) {
  std::set<std::string> sockets;
  for (const auto& entry : fs::directory_iterator(proc + "/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry, gone).string();
    if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
  }
  return sockets;
}

// The ports on which the process listens, but for those that we have handed down to it.
std::multiset<unsigned> listening_ports(pid_t process) {
  const std::string proc = "/proc/" + std::to_string(process);
  std::set<std::string> sockets = sockets_of(proc);
  for (const std::string& ours : sockets_of("/proc/self")) sockets.erase(ours);
  std::multiset<unsigned> ports;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    std::istringstream lines(text_of(proc + table));
    for (std::string line; std::getline(lines, line);) {
      unsigned port = 0, state = 0;
      char inode[32] = "";
      if (std::sscanf(line.c_str(),
                      " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*d %*d %31s", &port,
                      &state, inode) == 3 &&
          state == 0x0a && sockets.contains(inode)) {
        ports.insert(port);
      }
    }
  }
  return ports;
}

std::uint16_t logged_port(const std::string& log, const std::string& listener) {
  const std::size_t line = log.find(R"("listener":")" + listener + '"');
  REQUIRE(line != std::string::npos);
  return static_cast<std::uint16_t>(std::stoi(log.substr(log.find(R"("port":)", line) + 7)));
}

// The built binary, where a user without any privilege may run it.
struct Unprivileged {
  TemporaryDirectory directory;
  fs::path binary = directory.path() / "spillway";

  Unprivileged() {
    fs::permissions(directory.path(), fs::perms::owner_all | fs::perms::group_read |
                                          fs::perms::group_exec | fs::perms::others_read |
                                          fs::perms::others_exec);
    fs::copy_file(support::in_build("spillway"), binary);
  }

  // `variable`: "NAME=value", for the environment; may be empty.
  std::vector<std::string> command(const nlohmann::json& settings,
                                   const std::string& variable = {}) const {
    const fs::path config = directory.write("spillway.json", settings.dump());
    std::vector<std::string> words{"env", "-C", directory.path().string()};
    if (!variable.empty()) words.push_back(variable);
    if (::geteuid() == 0) {
      words.insert(words.end(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                 "--inh-caps=-all", "--no-new-privs"});
    }
    words.insert(words.end(), {binary.string(), "run", "--config", config.string()});
    return words;
  }
};

TEST_CASE("it serves as a user without any privilege and writes no file and opens two ports") {
  CountingBackend backend({});
  const Unprivileged user;
  const TemporaryDirectory& directory = user.directory;
  ChildProcess process(user.command(
      configuration({backend.address()}, {{"listen", {{"port", 0}}},
                                          {"admin", {{"port", 0}}},
                                          {"workers", 2},
                                          {"log", {{"level", "debug"}, {"access_sample", 1}}}})));
  REQUIRE(process.wait_for_output(R"("listener":"admin")"));
  REQUIRE(process.wait_for_output("\n"));
  const std::uint16_t port = logged_port(process.out() + process.err(), "proxy");
  const std::uint16_t admin_port = logged_port(process.out() + process.err(), "admin");

  RawClient client(port), admin(admin_port);
  for (int i = 0; i < 20; ++i) CHECK(client.ask(get("/")).status() == 200);
  CHECK(admin.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").status() == 200);

  const std::string proc = "/proc/" + std::to_string(process.pid());
  const std::string status = text_of(proc + "/status");
  CHECK(status.find("CapEff:\t0000000000000000") != std::string::npos);
  CHECK(status.find("Uid:\t0\t") == std::string::npos);
  std::string ports;
  for (const unsigned each : listening_ports(process.pid())) ports += std::to_string(each) + " ";
  CHECK(ports == std::to_string(std::min(port, admin_port)) + " " +
                     std::to_string(std::max(port, admin_port)) + " ");
  for (const auto& entry : fs::directory_iterator(proc + "/fd")) {
    const std::string target = fs::read_symlink(entry).string();
    std::error_code none;
    const fs::path ours = fs::read_symlink("/proc/self/fd" / entry.path().filename(), none);
    if (ours == target) continue;  // handed down
    CAPTURE(target);
    CHECK_FALSE(fs::is_regular_file(target));
  }
  process.signal(SIGTERM);
  client.close();
  CHECK(process.wait() == 0);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory.path())) {
    left.insert(entry.path().filename().string());
  }
  CHECK(left == std::set<std::string>{"spillway", "spillway.json"});
}

TEST_CASE("a store that may not be written fails the start and says what to do") {
  const Unprivileged user;
  nlohmann::json settings =
      configuration({"127.0.0.1:1"}, {{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}});
  nlohmann::json route{{"name", "shop"}, {"match", {{"path", "/**"}}}};
  std::string key = "$.routes[0].";
  std::string file = "sqlite:" + (fs::path("gone") / "jobs.db").string();
  SUBCASE("of deferred requests") {
    route["defer"] = nlohmann::json::object();
    key += "defer: ";
  }
  SUBCASE("of waiting rooms") {
    route["waiting_room"] = nlohmann::json::object();
    key += "waiting_room: ";
  }
  settings["routes"] = nlohmann::json::array({route});
  const auto fails = [&](const nlohmann::json& its, const char* why) {
    ChildProcess process(user.command(its));
    CHECK(process.wait() == 1);
    CAPTURE(process.err());
    CHECK(process.err().find("error: " + key) != std::string::npos);
    for (const char* part : {why, "store.url", "StateDirectory="})
      CHECK(process.err().find(part) != std::string::npos);
  };
  // Beside the configuration, whose directory is of another user; only root can tell.
  if (::geteuid() == 0) fails(settings, "Permission denied");
  settings["store"] = {{"url", file}};
  fails(settings, "No such file or directory");

  settings.erase("store");
  const fs::path state = user.directory.path() / "state";
  fs::create_directory(state);
  fs::permissions(state, fs::perms::all);
  ChildProcess process(user.command(settings, "STATE_DIRECTORY=" + state.string()));
  CHECK(process.wait_for_output(R"("listener":"admin")"));
  process.signal(SIGTERM);
  CHECK(process.wait() == 0);
}

}  // namespace
}  // namespace spillway::support

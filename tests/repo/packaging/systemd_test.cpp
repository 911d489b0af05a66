// The unit file for systemd.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "files.hpp"

using namespace spillway::packaging;

namespace {

const std::string kUnit = "config/systemd/spillway.service";
const std::string kBuilt = (kPrograms / "spillway").string();

// The values of a key, in order.
std::vector<std::string> values(const std::string& key) {
  return matches(read(kUnit), "(?:^|\n)" + key + "=([^\n]*)");
}

std::string value(const std::string& key) {
  const std::vector<std::string> all = values(key);
  REQUIRE_MESSAGE(all.size() == 1, key);
  return all.front();
}

// What is in force where the file says nothing.
nlohmann::json defaults() {
  const Finished checked =
      run(kBuilt + " check --config " + shell_quoted(kSource / "config/examples/minimal.json") +
          " 2> /dev/null");
  REQUIRE(checked.status == 0);
  return nlohmann::json::parse(checked.output);
}

}  // namespace

TEST_CASE("every line of the unit is a section or a setting or a remark that is no setting") {
  for (const std::string& line : lines(read(kUnit))) {
    CAPTURE(line);
    if (line.starts_with("#")) {
      CHECK(line.find('=') == std::string::npos);
    } else if (!line.empty()) {
      CHECK(!matches(line, "^(\\[[A-Z][a-z]+\\]|[A-Z][A-Za-z]+=.*)$").empty());
    }
  }
}

TEST_CASE("the command of the unit is one that the program knows") {
  const std::string command = value("ExecStart");
  const auto parts = matches(command, "[^ ]+");
  REQUIRE(parts.size() == 4);
  const Finished help = run(kBuilt + " " + parts[1] + " --help");
  CHECK(help.status == 0);
  CHECK(help.output.find(parts[2]) != std::string::npos);
  // Where the README puts the program and its configuration.
  const std::string installing = read("config/systemd/README.md");
  CHECK(installing.find("build/release/spillway " + parts[0]) != std::string::npos);
  CHECK(installing.find("config/spillway.json " + parts[3]) != std::string::npos);
  CHECK(installing.find(kUnit + " /etc/systemd/system/spillway.service") != std::string::npos);
}

TEST_CASE("a reload is SIGHUP sent by a program that exists once the file has been checked") {
  const std::vector<std::string> commands = values("ExecReload");
  REQUIRE(commands.size() == 2);
  CHECK(commands[1] == "/bin/kill -HUP $MAINPID");
  for (const char* program : {"/bin/sh", "/bin/kill"}) CHECK(access(program, X_OK) == 0);
  // The same program and file as those that serve.
  const auto parts = matches(value("ExecStart"), "[^ ]+");
  REQUIRE(parts.size() == 4);
  const std::string check = parts[0] + " check --config " + parts[3];
  CHECK(commands[0] == "/bin/sh -c 'exec " + check + " >/dev/null'");
  const auto status_for = [&](const std::string& file) {
    std::string command = commands[0];
    command.replace(command.find(parts[0]), parts[0].size(), kBuilt);
    command.replace(command.find(parts[3]), parts[3].size(), file);
    return run(command);
  };
  const std::string shipped = (kSource / "config/spillway.json").string();
  const Finished good = status_for(shipped);
  CHECK(good.status == 0);
  CHECK(good.output == shipped + ": valid\n");  // for the journal
  const Finished bad = status_for("/dev/null");
  CHECK(bad.status == 2);
  CHECK(bad.output.find("error: ") != std::string::npos);
}

TEST_CASE("the unit waits for readiness and longer than a drain takes") {
  CHECK(value("Type") == "notify");
  const auto settings = defaults();
  const auto& limits = settings.at("limits");
  CHECK(std::stoi(value("TimeoutStopSec")) * 1000 >
        limits.at("drain_delay_ms").get<int>() + limits.at("drain_timeout_ms").get<int>() + 5'000);
  CHECK(std::stoi(value("WatchdogSec")) * 1000 >=
        3 * settings.at("overload").at("tick_ms").get<int>());
  CHECK(std::stoi(value("LimitNOFILE")) > 2 * settings.at("limits").at("connections").get<int>());
}

TEST_CASE("what ends with an error is started again but not with a bad configuration") {
  CHECK(value("Restart") == "on-failure");
  const Finished bad = run(kBuilt + " run --config /dev/null");
  CHECK(std::to_string(bad.status) == value("RestartPreventExitStatus"));
}

TEST_CASE("the unit gives no privilege and takes what is not needed") {
  CHECK(value("CapabilityBoundingSet") == "");
  CHECK(values("AmbientCapabilities").empty());
  CHECK(values("User").empty());
  for (const char* key :
       {"DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome",
        "MemoryDenyWriteExecute", "RestrictNamespaces", "ProtectKernelTunables"}) {
    CAPTURE(key);
    CHECK(value(key) == "yes");
  }
  CHECK(value("ProtectSystem") == "strict");
  CHECK(value("RestrictAddressFamilies") == "AF_INET AF_INET6 AF_UNIX");
  CHECK(values("SystemCallFilter").front() == "@system-service");
}

TEST_CASE("the unit may write one directory, which is where stores go") {
  CHECK(value("StateDirectory") == "spillway");
  CHECK(value("StateDirectoryMode") == "0700");
  CHECK(values("ReadWritePaths").empty());
  CHECK(read("config/systemd/README.md").find("/var/lib/spillway") != std::string::npos);
}

// Where there is no systemd the rules above have to do.
TEST_CASE("systemd understands the unit") {
  if (run("command -v systemd-analyze").status != 0) {
    MESSAGE("no systemd-analyze here");
    return;
  }
  const std::filesystem::path unit = kPrograms / "unit-test" / "spillway.service";
  std::filesystem::create_directories(unit.parent_path());
  const auto verified = [&](const std::string& text) {
    std::ofstream(unit) << text;
    return run("systemd-analyze verify --man=no " + shell_quoted(unit));
  };
  std::string text = read(kUnit);
  const std::string installed = "/usr/local/bin/spillway";
  for (std::size_t at = 0; (at = text.find(installed, at)) != std::string::npos;
       at += kBuilt.size())
    text.replace(at, installed.size(), kBuilt);
  const Finished sound = verified(text);
  INFO(sound.output);
  CHECK(sound.status == 0);
  CHECK(sound.output == "");
  // A setting that it does not know is not passed over.
  CHECK(verified(text + "\n[Service]\nNoSuchSetting=yes\n").output.find("NoSuchSetting") !=
        std::string::npos);
}

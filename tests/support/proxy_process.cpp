#include "support/proxy_process.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "support/proxy_under_test.hpp"

namespace spillway::support {

namespace {

std::vector<std::string> command(const TemporaryDirectory& directory, nlohmann::json settings) {
  const nlohmann::json given = std::move(settings);
  settings = {{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}, {"workers", 2}};
  settings.merge_patch(given);
  return {SPILLWAY_BINARY_DIR "/spillway", "run", "--config",
          directory.write("spillway.json", settings.dump())};
}

// The port in the log's line about this listener.
std::uint16_t logged_port(const std::string& log, const std::string& listener) {
  const std::size_t line = log.find(R"("listener":")" + listener + '"');
  const std::string_view key = R"("port":)";
  const std::size_t found = line == std::string::npos ? line : log.find(key, line);
  if (found == std::string::npos) throw std::runtime_error("no " + listener + " port in " + log);
  return static_cast<std::uint16_t>(std::atoi(log.c_str() + found + key.size()));
}

}  // namespace

ProxyProcess::ProxyProcess(nlohmann::json settings)
    : process_(command(directory_, std::move(settings))) {
  const bool listens =
      process_.wait_for_output(R"("listener":"admin")") && process_.wait_for_output("\n");
  const std::string log = process_.out() + process_.err();
  if (!listens) throw std::runtime_error("the proxy does not start: " + log);
  port_ = logged_port(log, "proxy");
  admin_port_ = logged_port(log, "admin");
}

std::size_t ProxyProcess::peak_memory() const {
  std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  throw std::runtime_error("no VmHWM: the proxy has ended");
}

}  // namespace spillway::support

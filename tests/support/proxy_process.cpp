#include "support/proxy_process.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/places.hpp"
#include "support/proxy_under_test.hpp"

namespace spillway::support {

namespace {

std::string completed(const nlohmann::json& given) {
  nlohmann::json settings = {{"listen", {{"port", 0}}}, {"admin", {{"port", 0}}}, {"workers", 2}};
  settings.merge_patch(given);
  return settings.dump();
}

std::vector<std::string> command(const TemporaryDirectory& directory, const NotifySocket& notify,
                                 const nlohmann::json& settings, std::vector<std::string> under) {
  std::vector<std::string> all{"env", "NOTIFY_SOCKET=" + notify.name()};
  all.insert(all.end(), under.begin(), under.end());
  all.insert(all.end(), {in_build("spillway"), "run", "--config",
                         directory.write("spillway.json", completed(settings))});
  return all;
}

// The port that its status names behind these words.
std::uint16_t port_after(const std::string& status, const std::string& words) {
  const std::size_t found = status.find(words);
  const std::string_view key = " port ";
  const std::size_t port = found == std::string::npos ? found : status.find(key, found);
  if (port == std::string::npos) throw std::runtime_error("no port in " + status);
  return static_cast<std::uint16_t>(std::atoi(status.c_str() + port + key.size()));
}

}  // namespace

ProxyProcess::ProxyProcess(nlohmann::json settings, std::vector<std::string> under)
    : process_(command(directory_, notify_, std::move(settings), std::move(under))) {
  // It tells the service manager, so that its log may go anywhere.
  std::optional<std::string> told;
  for (const Deadline deadline; !told && !deadline.passed();) {
    told = notify_.next_with("READY=1", Milliseconds{50});
    if (!told && process_.wait(Milliseconds{0})) break;
  }
  if (!told) {
    throw std::runtime_error("the proxy does not start: " + process_.out() + process_.err());
  }
  port_ = port_after(*told, "serving on");
  admin_port_ = port_after(*told, "admin on");
}

void ProxyProcess::reconfigure(const nlohmann::json& settings) { rewrite(completed(settings)); }

void ProxyProcess::rewrite_as_pipe() {
  const std::filesystem::path file = directory_.path() / "spillway.json";
  std::filesystem::remove(file);
  if (::mkfifo(file.c_str(), 0600) != 0)
    throw std::system_error(errno, std::generic_category(), "mkfifo");
}

std::size_t ProxyProcess::memory() const { return status_bytes("VmRSS:"); }

std::size_t ProxyProcess::open_files() const {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(process_.pid()) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t ProxyProcess::peak_memory() const { return status_bytes("VmHWM:"); }

std::size_t ProxyProcess::status_bytes(std::string_view key) const {
  std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
  }
  throw std::runtime_error("the proxy has ended");
}

}  // namespace spillway::support

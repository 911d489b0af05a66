#include "system/soak/proxy_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace spillway::soak {

namespace {

constexpr Milliseconds kPatience{20'000};

// The port in the log's line about this listener; 0 if there is none.
std::uint16_t logged_port(const std::string& log, const std::string& listener) {
  constexpr std::string_view kKey = R"("port":)";
  const std::size_t line = log.find(R"("listener":")" + listener + '"');
  const std::size_t key = line == std::string::npos ? line : log.find(kKey, line);
  if (key == std::string::npos || log.find('\n', key) == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::atoi(log.c_str() + key + kKey.size()));
}

// Options of the sanitizers that bound what they keep themselves, besides those of the caller: it
// has to be full by the time the first half ends.
std::vector<std::string> environment() {
  std::vector<std::string> result;
  std::string options =
      "quarantine_size_mb=4:thread_local_quarantine_size_kb=64:"
      "malloc_context_size=6:allocator_release_to_os_interval_ms=500";
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    if (variable.starts_with("ASAN_OPTIONS=")) {
      options.append(":").append(variable.substr(13));
    } else {
      result.emplace_back(variable);
    }
  }
  result.push_back("ASAN_OPTIONS=" + options);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

ProxyChild::ProxyChild(const std::string& binary, const std::string& settings, std::string log)
    : log_(std::move(log)) {
  std::vector<std::string> arguments{binary, "run", "--config", settings};
  std::vector<std::string> variables = environment();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, log_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int error = ::posix_spawn(&pid_, binary.c_str(), &actions, nullptr,
                                  pointers(arguments).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), binary);
  const Deadline deadline(kPatience);
  while (port_ == 0 || admin_port_ == 0) {
    if (deadline.passed() || wait(Milliseconds{10}))
      throw std::runtime_error("the proxy does not start: " + this->log());
    const std::string text = this->log();
    port_ = logged_port(text, "proxy");
    admin_port_ = logged_port(text, "admin");
  }
}

ProxyChild::~ProxyChild() {
  if (!runs()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ProxyChild::signal(int number) {
  if (runs()) ::kill(pid_, number);
}

std::optional<int> ProxyChild::wait(Milliseconds within) {
  {
    const std::lock_guard lock(reaping_);
    if (exit_code_) return exit_code_;
  }
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  const bool ended = process >= 0 && support::wait_ready(process, POLLIN, Deadline(within));
  if (process >= 0) ::close(process);
  const std::lock_guard lock(reaping_);
  if (exit_code_) return exit_code_;
  int status = 0;
  if (!ended || ::waitpid(pid_, &status, 0) != pid_) return std::nullopt;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

std::size_t ProxyChild::resident_bytes() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

std::size_t ProxyChild::descriptors() const {
  std::error_code ignored;
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid_) + "/fd", ignored);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::string ProxyChild::page(std::string_view path) const {
  try {
    Wire wire(admin_port_, 5);
    wire.send(
        "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        kPatience);
    support::Message answer;
    if (wire.read(answer, support::Expected::response, kPatience) != Wire::Read::done) return {};
    return answer.status() == 200 ? answer.body : std::string{};
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::string ProxyChild::log() const {
  std::ostringstream text;
  text << std::ifstream(log_).rdbuf();
  return text.str();
}

std::string ProxyChild::complaint() const {
  std::ifstream lines(log_);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string_view sign :
         {"Sanitizer", "runtime error", "Assertion", "terminate called"}) {
      if (line.find(sign) != std::string::npos) return line;
    }
  }
  return {};
}

}  // namespace spillway::soak

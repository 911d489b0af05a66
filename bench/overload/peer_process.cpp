#include "bench/overload/peer_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "bench/overload/pinning.hpp"

namespace spillway::bench {
namespace {

constexpr std::chrono::seconds kStartPatience{10};
constexpr std::chrono::seconds kEndPatience{3};
constexpr Milliseconds kLook{10};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Signals wait until the child has none of our handlers any more.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { release(); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  void release() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// What a freshly forked child may call is little: no allocation, no exception.
[[noreturn]] void become(char* const* arguments, const char* log, int core,
                         const SignalsHeld& held) {
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGABRT}) signal(one, SIG_DFL);
  held.release();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  pin_to(core);
  const int said = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(said, STDOUT_FILENO);
  dup2(said, STDERR_FILENO);
  close_range(3, ~0U, 0);
  execvp(arguments[0], arguments);
  dprintf(STDERR_FILENO, "cannot run %s\n", arguments[0]);
  _exit(127);
}

class Descriptor {
 public:
  Descriptor() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) fail("socket");
  }
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return fd_; }

 private:
  int fd_;
};

bool accepts(std::uint16_t port) {
  const Descriptor descriptor;
  const auto address = loopback(port);
  return connect(descriptor.number(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof address) == 0;
}

}  // namespace

PeerProcess::PeerProcess(const std::vector<std::string>& command, const std::string& log,
                         int core) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const SignalsHeld held;
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) become(arguments.data(), log.c_str(), core, held);
}

PeerProcess::~PeerProcess() {
  if (!running()) return;
  kill(pid_, SIGTERM);
  if (ended_within(kEndPatience)) return;
  kill(pid_, SIGKILL);
  ended_within(kEndPatience);
}

bool PeerProcess::running() {
  if (!ended_ && waitpid(pid_, nullptr, WNOHANG) != 0) ended_ = true;
  return !ended_;
}

bool PeerProcess::ended_within(Duration patience) {
  for (const TimePoint until = Clock::now() + patience; Clock::now() < until;) {
    if (!running()) return true;
    std::this_thread::sleep_for(kLook);
  }
  return !running();
}

bool PeerProcess::await_port(std::uint16_t port, bool (*stopped)()) {
  for (const TimePoint until = Clock::now() + kStartPatience; Clock::now() < until;) {
    if (accepts(port)) return true;
    if (!running() || stopped()) return false;
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

std::uint16_t free_port() {
  const Descriptor descriptor;
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(descriptor.number(), generic, size) != 0) fail("bind");
  if (getsockname(descriptor.number(), generic, &size) != 0) fail("getsockname");
  return ntohs(address.sin_port);
}

std::string end_of_file(const std::string& path, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.size() <= bytes ? text : text.substr(text.size() - bytes);
}

}  // namespace spillway::bench

#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace spillway::support {

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  int ends[2][2];
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 2; ++i) {
    if (::pipe2(ends[i], O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    ::posix_spawn_file_actions_adddup2(&actions, ends[i][1], i + 1);
    pipes_[i] = ends[i][0];
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int error = ::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  for (const auto& end : ends) ::close(end[1]);
  if (error != 0) {
    for (const int pipe : pipes_) ::close(pipe);
    throw std::system_error(error, std::generic_category(), arguments.front());
  }
}

ChildProcess::~ChildProcess() {
  if (!exit_code_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int pipe : pipes_) {
    if (pipe >= 0) ::close(pipe);
  }
}

void ChildProcess::signal(int number) {
  if (!exit_code_) ::kill(pid_, number);
}

// False when both outputs have ended or the deadline has passed.
bool ChildProcess::read_some(const Deadline& deadline) {
  for (;;) {
    std::array<pollfd, 2> ready{{{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}}};
    if (pipes_[0] < 0 && pipes_[1] < 0) return false;
    const int count = ::poll(ready.data(), ready.size(), deadline.left());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      std::array<char, 65536> block;
      const ssize_t size = ::read(pipes_[i], block.data(), block.size());
      if (size > 0) {
        texts_[i].append(block.data(), static_cast<std::size_t>(size));
      } else {
        ::close(std::exchange(pipes_[i], -1));
      }
    }
    return true;
  }
}

std::optional<int> ChildProcess::wait(Milliseconds within) {
  if (exit_code_) return exit_code_;
  const Deadline deadline(within);
  while (read_some(deadline)) {
  }
  // The child may have closed its outputs and still run, or left them to a child of its own.
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  const bool ended = process >= 0 && wait_ready(process, POLLIN, deadline);
  if (process >= 0) ::close(process);
  int status = 0;
  if (!ended || ::waitpid(pid_, &status, 0) != pid_) return std::nullopt;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

bool ChildProcess::wait_for_output(std::string_view text, Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    for (const std::string& output : texts_) {
      if (output.find(text) != std::string::npos) return true;
    }
    if (!read_some(deadline)) return false;
  }
}

void ChildProcess::close_outputs() {
  for (int& pipe : pipes_) {
    if (pipe >= 0) ::close(std::exchange(pipe, -1));
  }
}

Finished run(const std::vector<std::string>& arguments, Milliseconds within) {
  ChildProcess child(arguments);
  const auto exit_code = child.wait(within);
  if (!exit_code) throw std::runtime_error(arguments.front() + " does not end: " + child.err());
  return {*exit_code, child.out(), child.err()};
}

}  // namespace spillway::support

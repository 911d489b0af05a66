// spillway-bench-idle: opens connections one after the other, asks for / on each, takes the answer
// and keeps them open; then prints how many are still open after a second in which nothing was
// sent, and keeps them until its standard input ends.
//
//   spillway-bench-idle PORT CONNECTIONS
#include <arpa/inet.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what, std::size_t open) {
  std::fprintf(stderr, "spillway-bench-idle: after %zu connections: %s\n", open, what);
  std::exit(1);
}

int open_connection(int port, std::size_t open) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor < 0) fail("no descriptor left", open);
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    fail("not taken", open);
  }
  return descriptor;
}

// How long an answer with this head is, 0 while that is not known.
std::size_t whole_length(std::string_view answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  if (head == answer.npos) return 0;
  for (const std::string_view name : {"\r\nContent-Length: ", "\r\ncontent-length: "}) {
    const std::size_t field = answer.find(name);
    if (field < head)
      return head + 4 + std::strtoul(answer.data() + field + name.size(), nullptr, 10);
  }
  return 0;
}

void ask(int descriptor, std::size_t open) {
  constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  if (send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("not asked", open);
  std::string answer;
  std::array<char, 4096> buffer{};
  do {
    const ssize_t got = recv(descriptor, buffer.data(), buffer.size(), 0);
    if (got <= 0) fail("no whole answer", open);
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  } while (answer.size() != whole_length(answer));
  if (!answer.starts_with("HTTP/1.1 200 ")) fail("not answered 200", open);
}

}  // namespace

int main(int argc, char** argv) {
  const int port = argc == 3 ? std::atoi(argv[1]) : 0;
  const int wanted = argc == 3 ? std::atoi(argv[2]) : 0;
  if (port < 1 || port > 65535 || wanted < 1) {
    std::fprintf(stderr, "usage: %s PORT CONNECTIONS\n", argv[0]);
    return 2;
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);

  std::vector<pollfd> connections;
  while (connections.size() < static_cast<std::size_t>(wanted)) {
    const int descriptor = open_connection(port, connections.size());
    ask(descriptor, connections.size());
    connections.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));  // idle is what is measured
  if (poll(connections.data(), connections.size(), 0) != 0)
    fail("some were closed", connections.size());
  std::printf("%zu\n", connections.size());
  std::fflush(stdout);
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
}

#include "system/allocations/peers.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string_view>
#include <thread>

#include "support/counting_backend.hpp"
#include "support/raw_client.hpp"

namespace spillway::allocations {

namespace {

constexpr std::string_view kBackend = "--be-backend";
constexpr std::string_view kClients = "--be-clients";

[[noreturn]] void be_backend(support::Milliseconds service) {
  const support::CountingBackend backend({.service = service});
  std::cout << backend.port() << std::endl;
  for (;;) ::pause();
}

[[noreturn]] void be_clients(std::uint16_t port, const std::vector<std::string>& requests) {
  std::vector<std::thread> clients;
  for (const std::string& request : requests) {
    clients.emplace_back([port, &request] {
      support::RawClient client(port);
      for (;;) client.ask(request);
    });
  }
  for (std::thread& client : clients) client.join();
  std::exit(1);
}

std::vector<std::string> this_program() {
  std::string path(4096, '\0');
  path.resize(static_cast<std::size_t>(::readlink("/proc/self/exe", path.data(), path.size())));
  return {path};
}

}  // namespace

void play_peer(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2 || (arguments[0] != kBackend && arguments[0] != kClients)) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int number = std::atoi(arguments[1].c_str());
  if (arguments[0] == kBackend) be_backend(support::Milliseconds(number));
  be_clients(static_cast<std::uint16_t>(number), {arguments.begin() + 2, arguments.end()});
}

std::vector<std::string> backend_command(support::Milliseconds service) {
  auto command = this_program();
  command.insert(command.end(), {std::string(kBackend), std::to_string(service.count())});
  return command;
}

std::vector<std::string> clients_command(std::uint16_t port,
                                         const std::vector<std::string>& requests) {
  auto command = this_program();
  command.insert(command.end(), {std::string(kClients), std::to_string(port)});
  command.insert(command.end(), requests.begin(), requests.end());
  return command;
}

}  // namespace spillway::allocations

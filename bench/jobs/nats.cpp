// NATS by its own text protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <stdexcept>
#include <vector>

#include "bench/jobs/broker.hpp"
#include "bench/jobs/server_start.hpp"
#include "bench/overload/peer_process.hpp"
#include "bench/overload/pinning.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/sockets.hpp"
#include "tests/support/temporary_directory.hpp"

namespace spillway::job_bench {
namespace {

using Clock = std::chrono::steady_clock;

// One connection with one subscription, to what the server answers.
class Line {
 public:
  explicit Line(std::uint16_t port) : socket_(support::connect_to_loopback(port)) {
    send("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB answers 1\r\n");
  }
  ~Line() { ::close(socket_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  static std::string message(const std::string& subject, const std::string& body) {
    return "PUB " + subject + " answers " + std::to_string(body.size()) + "\r\n" + body + "\r\n";
  }

  void send(const std::string& bytes) {
    if (support::send_all(socket_, bytes, support::Deadline()) != support::Sent::all) {
      throw std::runtime_error("NATS: the connection broke");
    }
  }

  // Waits for the next message. Throws std::runtime_error if it tells an error.
  void await_answer() {
    for (;;) {
      const std::string head = line();
      if (head == "PING") send("PONG\r\n");
      if (head.starts_with("-ERR")) throw std::runtime_error("NATS: " + head);
      if (!head.starts_with("MSG ")) continue;  // INFO, PONG
      const auto size = std::stoul(head.substr(head.rfind(' ') + 1)) + 2;
      while (read_.size() - at_ < size) receive();
      const std::string_view body(read_.data() + at_, size);
      if (body.find("\"error\"") != body.npos)
        throw std::runtime_error("NATS: " + std::string(body));
      at_ += size;
      return;
    }
  }

 private:
  std::string line() {
    std::size_t end = 0;
    while ((end = read_.find("\r\n", at_)) == read_.npos) receive();
    const std::string text = read_.substr(at_, end - at_);
    at_ = end + 2;
    return text;
  }

  void receive() {
    read_.erase(0, at_);
    at_ = 0;
    char buffer[65536];
    const auto got = ::recv(socket_, buffer, sizeof buffer, 0);
    if (got <= 0) throw std::runtime_error("NATS: the connection broke");
    read_.append(buffer, static_cast<std::size_t>(got));
  }

  int socket_;
  std::string read_;
  std::size_t at_ = 0;  // what was read before it is used up
};

class NatsQueue : public Queue {
 public:
  NatsQueue()
      : port_(bench::free_port()),
        server_({"nats-server", "-a", "127.0.0.1", "-p", std::to_string(port_), "-js", "-sd",
                 directory_.path() / "data"},
                directory_.path() / "log", bench::kAnyCore) {
    await_server(server_, port_, "NATS", directory_.path() / "log");
  }

  Figures accept(std::size_t outstanding, std::chrono::milliseconds time) override {
    Line line(port_);
    const std::string name = "jobs" + std::to_string(++streams_);
    line.send(Line::message("$JS.API.STREAM.CREATE." + name,
                            "{\"name\":\"" + name + "\",\"subjects\":[\"" + name +
                                "\"],\"retention\":\"workqueue\",\"storage\":\"file\"}"));
    line.await_answer();
    const std::string message = Line::message(name, std::string(kJobBytes, 'b'));
    std::deque<Clock::time_point> sent;
    std::vector<double> times;
    std::string batch;
    const auto begin = Clock::now();
    for (;;) {
      const auto now = Clock::now();
      batch.clear();
      for (; now - begin < time && sent.size() < outstanding; sent.push_back(now)) batch += message;
      if (!batch.empty()) line.send(batch);
      if (sent.empty()) break;
      line.await_answer();  // in the order of the messages
      times.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - sent.front()).count());
      sent.pop_front();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    line.send(Line::message("$JS.API.STREAM.DELETE." + name, ""));
    line.await_answer();
    return figures_of(times, seconds, static_cast<double>(times.size()));
  }

 private:
  support::TemporaryDirectory directory_;
  std::uint16_t port_;
  bench::PeerProcess server_;
  int streams_ = 0;
};

}  // namespace

std::unique_ptr<Queue> nats() { return std::make_unique<NatsQueue>(); }

std::string without_nats() {
  const bool is_there = support::run({"sh", "-c", "command -v nats-server"}).exit_code == 0;
  return is_there ? "" : "nats-server is not installed";
}

}  // namespace spillway::job_bench

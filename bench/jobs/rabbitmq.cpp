// RabbitMQ by librabbitmq, its C client.
#include <amqp.h>
#include <amqp_tcp_socket.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <vector>

#include "bench/jobs/broker.hpp"
#include "bench/jobs/server_start.hpp"
#include "bench/overload/peer_process.hpp"
#include "bench/overload/pinning.hpp"
#include "tests/support/temporary_directory.hpp"

namespace spillway::job_bench {
namespace {

using Clock = std::chrono::steady_clock;
using support::TemporaryDirectory;

constexpr const char* kServer = "/usr/lib/rabbitmq/bin/rabbitmq-server";
constexpr amqp_channel_t kChannel = 1;

// A node of its own: its own cookie and port mapper, which it would otherwise leave behind.
class Node {
 public:
  Node()
      : epmd_port_(bench::free_port()),
        port_(bench::free_port()),
        epmd_({"epmd", "-port", std::to_string(epmd_port_), "-address", "127.0.0.1"},
              directory_.path() / "epmd.log", bench::kAnyCore) {
    await_server(epmd_, epmd_port_, "epmd", directory_.path() / "epmd.log");
    server_.emplace(command(), directory_.path() / "server.log", bench::kAnyCore);
    await_server(*server_, port_, "RabbitMQ", directory_.path() / "server.log");
  }

  std::uint16_t port() const { return port_; }

 private:
  std::vector<std::string> command() const {
    const std::string here = directory_.path();
    directory_.write("plugins", "");
    directory_.write("environment", "");
    directory_.write("settings.conf",
                     "listeners.tcp.1 = 127.0.0.1:" + std::to_string(port_) + "\n");
    return {"env",
            "HOME=" + here,
            "ERL_EPMD_ADDRESS=127.0.0.1",
            "ERL_EPMD_PORT=" + std::to_string(epmd_port_),
            "RABBITMQ_DIST_PORT=" + std::to_string(bench::free_port()),
            "RABBITMQ_NODENAME=bench@localhost",
            "RABBITMQ_CONF_ENV_FILE=" + here + "/environment",
            "RABBITMQ_CONFIG_FILE=" + here + "/settings.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE=" + here + "/plugins",
            "RABBITMQ_MNESIA_BASE=" + here + "/data",
            "RABBITMQ_LOG_BASE=" + here,
            "RABBITMQ_PID_FILE=" + here + "/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
            "RUNNING_UNDER_SYSTEMD=true",  // the server itself, not a script that waits for it
            kServer};
  }

  TemporaryDirectory directory_;
  std::uint16_t epmd_port_, port_;
  bench::PeerProcess epmd_;
  std::optional<bench::PeerProcess> server_;
};

class Channel {
 public:
  explicit Channel(std::uint16_t port) : connection_(amqp_new_connection()) {
    amqp_socket_t* const socket = amqp_tcp_socket_new(connection_);
    if (socket == nullptr || amqp_socket_open(socket, "127.0.0.1", port) != AMQP_STATUS_OK) {
      fail("no connection");
    }
    const auto reply =
        amqp_login(connection_, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail("login");
    amqp_channel_open(connection_, kChannel);
    check("a channel");
    amqp_confirm_select(connection_, kChannel);
    check("publisher confirms");
  }
  ~Channel() { amqp_destroy_connection(connection_); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void declare(const std::string& queue, const std::string& type) {
    amqp_table_entry_t entry{};
    entry.key = amqp_cstring_bytes("x-queue-type");
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = amqp_cstring_bytes(type.c_str());
    amqp_queue_declare(connection_, kChannel, amqp_cstring_bytes(queue.c_str()), 0, 1, 0, 0,
                       {1, &entry});
    check("a queue");
  }

  void remove(const std::string& queue) {
    amqp_queue_delete(connection_, kChannel, amqp_cstring_bytes(queue.c_str()), 0, 0);
    check("deletion of a queue");
  }

  void publish(const std::string& queue, const std::string& body) {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.delivery_mode = 2;  // persistent
    if (amqp_basic_publish(connection_, kChannel, amqp_empty_bytes,
                           amqp_cstring_bytes(queue.c_str()), 0, 0, &properties,
                           {body.size(), const_cast<char*>(body.data())}) != AMQP_STATUS_OK) {
      fail("publish");
    }
  }

  // Waits for the next confirmation: of this message, or of all up to it.
  amqp_basic_ack_t confirmation() {
    amqp_maybe_release_buffers(connection_);
    amqp_frame_t frame;
    if (amqp_simple_wait_frame(connection_, &frame) != AMQP_STATUS_OK) fail("no confirmation");
    if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
      fail("a message was not confirmed");
    }
    return *static_cast<amqp_basic_ack_t*>(frame.payload.method.decoded);
  }

 private:
  void check(const char* what) {
    if (amqp_get_rpc_reply(connection_).reply_type != AMQP_RESPONSE_NORMAL) fail(what);
  }
  [[noreturn]] void fail(const char* what) {
    throw std::runtime_error(std::string("RabbitMQ: ") + what);
  }

  amqp_connection_state_t connection_;
};

class RabbitQueue : public Queue {
 public:
  explicit RabbitQueue(std::string type) : type_(std::move(type)) {}

  Figures accept(std::size_t outstanding, std::chrono::milliseconds time) override {
    const std::string name = "jobs-" + std::to_string(++queues_), body(kJobBytes, 'b');
    Channel channel(node_.port());
    channel.declare(name, type_);
    std::map<std::uint64_t, Clock::time_point> sent;
    std::vector<double> times;
    std::uint64_t last = 0;
    const auto begin = Clock::now();
    for (;;) {
      const bool is_over = Clock::now() - begin >= time;
      while (!is_over && sent.size() < outstanding) {
        sent.emplace(++last, Clock::now());
        channel.publish(name, body);
      }
      if (sent.empty()) break;
      const amqp_basic_ack_t ack = channel.confirmation();
      const auto one = sent.find(ack.delivery_tag);
      if (one == sent.end()) throw std::runtime_error("RabbitMQ: an unknown confirmation");
      const auto until = std::next(one), from = ack.multiple ? sent.begin() : one;
      for (auto each = from; each != until; ++each) {
        times.push_back(
            std::chrono::duration<double, std::milli>(Clock::now() - each->second).count());
      }
      sent.erase(from, until);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    channel.remove(name);
    return figures_of(times, seconds, static_cast<double>(times.size()));
  }

 private:
  std::string type_;
  int queues_ = 0;
  Node node_;
};

}  // namespace

std::unique_ptr<Queue> rabbitmq(const std::string& type) {
  return std::make_unique<RabbitQueue>(type);
}

std::string without_rabbitmq() {
  return std::filesystem::exists(kServer) ? "" : "rabbitmq-server is not installed";
}

}  // namespace spillway::job_bench

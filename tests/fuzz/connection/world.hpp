// One worker of the proxy between scripted clients and a scripted server, on one thread, on
// simulated time: the same script gives the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/connection/messages.hpp"
#include "fuzz/connection/script.hpp"
#include "http/message/head.hpp"
#include "proxy/net/temp_file.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::fuzz {

struct Client {
  int descriptor = -1;  // -1: not connected yet, or closed
  int proxys = -1;      // the proxy's end
  std::string written;  // down, to be sent
  std::size_t allowed = 0;
  std::size_t sent = 0;  // of it
  std::string received;
  bool reads = true;
  bool half_closes = false;
  bool has_half_closed = false;
  bool has_left = false;   // by itself
  bool has_ended = false;  // the proxy closed
  bool was_reset = false;
};

// A request as the server read it.
struct Arrival {
  std::size_t connection = 0;
  std::string head;
  http::Framing framing;
  std::string content;
  bool is_complete = false;
  std::string answer;              // as planned
  std::size_t answer_sent = 0;     // bytes of it
  bool has_server_closed = false;  // the server sends no more
  bool is_tunnel = false;          // if the proxy takes the 101 for one
  std::string tunnelled;           // what came behind the request then
};

struct Connection {
  int descriptor = -1;
  std::string received;
  std::size_t read = 0;  // of it
  bool proxy_ended = false;
  bool has_half_closed = false;
  std::deque<Arrival*> unanswered;  // the front one is being answered
  std::deque<AnswerPlan> plans;     // of these
  std::deque<TimePoint> due;        // kNever: once it is complete
  Arrival* reading = nullptr;
  Arrival* answered = nullptr;  // the last one
  Arrival* tunnel = nullptr;    // the last one of all
};

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void play(const Script& script);
  // Lets all timeouts pass; then everything is closed, and nothing is left. broken() otherwise.
  void end();

  const std::array<Client, kClients>& clients() const { return clients_; }
  // In the order they came.
  const std::list<Arrival>& arrivals() const { return arrivals_; }
  bool is_draining() const { return is_draining_; }

 private:
  void step(const Step& step);
  void settle();
  void pass(Duration time);
  void write_request(const Step& step);
  void send_stray(Connection& connection, const std::string& text);
  Client& connected(std::size_t number);
  bool move_client(Client& client);
  void leave(Client& client);
  bool move_server(Connection& connection);
  void read_requests(Connection& connection);
  bool begin_arrival(Connection& connection);
  void cut_short(Connection& connection);
  bool go_on_reading(Connection& connection);
  bool answer(Connection& connection);
  void end_answer(Connection& connection);
  void close(Connection& connection);
  Connection* chosen(unsigned number);
  bool is_over() const;
  void check_nothing_left();

  std::vector<std::unique_ptr<proxy::Worker>> workers_;
  proxy::TunnelPermits tunnel_permits_;
  proxy::TempSpace temp_space_;
  proxy::AcceptResume accept_resume_;
  proxy::ProcessContext process_;
  std::shared_ptr<proxy::Generation> generation_;
  std::array<Client, kClients> clients_;
  std::list<Connection> connections_;
  std::list<Arrival> arrivals_;
  std::deque<AnswerPlan> plans_;
  unsigned next_id_ = 1;
  unsigned refusals_ = 0;
  bool is_draining_ = false;
};

}  // namespace spillway::fuzz

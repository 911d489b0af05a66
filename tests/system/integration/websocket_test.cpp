// A real WebSocket implementation at either end: what they say to each other through the proxy,
// from handshake to close, is theirs and arrives as it was said.
#include <doctest/doctest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <string>
#include <thread>

#include "support/proxy_under_test.hpp"
#include "system/integration/upgrade.hpp"

namespace spillway::support {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Socket = websocket::stream<tcp::socket>;

// Serves one connection: says every message back, until the other side closes.
class EchoServer {
 public:
  explicit EchoServer(std::string subprotocol) : subprotocol_(std::move(subprotocol)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~EchoServer() {
    asio::io_context io;
    tcp::socket nobody(io);  // in case it still waits for one to serve
    beast::error_code ignored;
    nobody.connect(acceptor_.local_endpoint(), ignored);
    nobody.close(ignored);
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  // How the other side closed; once the client has.
  websocket::close_reason closed_by() const { return closed_by_; }
  const Event& closed() const { return closed_; }

 private:
  void serve() {
    Socket socket(io_);
    acceptor_.accept(socket.next_layer());
    websocket::permessage_deflate deflate;
    deflate.server_enable = true;
    socket.set_option(deflate);
    socket.set_option(websocket::stream_base::decorator([this](websocket::response_type& answer) {
      answer.set(beast::http::field::sec_websocket_protocol, subprotocol_);
    }));
    beast::error_code ended;
    socket.accept(ended);
    beast::flat_buffer message;
    while (!ended && socket.read(message, ended) > 0) {
      socket.text(socket.got_text());
      socket.write(message.data(), ended);
      message.clear();
    }
    closed_by_ = socket.reason();
    closed_.set();
  }

  std::string subprotocol_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  websocket::close_reason closed_by_;
  Event closed_;
  std::thread thread_;
};

std::string echoed(Socket& socket, const std::string& message) {
  socket.write(asio::buffer(message));
  beast::flat_buffer answer;
  socket.read(answer);
  return beast::buffers_to_string(answer.data());
}

TEST_CASE("two WebSocket implementations understand each other through the proxy") {
  for (const bool is_compressed : {false, true}) {
    CAPTURE(is_compressed);
    EchoServer server("chat.v2");
    ProxyUnderTest proxy(server.address(), never_shed());
    asio::io_context io{1};
    Socket client(io);
    client.next_layer().connect({asio::ip::address_v4::loopback(), proxy.port()});
    websocket::permessage_deflate deflate;
    deflate.client_enable = is_compressed;
    client.set_option(deflate);
    client.set_option(websocket::stream_base::decorator([](websocket::request_type& request) {
      request.set(beast::http::field::sec_websocket_protocol, "chat.v1, chat.v2");
    }));
    websocket::response_type head;
    client.handshake(head, "shop.example", "/socket?room=1");  // throws unless Accept is right
    CHECK(head[beast::http::field::sec_websocket_protocol] == "chat.v2");
    CHECK((head.count(beast::http::field::sec_websocket_extensions) == 1) == is_compressed);

    CHECK(echoed(client, "hello") == "hello");
    client.binary(true);
    const std::string large = pattern(3'000'000);
    CHECK((echoed(client, large) == large));
    client.write_some(false, asio::buffer(std::string("in ")));
    client.write_some(false, asio::buffer(std::string("three ")));
    client.write_some(true, asio::buffer(std::string("parts")));
    beast::flat_buffer answer;
    client.read(answer);
    CHECK(beast::buffers_to_string(answer.data()) == "in three parts");

    bool is_ponged = false;
    client.control_callback([&](websocket::frame_type kind, beast::string_view payload) {
      is_ponged = is_ponged || (kind == websocket::frame_type::pong && payload == "are you there");
    });
    client.ping("are you there");
    CHECK(echoed(client, "yes") == "yes");
    CHECK(is_ponged);

    client.close({websocket::close_code::going_away, "enough"});
    CHECK(server.closed().wait());
    CHECK(server.closed_by().code == websocket::close_code::going_away);
    CHECK(server.closed_by().reason == "enough");
    CHECK(proxy.metric_becomes(kOpen, 0));
    CHECK(proxy.metric_becomes(ended("finished"), 1));
  }
}

}  // namespace
}  // namespace spillway::support

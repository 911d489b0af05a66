#include "bench/load/backend.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "bench/load/connection.hpp"
#include "bench/load/pages.hpp"

namespace spillway::load {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kLargestBody = 16 << 20;

using Request = http::request<http::string_body>;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool reads_page(const Request& request) {
  const bool read = request.method() == http::verb::get || request.method() == http::verb::head;
  return read && is_page(view(request.target()));
}

Response answer(const Request& request, std::string_view page_caching, Duration took) {
  Response response(http::status::ok, request.version());
  if (reads_page(request)) {
    const std::string tag = entity_tag(view(request.target()));
    response.set(http::field::etag, tag);
    response.set(http::field::cache_control, page_caching);
    if (none_match_names(view(request[http::field::if_none_match]), tag)) {
      response.result(http::status::not_modified);
      return response;
    }
    response.body() = "{\"page\":\"" + tag.substr(1, tag.size() - 2) +
                      "\",\"served_by\":\"spillway-demo-backend\"}\n";
  } else {
    response.set(http::field::cache_control, "no-store");
    response.body() = "{\"took_ms\":" + std::to_string(to_milliseconds(took)) +
                      ",\"served_by\":\"spillway-demo-backend\"}\n";
  }
  response.set(http::field::content_type, "application/json");
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

Response answer_of_site(const Request& request, const Site& site) {
  SiteResponse made = site({.method = view(request.method_string()),
                            .target = view(request.target()),
                            .pass = view(request["Spillway-Pass"])});
  Response response(http::int_to_status(made.status), request.version());
  response.set(http::field::cache_control, "no-store");
  response.set(http::field::content_type, made.content_type);
  response.body() = std::move(made.body);
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

}  // namespace

// Shared with the pending watch on the socket, which may complete after the session ended.
struct Backend::Session : std::enable_shared_from_this<Session> {
  explicit Session(Socket s) : socket(std::move(s)), turn(socket.get_executor()) {}

  // Notices a client that leaves while its request waits. The descriptor is closed at once,
  // so that an unbounded line does not need unbounded descriptors.
  void watch() {
    watching = true;
    socket.async_wait(Socket::wait_read, [self = shared_from_this()](auto error) {
      self->watching = false;
      char byte = 0;
      if (error || self->answering) return;
      const auto peeked = ::recv(self->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (peeked > 0 || (peeked < 0 && errno == EAGAIN)) return;
      self->gone = true;
      self->socket.close(error);
    });
  }

  Socket socket;
  asio::steady_timer turn;  // expires when the session gets a slot, then when its work is done
  bool watching = false;
  bool answering = false;
  bool gone = false;
};

Backend::Backend(asio::io_context& io, const tcp::endpoint& listen, const BackendOptions& options)
    : io_(io),
      acceptor_(io.get_executor(), listen),
      thrash_(options.thrash),
      expensive_(options.expensive),
      page_caching_("max-age=" + std::to_string(options.max_age.count())),
      service_(options.service, options.sigma, options.seed, options.tail),
      slots_(options.slots) {}

void Backend::start() { asio::co_spawn(io_, accept_all(*this), asio::detached); }

asio::awaitable<void> Backend::accept_all(Backend& backend) {
  for (;;) {
    auto [error, socket] = co_await backend.acceptor_.async_accept(kNoThrow);
    if (error) {
      // Out of descriptors: the kernel keeps the callers in its backlog meanwhile.
      asio::steady_timer pause(backend.io_, std::chrono::milliseconds(10));
      co_await pause.async_wait(kNoThrow);
      continue;
    }
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(backend.io_, serve(backend, std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> Backend::hold_slot(Backend& backend, Session& session, double share,
                                         Work& work) {
  session.turn.expires_at(kNever);
  session.watch();
  if (!backend.slots_.take(&session.turn)) co_await session.turn.async_wait(kNoThrow);
  const TimePoint begun = Clock::now();
  const Duration full =
      work.number ? backend.service_.of(work.number->arrival) : backend.service_.draw();
  const double slower = slowdown(backend.slots_.inside(), backend.thrash_) / backend.speed_;
  work.service = from_seconds(to_seconds(full) * share * slower);
  session.turn.expires_at(begun + work.service);
  co_await session.turn.async_wait(kNoThrow);
  work.held = Clock::now() - begun;
  backend.slots_.give_back();
  backend.wake_next();
}

void Backend::wake_next() {
  while (auto next = slots_.next()) (*next)->cancel();
}

void Backend::set_slots(std::size_t slots) {
  slots_.resize(slots);
  wake_next();
}

asio::awaitable<void> Backend::serve(Backend& backend, Socket accepted) {
  const auto session = std::make_shared<Session>(std::move(accepted));
  boost::beast::flat_buffer input;
  for (bool keep_alive = true; keep_alive;) {
    http::request_parser<http::string_body> request;
    request.body_limit(kLargestBody);
    const auto [read_error, bytes_read] =
        co_await http::async_read(session->socket, input, request, kNoThrow);
    if (read_error) co_return;

    const TimePoint arrived = Clock::now();
    session->answering = false;
    const bool cheap = request.get()["Spillway-Degrade"] == "skip-downstream";
    Work work{.number = parse_number(view(request.get()[std::string(kNumberField)]))};
    co_await hold_slot(backend, *session, cheap ? 1 - backend.expensive_ : 1, work);
    session->answering = true;
    work.gone = session->gone;
    backend.told_(work);
    ++backend.counters_.finished;
    if (reads_page(request.get())) ++backend.counters_.pages;
    if (session->gone) {
      ++backend.counters_.wasted;
      co_return;
    }
    if (session->watching) session->socket.cancel();

    keep_alive = request.get().keep_alive();
    auto response = backend.site_
                        ? answer_of_site(request.get(), backend.site_)
                        : answer(request.get(), backend.page_caching_, Clock::now() - arrived);
    response.keep_alive(keep_alive);
    const auto [write_error, bytes_written] =
        co_await http::async_write(session->socket, response, kNoThrow);
    if (write_error) co_return;
  }
  boost::system::error_code ignored;
  session->socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace spillway::load

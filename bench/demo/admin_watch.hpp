// Asks the proxy's admin listener now and then how it is.
#pragma once

#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "proxy_view.hpp"

namespace spillway::demo {

class AdminWatch {
 public:
  AdminWatch(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& admin)
      : io_(io), admin_(admin) {}

  // Keeps latest() about a quarter of a second old until the io_context stops.
  static boost::asio::awaitable<void> follow(AdminWatch& watch);

  // nullopt while the proxy has not answered, or answered something unknown.
  const std::optional<ProxyView>& latest() const { return latest_; }

 private:
  static boost::asio::awaitable<std::optional<ProxyView>> ask_once(AdminWatch& watch);

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::endpoint admin_;
  std::optional<ProxyView> latest_;
};

}  // namespace spillway::demo

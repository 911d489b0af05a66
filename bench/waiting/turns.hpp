// A full waiting room in which sessions end one after the other: how soon the next visitor is
// called, and how soon its browser is at the site.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/time.hpp"
#include "bench/waiting/site.hpp"

namespace spillway::waiting_bench {

struct Turns {
  // From the end of the n-th session to the n-th call; 0: the call was there before. Calls are
  // known to as much as it takes to tell them.
  std::vector<Duration> to_call;
  // From a call to the site's response to a page that follows its place by events.
  std::vector<Duration> to_site;
};

// A room that is full; `turns` of its sessions leave, `per_second` of them at random times. Throws
// std::runtime_error if something was not answered as it should be.
Turns take_turns(boost::asio::io_context& io, const std::string& spillway, std::size_t sessions,
                 std::size_t turns, double per_second);

}  // namespace spillway::waiting_bench

// A made-up web site of any number of routes, and requests to it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"

namespace spillway::micro {

// Default classes and rules, one upstream, 1000 API keys, 192.0.2.0/24 trusted, and `routes` routes
// before the default one: two fifths end in /**, two fifths have a * within and one fifth is
// literal. Half of them bring a rule of their own.
config::Config site(std::size_t routes);

// A parsed request with nine fields to one of the site's routes.
struct Request {
  std::string text;
  http::RequestHead head;  // views of text
};

// How a client identifies itself: not at all, by one of the site's API keys, or by the word of the
// trusted proxy before it.
enum class Caller { unnamed, with_api_key, behind_proxy };

// Requests to routes drawn at random. There are 1024 (a power of two), so that neither the
// caches nor the branch predictor know what comes next.
std::vector<std::unique_ptr<Request>> requests(std::size_t routes, Caller caller, Random& random);

}  // namespace spillway::micro

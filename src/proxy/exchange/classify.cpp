// Classifies a request: its framing, route, traffic class, tenant and deadline.
#include <chrono>

#include "http/message/framing.hpp"
#include "http/message/upgrade.hpp"
#include "proxy/exchange/exchange.hpp"

namespace spillway::proxy {

std::optional<Fault> Exchange::check_framing() {
  http::RequestHead& head = session_.request();
  http::Error error = http::request_framing(head);
  if (error == http::Error::none && head.framing.kind == http::Framing::Kind::length &&
      head.framing.length > request_.limits().body_bytes) {
    error = http::Error::body_too_large;
  }
  if (error != http::Error::none) return bad_request(error);
  return head.is_final_recipient ? std::optional(options_answered()) : std::nullopt;
}

// A fault if the routes or the servers could mistake the request for another one.
std::optional<Fault> Exchange::classify() {
  const http::RequestHead& head = request_.head;
  request_.is_classified = true;
  request_.classification = request_.generation->generation().classifier.classify(
      head, request_.client.peer, request_.arrived);
  if (!request_.client.trusted() && services_.log.tells_untrusted_forwarding() &&
      head.fields.find("X-Forwarded-For") != nullptr) {
    services_.log.untrusted_forwarding(request_.client.address());
  }
  if (const auto& classifier = request_.generation->generation().classifier;
      classifier.goes_by_cost(request_.classification)) {
    const auto cost = request_.generation->class_cost.of(request_.classification.route);
    if (cost) classifier.classify_by_cost(request_.classification, *cost, request_.arrived);
  }
  const traffic::DeadlineFields deadline = traffic::deadline_fields(head.fields);
  if (deadline.any()) {
    const traffic::WallTime wall =
        deadline.is_unix_time() ? std::chrono::system_clock::now() : traffic::WallTime{};
    request_.classification.client = traffic::client_deadline(deadline, request_.arrived, wall);
  }
  if (head.upgrade) {
    const config::Route& route = request_.config().routes[index(request_.classification.route)];
    request_.upgrade = http::offered_upgrade(head, route.upgrades);
  }
  const traffic::Classification& classification = request_.classification;
  const bool rejects = request_.config().ambiguous_paths == config::AmbiguousPaths::reject;
  if (classification.may_pass_by_waiting_room || (classification.has_conflicting_path && rejects))
    return bad_request(http::Error::ambiguous_path);
  if (classification.has_unclear_sender) return bad_request(http::Error::repeated_field);
  return std::nullopt;
}

}  // namespace spillway::proxy

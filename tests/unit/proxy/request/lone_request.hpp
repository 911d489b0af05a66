// A request that parts of an exchange are asked about: its head, classified, of an unknown client.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

#include "http/message/framing.hpp"
#include "proxy/request/context/request_context.hpp"
#include "unit/proxy/request/lone_process.hpp"

namespace spillway::proxy {

// As an exchange classifies it, but for its cost.
inline traffic::Classification classification_of(const RequestContext& request) {
  traffic::Classification classification = request.generation->generation().classifier.classify(
      request.head, request.client.peer, request.arrived);
  classification.client =
      traffic::client_deadline(traffic::deadline_fields(request.head.fields), request.arrived,
                               std::chrono::system_clock::now());
  return classification;
}

struct LoneRequest {
  LoneRequest(Process& process, std::string its_head, bool is_trusted = false,
              RequestContext::Kind kind = RequestContext::Kind::live)
      : text(std::move(its_head)),
        client(client_of(is_trusted)),
        context(kind, *process.generation, parsed(), client, process.services.now()) {
    context.classification = classification_of(context);
    context.is_classified = true;
  }
  LoneRequest(const LoneRequest&) = delete;

  const std::string text;
  http::RequestHead head;
  const ClientInfo client;
  RequestContext context;

 private:
  static ClientInfo client_of(bool is_trusted) {
    ClientInfo client;
    client.peer.trusted = is_trusted;
    return client;
  }
  const http::RequestHead& parsed() {
    REQUIRE(http::parse_request(text, head) == http::Error::none);
    REQUIRE(http::request_framing(head) == http::Error::none);
    return head;
  }
};

}  // namespace spillway::proxy

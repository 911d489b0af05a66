// The access log line of a request.
#include <string>

#include "config/choices.hpp"
#include "http/message/target.hpp"
#include "http/outgoing/problem.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/exchange/logged_path.hpp"
#include "proxy/request/answer/limit_detail.hpp"

namespace spillway::proxy {

bool Exchange::is_logged() {
  const double sample = request_.config().log.access_sample;
  if (sample > 0 && services_.random.uniform() < sample) return true;
  return admission_.shadow_outcome() && services_.recent.may_log_shadow(services_.now());
}

void Exchange::log_access(const Answer& answer, Outcome outcome, Duration duration) {
  // Behind a trusted peer, the client is the one that the peer forwards for.
  const ClientInfo& info = request_.client;
  const bool is_classified = request_.is_classified;
  const IpAddress client = is_classified ? request_.generation->generation().classifier.client_of(
                                               request_.head, info.peer)
                                         : info.peer.address;
  const bool is_spoken_for = client != info.peer.address;
  const AddressText client_text = is_spoken_for ? AddressText(client) : AddressText();
  const Fault* const fault = fault_in(answer);
  const overload::Verdict& verdict = admission_.verdict();
  const ServerConnector& connector = call_.connector();
  const http::RequestHead& head = request_.head;
  const std::string_view target = head.path_and_query.empty() ? head.target : head.path_and_query;
  observe::AccessLine line{
      .request = {.id = request_.id(services_.random),
                  .client = is_spoken_for ? client_text.view() : info.address(),
                  .peer = is_spoken_for ? info.address() : std::string_view{},
                  .method = head.method_name,
                  .path = logged_path(http::path_of(target), request_.config().own_path),
                  .route = request_.config().routes[index(request_.classification.route)].name,
                  .traffic_class = request_.traffic_class().name,
                  .tenant = request_.classification.tenant.value()},
      .response = {.status = session_.status(), .bytes = session_.body_bytes_sent()},
      .upstream = {.attempts = connector.attempts()},
      .outcome = outcome,
      .shadow = admission_.shadow_outcome(),
      .decision = is_classified ? &admission_.complete_record() : nullptr,
      .arrived = request_.arrived,
      .wait = admission_.waited(),
      .duration = duration};
  const std::string limit =
      fault != nullptr ? limit_detail(*fault, request_.limits()) : std::string();
  if (fault != nullptr) {
    line.reason = fault->reason;
    line.response.error =
        fault->proxy_error.empty() ? http::proxy_error_of(fault->reason) : fault->proxy_error;
    line.response.detail = fault->cause.empty() ? fault->detail : fault->cause;
    if (!limit.empty()) line.response.detail = limit;
  } else if (outcome == Outcome::waiting) {
    line.reason = entrance_.reason();
  } else if (admission_.is_degraded()) {
    line.reason = verdict.reason;
  }
  if (connector.attempts() > 0)
    line.upstream.server = request_.upstream().endpoints[connector.asked_server()].name;
  if (outcome == Outcome::degraded) line.response.mode = config::name(verdict.mode);
  if (lookup_.status().has_cache) line.response.cache = observe::name(lookup_.result());
  services_.log.access(line);
}

}  // namespace spillway::proxy

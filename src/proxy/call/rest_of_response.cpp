#include "proxy/call/rest_of_response.hpp"

#include "proxy/request/admission/long_lived.hpp"

namespace spillway::proxy {

RestOfResponse::Next RestOfResponse::read(std::string_view received) {
  if (is_unknown_) return Next::unknown;
  const Next next = head_ ? read_head(received) : read_body(received);
  is_unknown_ = next == Next::unknown;
  return next;
}

RestOfResponse::Next RestOfResponse::read_body(std::string_view received) {
  while (!body_.done() && !received.empty()) {
    const http::BodyReader::Step step = body_.read(received);
    if (step.error != http::Error::none) return Next::unknown;
    received.remove_prefix(step.consumed);
  }
  return body_.done() ? Next::ended : Next::more;
}

RestOfResponse::Next RestOfResponse::read_head(std::string_view received) {
  using Event = http::ResponseReader::Event;
  http::ResponseHead head;
  for (;;) {
    const Event event = head_->read(received.substr(interim_), head);
    if (event == Event::need_more) return Next::more_of_head;
    if (event == Event::invalid || event == Event::switched) return Next::unknown;
    const std::size_t end = interim_ + head_->head_end();
    if (event == Event::final) {
      body_ = http::BodyReader(head.framing, http::BodyReader::kNoLimit,
                               http::BodyReader::MessageKind::response);
      head_.reset();
      const Next next = read_body(received.substr(end));
      return next == Next::more && is_event_stream(method_, head) ? Next::streams : next;
    }
    interim_ = end;
    head_->take_interim();
  }
}

}  // namespace spillway::proxy

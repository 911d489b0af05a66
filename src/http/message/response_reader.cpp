#include "http/message/response_reader.hpp"

#include "http/message/framing.hpp"
#include "http/message/upgrade.hpp"

namespace spillway::http {

ResponseReader::Event ResponseReader::read(std::string_view received, ResponseHead& head) {
  const Scan scan = scanner_.scan(received);
  if (scan.state == Scan::State::need_more) return Event::need_more;
  if (scan.state == Scan::State::invalid) return fail(scan.error);
  end_ = scan.end;
  Error error = parse_response(received.substr(0, scan.end), head);
  if (error == Error::none) error = response_framing(head, method_);
  if (error != Error::none) return fail(error);
  if (head.status == 101) {
    const bool is_asked_for = !upgrade_.empty() && switches_to(head, upgrade_);
    return is_asked_for ? Event::switched : fail(Error::bad_status_line);
  }
  if (head.status >= 200) return Event::final;
  return ++interim_ > kMostInterim ? fail(Error::head_too_large) : Event::interim;
}

ResponseReader::Event ResponseReader::fail(Error error) {
  error_ = error;
  return Event::invalid;
}

}  // namespace spillway::http

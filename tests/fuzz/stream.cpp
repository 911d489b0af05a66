#include "fuzz/stream.hpp"

#include <algorithm>

#include "fuzz/claim.hpp"
#include "http/message/framing.hpp"
#include "http/message/head.hpp"

namespace spillway::fuzz {
namespace {

using http::Error;

std::string number(std::uint64_t value) { return std::to_string(value) + ' '; }

std::string text_of(const http::Framing& framing, const http::FieldList& fields) {
  std::string out = number(static_cast<unsigned>(framing.kind)) + number(framing.length);
  for (const http::Field& field : fields) {
    out += number(static_cast<unsigned>(field.id));
    out.append(field.name).append("=").append(field.value).append("\n");
  }
  return out;
}

class StreamReader {
 public:
  StreamReader(std::string_view text, std::span<const std::size_t> cuts,
               const StreamOptions& options)
      : text_(text), cuts_(cuts), options_(options), scanner_(kind(), options.limits) {
    more();
  }

  std::vector<Message> run() {
    std::vector<Message> out;
    do {
      out.push_back(message());
    } while (out.back().error == Error::none && begin_ < text_.size());
    return out;
  }

 private:
  bool of_request() const { return options_.of == http::BodyReader::MessageKind::request; }
  http::HeadScanner::Kind kind() const {
    return of_request() ? http::HeadScanner::Kind::request : http::HeadScanner::Kind::response;
  }

  // The next piece arrives; false when there is none.
  bool more() {
    if (received_ == text_.size()) return false;
    while (!cuts_.empty() && cuts_.front() <= received_) cuts_ = cuts_.subspan(1);
    received_ = cuts_.empty() ? text_.size() : std::min(cuts_.front(), text_.size());
    return true;
  }

  Message message() {
    Message out;
    http::Framing framing;
    out.error = head(out, framing);
    if (out.error == Error::none) out.error = body(out, framing);
    if (out.error != Error::none) {  // how much of the body came before depends on the pieces
      out.content.clear();
      out.end = out.head_end;
    }
    begin_ = out.end;
    scanner_.reset();
    return out;
  }

  Error head(Message& out, http::Framing& framing) {
    http::Scan scan;
    while ((scan = scanner_.scan(text_.substr(begin_, received_ - begin_))).state ==
           http::Scan::State::need_more) {
      if (!more()) return Error::truncated;
    }
    if (scan.state == http::Scan::State::invalid) return scan.error;
    require(begin_ + scan.end <= received_, "a head ends in what was received");
    out.head_begin = begin_ + scan.begin;
    out.head_end = out.end = begin_ + scan.end;
    const std::string_view block = text_.substr(out.head_begin, out.head_end - out.head_begin);
    return of_request() ? request(block, out, framing) : response(block, out, framing);
  }

  Error request(std::string_view block, Message& out, http::Framing& framing) {
    http::RequestHead read;
    Error error = http::parse_request(block, read);
    if (error == Error::none) error = http::request_framing(read);
    if (error != Error::none) return error;
    framing = read.framing;
    out.fields = text_of(framing, read.fields) + number(read.version) + number(read.keep_alive) +
                 number(read.expect_continue) + number(read.upgrade);
    out.fields.append(read.method_name).append(read.host).append(read.path_and_query);
    return Error::none;
  }

  Error response(std::string_view block, Message& out, http::Framing& framing) {
    http::ResponseHead read;
    Error error = http::parse_response(block, read);
    if (error == Error::none) error = http::response_framing(read, options_.method);
    if (error != Error::none) return error;
    framing = read.framing;
    out.fields = text_of(framing, read.fields) + number(read.version) + number(read.keep_alive) +
                 number(read.status);
    out.fields.append(read.reason_phrase);
    return Error::none;
  }

  Error body(Message& out, http::Framing framing) {
    http::BodyReader reader(framing, options_.body_limit, options_.of);
    while (!reader.done()) {
      if (out.end == received_ && !more()) return reader.end_of_input();
      const auto step = reader.read(text_.substr(out.end, received_ - out.end));
      if (step.error != Error::none) return step.error;
      require(step.consumed > 0, "each step takes some of its input");
      out.content += step.payload;
      out.end += step.consumed;
    }
    return Error::none;
  }

  std::string_view text_;
  std::span<const std::size_t> cuts_;
  const StreamOptions& options_;
  http::HeadScanner scanner_;
  std::size_t received_ = 0;
  std::size_t begin_ = 0;  // of the current message
};

std::string shown(const Message& message) {
  return "head " + number(message.head_begin) + number(message.head_end) + "end " +
         number(message.end) + "error " + std::string(http::describe(message.error)) + "\n" +
         message.fields + "\n" + message.content + "\n";
}

}  // namespace

std::vector<Message> read_stream(std::string_view text, std::span<const std::size_t> cuts,
                                 const StreamOptions& options) {
  return StreamReader(text, cuts, options).run();
}

std::string difference(const std::vector<Message>& a, const std::vector<Message>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) return "message " + number(i) + "is " + shown(a[i]) + "or " + shown(b[i]);
  }
  return number(a.size()) + "messages or " + number(b.size());
}

}  // namespace spillway::fuzz

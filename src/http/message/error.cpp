#include "http/message/error.hpp"

#include <array>

#include "base/ids.hpp"

namespace spillway::http {
namespace {

struct Row {
  int status;
  StaticText sentence;
  StaticText upstream_error;
};

constexpr StaticText kProtocol = "http_protocol_error";
constexpr StaticText kHead = "http_response_header_section_size";

constexpr std::array<Row, kErrorCount> kRows{{
    {0, "", ""},
    {400, "The request line is malformed.", kProtocol},
    {400, "Methods are case-sensitive: write this one in capitals.", kProtocol},
    {400, "The request target is not valid.", kProtocol},
    {400, "The path can be read in several ways, as paths of different routes.", kProtocol},
    {400, "The status line is malformed.", kProtocol},
    {400, "The header section contains a forbidden control character.", kProtocol},
    {400, "A header field is malformed.", kProtocol},
    {400,
     "A field that says whose the request is (Authorization, X-Api-Key or the like) is repeated.",
     kProtocol},
    {400, "Line folding in header fields is not allowed.", kProtocol},
    {400, "The Host field is missing, repeated or not valid.", kProtocol},
    {400, "The length of the message is ambiguous or malformed.", kProtocol},
    {501, "No transfer coding but chunked is supported.", "http_response_transfer_coding"},
    {400, "The chunked body is malformed.", "http_response_transfer_coding"},
    {400, "The trailer section is malformed or has a field that may not be there.",
     "http_response_transfer_coding"},
    {431, "The header section is too large.", kHead},
    {431, "The header section has more than 128 fields.", kHead},
    {414, "The request line is longer than 8192 bytes.", kProtocol},
    {413, "The body is too large.", "http_response_body_size"},
    {405, "This method is not allowed here.", kProtocol},
    {505, "This version of HTTP is not supported; speak HTTP/1.1.", kProtocol},
    {417, "Only the expectation 100-continue is supported.", kProtocol},
    {400, "The message ended early.", "http_response_incomplete"},
}};

const Row& row(Error error) { return kRows[index(error)]; }

}  // namespace

int status_of(Error error) { return row(error).status; }

StaticText describe(Error error) { return row(error).sentence; }

StaticText proxy_status(Error error) { return error == Error::none ? "" : "http_request_error"; }

StaticText upstream_proxy_status(Error error) { return row(error).upstream_error; }

}  // namespace spillway::http

#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

Case replaced(const std::string& name, const std::string& lie, const std::string& truth) {
  return ours(name + " of a client that is not trusted is replaced",
              sends(get("/", name + ": " + lie + "\r\n")).passes().asked_with(name, truth));
}

Case never_passes(const std::string& name) {
  return ours(name + " of a client that is not trusted does not go on",
              sends(get("/", name + ": 1\r\n")).passes().asked_without(name));
}

}  // namespace

std::vector<Case> identity_cases() {
  return {
      ours("X-Forwarded-For ends with the client's address",
           sends(get()).passes().asked_with("X-Forwarded-For", "127.0.0.1")),
      ours("X-Forwarded-Proto and X-Forwarded-Host say what was asked for",
           sends(get())
               .passes()
               .asked_with("X-Forwarded-Proto", "http")
               .asked_with("X-Forwarded-Host", "a.example")),
      must("7239 4", "Forwarded is to the letter where it is there",
           sends(get())
               .passes()
               .asked_part("Forwarded", "for=127.0.0.1")
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string value = seen.requests[0].field("Forwarded").value_or("");
                 const bool good = value.find("host=a.example") != std::string::npos ||
                                   value.find("host=\"a.example\"") != std::string::npos;
                 return good && value.find("proto=http") != std::string::npos ? "" : value;
               })),
      must("7239 4", "Forwarded quotes a host with a port",
           sends("GET / HTTP/1.1\r\nHost: a.example:80\r\n\r\n")
               .passes()
               .asked_part("Forwarded", "host=\"a.example")),
      replaced("X-Forwarded-For", "1.2.3.4", "127.0.0.1"),
      replaced("X-Forwarded-Proto", "https", "http"),
      replaced("X-Forwarded-Host", "b.example", "a.example"),
      ours("Forwarded of a client that is not trusted is replaced",
           sends(get("/", "Forwarded: for=1.2.3.4;by=me\r\n"))
               .passes()
               .asked_part("Forwarded", "for=127.0.0.1")
               .satisfies([](const Observation& seen) -> std::string {
                 const std::string value = seen.requests[0].field("Forwarded").value_or("");
                 const bool once = support::count(seen.requests[0].fields, "Forwarded") == 1;
                 return once && value.find("1.2.3.4") == std::string::npos ? "" : value;
               })),
      ours("several X-Forwarded-For lines of a client that is not trusted are replaced",
           sends(get("/", "X-Forwarded-For: 1.2.3.4\r\nx-forwarded-for: 5.6.7.8\r\n"))
               .passes()
               .asked_with("X-Forwarded-For", "127.0.0.1")),
      never_passes("X-Forwarded-Port"),
      never_passes("X-Forwarded-Prefix"),
      never_passes("X-Real-IP"),
      never_passes("True-Client-IP"),
      never_passes("X-Cluster-Client-IP"),
      never_passes("CF-Connecting-IP"),
      never_passes("X-Original-URL"),
      never_passes("X-Original-Uri"),
      never_passes("Proxy"),
      never_passes("X-Host"),
      never_passes("X-Original-Host"),
      never_passes("X-HTTP-Host-Override"),
      never_passes("X-Scheme"),
      never_passes("Front-End-Https"),
      never_passes("X-Forwarded"),
      never_passes("Forwarded-For"),
      never_passes("X-Remote-IP"),
      never_passes("X-Remote-Addr"),
      never_passes("X-Originating-IP"),
      never_passes("Proxy-Client-IP"),
      never_passes("WL-Proxy-Client-IP"),
      never_passes("Client-Cert"),  // RFC 9440 section 2.4
      never_passes("Client-Cert-Chain"),
      never_passes("Client_Cert"),
      never_passes("Fly-Client-IP"),
      never_passes("DO-Connecting-IP"),
      never_passes("X-Vercel-Forwarded-For"),
      never_passes("X-Appengine-User-IP"),
      never_passes("X-Appengine-Remote-Addr"),
      never_passes("Ali-CDN-Real-IP"),
      never_passes("Cdn-Src-Ip"),
      never_passes("X-Envoy-Original-Path"),
      never_passes("X-Original-Method"),
      never_passes("X-Wire-Tenant"),  // of trusted_headers
      never_passes("x-wire-TENANT"),
      ours("a field of trusted_headers goes from between its neighbours",
           sends(get("/", "X-A: 1\r\nX-Wire-Tenant: 7\r\nX-B: 2\r\n"))
               .passes()
               .asked_without("X-Wire-Tenant")
               .asked_with("X-A", "1")
               .asked_with("X-B", "2")),
      ours("a field of trusted_headers stays where a trusted peer sends it",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X-Wire-Tenant: 7\r\n"))
               .passes()
               .asked_with("X-Wire-Tenant", "7")),
      ours("a field of trusted_headers that a trusted peer sends twice is refused",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X-Wire-Tenant: 7\r\nX-Wire-Tenant: 8\r\n"))
               .refused()),
      ours("two Authorization fields are refused",
           sends(get("/", "Authorization: Basic eA==\r\nAuthorization: Basic eQ==\r\n")).refused()),
      never_passes("X_Forwarded_For"),
      never_passes("X_Real_IP"),
      never_passes("X_Wire_Tenant"),
      never_passes("X.Forwarded.For"),
      never_passes("X+Real+IP"),
      never_passes("X.Wire~Tenant"),
      never_passes("Content.Length"),
      ours("a name with a dot that stands for no other goes on",
           sends(get("/", "X.Custom: 1\r\nX_Other: 2\r\n"))
               .passes()
               .asked_with("X.Custom", "1")
               .asked_with("X_Other", "2")),
      never_passes("Content_Length"),
      never_passes("Transfer_Encoding"),
      never_passes("Spillway-Late"),
      never_passes("spillway-anything"),
      ours("X-Forwarded-For of a trusted peer is appended to",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X-Forwarded-For: 192.0.2.1\r\n"))
               .passes()
               .asked_list("X-Forwarded-For", "192.0.2.1, 127.0.0.1")),
      ours("X-Real-IP of a trusted peer stays", Step()
                                                    .from_trusted_peer()
                                                    .sends(get("/", "X-Real-IP: 192.0.2.1\r\n"))
                                                    .passes()
                                                    .asked_with("X-Real-IP", "192.0.2.1")),
      ours("Client-Cert of a trusted peer stays", Step()
                                                      .from_trusted_peer()
                                                      .sends(get("/", "Client-Cert: :MIIB:\r\n"))
                                                      .passes()
                                                      .asked_with("Client-Cert", ":MIIB:")),
      ours("X-Host of a trusted peer stays", Step()
                                                 .from_trusted_peer()
                                                 .sends(get("/", "X-Host: b.example\r\n"))
                                                 .passes()
                                                 .asked_with("X-Host", "b.example")),
      ours("X_Forwarded_For of a trusted peer's client does not go on",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X_Forwarded_For: 192.0.2.9\r\n"))
               .passes()
               .asked_without("X_Forwarded_For")),
      ours("X.Wire.Tenant of a trusted peer's client does not go on",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X.Wire.Tenant: 7\r\n"))
               .passes()
               .asked_without("X.Wire.Tenant")),
      ours("Connection, passed on by a trusted peer, names none of its fields away",
           Step()
               .from_trusted_peer()
               .sends(get("/", "Connection: X-Customer\r\nX-Customer: 7\r\n"))
               .passes()
               .asked_with("X-Customer", "7")),
      ours("Connection, passed on by a trusted peer, does not name the tenant away",
           Step()
               .from_trusted_peer()
               .sends(get("/", "Connection: X-Wire-Tenant\r\nX-Wire-Tenant: 7\r\n"))
               .passes()
               .asked_with("X-Wire-Tenant", "7")),
      ours("several X-Forwarded-For lines of a trusted peer stay in order",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n"))
               .passes()
               .asked_list("X-Forwarded-For", "192.0.2.1, 192.0.2.2, 127.0.0.1")),
      ours("X-Forwarded-Proto of a trusted peer stays",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X-Forwarded-Proto: https\r\n"))
               .passes()
               .asked_with("X-Forwarded-Proto", "https")),
      ours("X-Forwarded-Host of a trusted peer stays",
           Step()
               .from_trusted_peer()
               .sends(get("/", "X-Forwarded-Host: b.example\r\n"))
               .passes()
               .asked_with("X-Forwarded-Host", "b.example")),
      must("7239 4", "Forwarded of a trusted peer is appended to",
           Step()
               .from_trusted_peer()
               .sends(get("/", "Forwarded: for=192.0.2.1;proto=https\r\n"))
               .passes()
               .asked_list_begins("Forwarded", "for=192.0.2.1;proto=https, for=127.0.0.1"))};
}

}  // namespace spillway::wire

-- What wrk sends, by environment variables, and what it tells of it. The request is the same each
-- time and built once, except with ROUTES: then the n-th goes to one of that many routes, in an order
-- that is no sequence in memory and the same for all.
local routes = tonumber(os.getenv("ROUTES") or "0")

local body = tonumber(os.getenv("BODY") or "0")
if body > 0 then
  wrk.method = "POST"
  wrk.body = string.rep("0123456789abcdef", body / 16)
  wrk.headers["Content-Type"] = "application/octet-stream"
end

if os.getenv("HEADERS") == "close" then
  wrk.headers["Connection"] = "close"
elseif os.getenv("HEADERS") == "browser" then
  wrk.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
  wrk.headers["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
  wrk.headers["Accept-Encoding"] = "gzip, deflate, br, zstd"
  wrk.headers["Accept-Language"] = "en-GB,en;q=0.9,de;q=0.8"
  wrk.headers["Cache-Control"] = "no-cache"
  wrk.headers["Pragma"] = "no-cache"
  wrk.headers["Referer"] = "https://shop.example.com/categories/garden/chairs?sort=price&page=3"
  wrk.headers["Sec-CH-UA"] = '"Chromium";v="131", "Not_A Brand";v="24"'
  wrk.headers["Sec-CH-UA-Mobile"] = "?0"
  wrk.headers["Sec-CH-UA-Platform"] = '"Linux"'
  wrk.headers["Sec-Fetch-Dest"] = "document"
  wrk.headers["Sec-Fetch-Mode"] = "navigate"
  wrk.headers["Sec-Fetch-Site"] = "same-origin"
  wrk.headers["Sec-Fetch-User"] = "?1"
  wrk.headers["Upgrade-Insecure-Requests"] = "1"
  wrk.headers["Cookie"] = "session=4f1c2f6a9d0e4b7f8a55c6d7e8f90123; consent=necessary.statistics.2026-11-01; basket=" .. string.rep("a7Zk", 120) .. "; _ga=GA1.1.1234567890.1730000000; _ga_Q1W2E3R4T5=GS1.1.1730000000.12.1.1730000042.60.0.0; experiments=checkout-b.search-a.banner-c; theme=dark"
end

-- How long a connection rests after an answer, in ms: exponential, the same for all contenders.
local think = tonumber(os.getenv("THINK") or "0")
if think > 0 then
  delay = function() return math.floor(0.5 - think * math.log(1 - math.random())) end
end

if routes > 0 then
  local requests, at = {}, 0
  -- In init, since the connection's Host is known from then on.
  init = function()
    for route = 1, routes do
      requests[route] = wrk.format(nil, "/r" .. route .. "/item")
    end
  end
  request = function()
    at = (at + 7919) % routes -- a prime, so that every route has its turn
    return requests[at + 1]
  end
end

done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("FIGURES %d %d %d %d %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors.connect, errors.read, errors.write,
    errors.timeout, errors.status))
end

#!lua
-- TAKE: counts one request against a rate-limit policy and decides whether it is allowed. Policy.Step of package limit
-- makes the same decision in Go.
--
-- KEYS  1 app:rate
-- ARGV  1 now, 2 pace, 3 window (all ms)
-- Returns {1 granted or 0 refused, the instant at which the debt is paid off (ms)}
-- Cost  O(1)
-- Creates app:rate with the rest of its debt as TTL; a refusal writes nothing
local now, every, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
tat = math.min(math.max(tat, now), now + window)
if tat + every - now > window then
  return {0, tat}
end
tat = tat + every
redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', string.format('%.0f', tat - now))
return {1, tat}

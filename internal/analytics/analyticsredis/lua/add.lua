#!lua
-- ADD: counts views in the counters of a business date.
--
-- KEYS  1 app:counter:views
-- ARGV  1 the TTL (ms)  2 the number of counters n  then n counters, which rise by 1, then pairs of a field and its value
-- Returns 1
-- Cost  O(n)
-- Creates app:counter:views with the TTL of ARGV[1]
local n = tonumber(ARGV[2])
for i = 3, 2 + n do
  redis.call('HINCRBY', KEYS[1], ARGV[i], 1)
end
for i = 3 + n, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

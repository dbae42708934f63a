#!lua
-- RAISE: a counter that only rises.
--
-- KEYS  1 counter
-- ARGV  1 number
-- Returns the counter
-- Cost  O(1); creates the counter without TTL
local have = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
if tonumber(ARGV[1]) > have then
  redis.call('SET', KEYS[1], ARGV[1])
  return tonumber(ARGV[1])
end
return have

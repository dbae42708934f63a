#!lua
-- RAISE: raises a counter to a number, and never lowers it.
--
-- KEYS  1 counter
-- ARGV  1 number
-- Returns the counter
-- Cost  O(1); creates the counter without TTL, even in place of a value that is not a number
local text = redis.pcall('GET', KEYS[1])
local have = type(text) == 'string' and tonumber(text) or 0
if tonumber(ARGV[1]) > have then
  redis.call('SET', KEYS[1], ARGV[1])
  return tonumber(ARGV[1])
end
return have

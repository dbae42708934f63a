#!lua
-- SEEN: adds dishes to the list of a member, if there is one. A new list would lack the dishes that are only in SQL.
--
-- KEYS  1 views:user
-- ARGV  1 the maximum size  then pairs of an instant (ms) and a dish
-- Returns 1, or 0 without a list
-- Cost  O(n log size)
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
for i = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[1]))
return 1

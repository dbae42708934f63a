#!lua
-- SAVE_LAST_SEEN: stores when visitors were last seen and removes visitors that are no longer here. The size of the set
-- is the number of visitors, so no counter can drift.
--
-- KEYS  1 app:counter:online
-- ARGV  1 the TTL (ms)  2 the instant before which visitors are removed (ms)  then pairs of an instant (ms) and a visitor
-- Returns 1
-- Cost  O(n log size)
-- Creates app:counter:online with the TTL of ARGV[1]
for i = 3, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'GT', ARGV[i], ARGV[i + 1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

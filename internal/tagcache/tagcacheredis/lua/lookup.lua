#!lua
-- LOOKUP: returns a cached value, or takes the lease to compute it. The name of the value is stored with the lease, so
-- that an invalidation during the computation finds it.
--
-- KEYS  1 app:cache  2 app:lock  3 app:tags
-- ARGV  1 the caller's token  2 the lease (ms)  3 the name  4 now (ms)  5 the most names  6 the TTL of app:tags (ms)
-- Returns {0, the value}; {1} the caller has the lease; {2} another process has it; {3} too many names
-- Cost  O(log names), and the names that have expired
-- Creates app:lock with the TTL of ARGV[2], app:tags with that of ARGV[6]
local value = redis.call('GET', KEYS[1])
if value then
  return {0, value}
end
if redis.call('EXISTS', KEYS[2]) == 1 then
  return {2}
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[4])
if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[5]) and not redis.call('ZSCORE', KEYS[3], ARGV[3]) then
  return {3}
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[3], 'GT', ARGV[4] + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
return {1}

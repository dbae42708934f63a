#!lua
-- FILL: stores a computed value under the lease of its computation, and ends the lease. A lease that has expired or that
-- an invalidation has deleted stores nothing, because the value may be from before the change.
--
-- KEYS  1 app:cache  2 app:lock  3 app:tags
-- ARGV  1 the caller's token  2 the TTL (ms), or 0 to end the lease only  3 the value  4 the name  5 its expiry (Unix ms)
--       6 the TTL of app:tags (ms)
-- Returns 1 stored or ended, 0 the caller does not have the lease
-- Cost  O(log names)
-- Creates app:cache with the TTL of ARGV[2], app:tags with that of ARGV[6]
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[2])
if ARGV[2] ~= '0' then
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
  redis.call('ZADD', KEYS[3], 'GT', ARGV[5], ARGV[4])
  redis.call('PEXPIRE', KEYS[3], ARGV[6])
end
return 1

#!lua
-- RANK: replaces a ranking. Readers see the old one or the new one.
--
-- KEYS  1 app:rank
-- ARGV  1 the TTL (ms)  then pairs of a score and a dish, at most 1,000
-- Returns 1
-- Cost  O(n log n)
-- Creates app:rank with the TTL of ARGV[1]; without pairs it is only removed
redis.call('DEL', KEYS[1])
for i = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1])
end
if #ARGV > 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 1

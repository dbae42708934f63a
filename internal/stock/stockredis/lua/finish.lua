#!lua
-- FINISH: ends a rebuild: the loaded scope becomes known, and the other scripts use it.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid
-- ARGV  1 epoch  2 end of the records (unix ms)  3 TTL of q:rsv, to that end  4 TTL of q:cap and q:paid (both ms)
-- Returns 1, or 0 if another rebuild has begun since: nothing was changed
-- Cost  O(1); 8 commands
-- Creates nothing new; sets the TTLs of the three hashes
if redis.call('HGET', KEYS[1], 'bld') ~= ARGV[1] then
  return 0
end
redis.call('HDEL', KEYS[1], 'bld')
redis.call('HSET', KEYS[1], 'ep', ARGV[1], 'end', ARGV[2])
redis.call('HSET', KEYS[2], 'ep', ARGV[1])
redis.call('HSET', KEYS[3], 'ep', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return 1

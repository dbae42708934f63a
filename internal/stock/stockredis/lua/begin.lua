#!lua
-- BEGIN: makes a scope unknown and records the one rebuild that may fill it. All scripts answer "unknown" until FINISH, so
-- that the snapshot read from SQL in between cannot become outdated. LOAD and FINISH refuse an earlier rebuild from now
-- on, so that two rebuilds never mix.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid
-- ARGV  1 the epoch to be built  2 now: the snapshot contains everything committed before (unix ms)
--       3 TTL of an abandoned rebuild (ms)
-- Returns 1
-- Cost  O(items); 3 commands
-- Creates q:cap with the TTL of ARGV[3]
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'bld', ARGV[1], 'pos', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1

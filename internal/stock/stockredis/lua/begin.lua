#!lua
-- BEGIN: makes a scope unknown and names the one rebuild that may fill it. Everything answers "unknown" from here until
-- FINISH, so what is then read from SQL cannot be overtaken. An earlier rebuild that is still loading is refused from
-- here on: two images never mix.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid
-- ARGV  1 the epoch to be built  2 now: the ledger's position of which everything will be in the image (unix ms)
--       3 life of an abandoned build (ms)
-- Returns 1
-- Cost  O(items); 3 commands
-- Creates q:cap with the TTL of ARGV[3]
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'bld', ARGV[1], 'pos', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1

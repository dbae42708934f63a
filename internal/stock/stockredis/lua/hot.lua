#!lua
-- HOT: stores the level of a stock item for displays. Readers decide by lastUpdate whether it is recent enough. The TTL
-- only removes abandoned keys.
--
-- KEYS  1 hot:inventory
-- ARGV  1 available units  2 time of reading  3 the TTL (ms)
-- Returns 1
-- Cost  O(1); 2 commands
-- Creates hot:inventory with the TTL of ARGV[3]
redis.call('HSET', KEYS[1], 'available', ARGV[1], 'lastUpdate', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1

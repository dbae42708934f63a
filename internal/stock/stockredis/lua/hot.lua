#!lua
-- HOT: keeps for a minute what shop windows show of a stock item. What is read there is judged by lastUpdate; the TTL
-- only collects it.
--
-- KEYS  1 hot:inventory
-- ARGV  1 what is available  2 when it was read  3 the TTL (ms)
-- Returns 1
-- Cost  O(1); 2 commands
-- Creates hot:inventory with the TTL of ARGV[3]
redis.call('HSET', KEYS[1], 'available', ARGV[1], 'lastUpdate', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1

#!lua
-- RESTORE_DAY: adds the members that SQL has of a date. Members that were marked meanwhile stay.
--
-- KEYS  1 app:analytics:daily  2 app:analytics:union
-- ARGV  1 the TTL (ms)  2 the bits, with bit 0 if the date is complete then
-- Returns 1
-- Cost  O(bytes)
-- Creates app:analytics:daily with the TTL of ARGV[1]; app:analytics:union is deleted again
redis.call('SET', KEYS[2], ARGV[2], 'PX', 60000)
redis.call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[2])
redis.call('DEL', KEYS[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

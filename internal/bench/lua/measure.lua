#!lua flags=no-writes
-- MEASURE: what a key takes, what everything takes, and which process says so.
--
-- KEYS  1 any key
-- Returns {bytes of the key, 0 when there is none; used_memory; process id}
-- Cost  O(elements of the key); 3 commands
-- Creates nothing
local size = redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', '0')
local memory, server = redis.call('INFO', 'memory'), redis.call('INFO', 'server')
return {size or 0, tonumber(string.match(memory, 'used_memory:(%d+)')), tonumber(string.match(server, 'process_id:(%d+)'))}

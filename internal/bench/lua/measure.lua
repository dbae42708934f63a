#!lua flags=no-writes
-- MEASURE: returns the memory of one key and of the whole server, with the server's process id.
--
-- KEYS  1 any key
-- Returns {bytes of the key, or 0 if it does not exist; used_memory; process id}
-- Cost  O(elements of the key); 3 commands
-- Creates nothing
local size = redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', '0')
local memory, server = redis.call('INFO', 'memory'), redis.call('INFO', 'server')
return {size or 0, tonumber(string.match(memory, 'used_memory:(%d+)')), tonumber(string.match(server, 'process_id:(%d+)'))}

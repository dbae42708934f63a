#!lua flags=no-writes
-- MEASURE: returns the memory of one key and of all data, with the server's process id. The buffers of connections do not
-- count: Redis shrinks them while it is idle, by more than a few hundred holds take.
--
-- KEYS  1 any key
-- Returns {bytes of the key, or 0 if it does not exist; used_memory without mem_clients_normal; process id}
-- Cost  O(elements of the key); 3 commands
-- Creates nothing
local size = redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', '0')
local memory, server = redis.call('INFO', 'memory'), redis.call('INFO', 'server')
local used, buffers = string.match(memory, 'used_memory:(%d+)'), string.match(memory, 'mem_clients_normal:(%d+)')
return {size or 0, tonumber(used) - tonumber(buffers), tonumber(string.match(server, 'process_id:(%d+)'))}

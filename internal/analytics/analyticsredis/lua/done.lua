#!lua
-- DONE: removes a batch that is in SQL. Another process may have removed it and taken the next one, which stays.
--
-- KEYS  1 app:counter:taken
-- ARGV  1 the id of the batch
-- Returns 1 removed, 0 not there
-- Cost  O(fields)
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])

#!lua
-- TAKE: takes the counters of a business date, unless an earlier batch of it is not yet done. RENAME moves all
-- counters at once, so a view is counted either in this batch or in the next.
--
-- KEYS  1 app:counter:views  2 app:counter:taken
-- ARGV  1 the id of the batch
-- Returns the fields of the batch, with its id in the field id; empty if there are no counters
-- Cost  O(fields)
-- Creates app:counter:taken with the rest of the TTL of app:counter:views
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then
    return {}
  end
  redis.call('RENAME', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[2], 'id', ARGV[1])
end
return redis.call('HGETALL', KEYS[2])

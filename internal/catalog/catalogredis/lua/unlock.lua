#!lua
-- Releases the lock for filling a branch's cached menu, if the caller still holds it.
--
-- KEYS[1]  the lock
-- ARGV[1]  the holder's token
-- returns  1: released; 0: the lock expired, another process holds it, or an invalidation removed it
-- cost     O(1); creates no key
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0

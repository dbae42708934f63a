#!lua
-- Gives the right to fill a branch's cached menu back, if it is still held.
--
-- KEYS[1]  the lock
-- ARGV[1]  the holder's token
-- returns  1: it was held and is free now; 0: it had run out, was taken over, or was revoked by an invalidation
-- cost     O(1); creates no key
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0

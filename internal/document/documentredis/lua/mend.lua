#!lua
-- MEND: deletes a key that holds something of another type than declared, which somebody else has written.
--
-- KEYS  1 key
-- ARGV  1 its type
-- Returns 1: deleted, 0: it is as declared, or there is none
-- Cost  that of DEL; creates no key
local is = redis.call('TYPE', KEYS[1]).ok
if is == 'none' or is == ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])

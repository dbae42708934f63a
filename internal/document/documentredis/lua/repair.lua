#!lua
-- REPAIR: deletes a key whose type is not the declared one: another program has written it.
--
-- KEYS  1 key
-- ARGV  1 its type
-- Returns 1: deleted, 0: the type is as declared, or the key is missing
-- Cost  that of DEL; creates no key
local is = redis.call('TYPE', KEYS[1]).ok
if is == 'none' or is == ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])

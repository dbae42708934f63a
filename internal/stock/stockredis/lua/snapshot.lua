#!lua flags=no-writes
-- SNAPSHOT: returns a whole scope at one instant, for a comparison with SQL.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid
-- Returns {} if the scope is unknown, else the three hashes as lists of field and value
-- Cost  O(items); 3 commands
-- Creates nothing
local caps, held, paid = redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3])
local function epoch(flat)
  for i = 1, #flat, 2 do
    if flat[i] == 'ep' then
      return flat[i + 1]
    end
  end
  return false
end
local ep = epoch(caps)
if not ep or epoch(held) ~= ep or epoch(paid) ~= ep then
  return {}
end
return {caps, held, paid}

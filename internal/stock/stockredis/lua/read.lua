#!lua flags=no-writes
-- READ: returns the counters of some items at one instant.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid
-- ARGV  the items
-- Returns {0} if the scope is unknown, else {1, ...} with cap (-1: unlimited, -2: unknown item), held and used per item
-- Cost  O(items); 3 commands
-- Creates nothing
local caps = redis.call('HMGET', KEYS[1], 'ep', unpack(ARGV))
local held = redis.call('HMGET', KEYS[2], 'ep', unpack(ARGV))
local paid = redis.call('HMGET', KEYS[3], 'ep', unpack(ARGV))
if not caps[1] or held[1] ~= caps[1] or paid[1] ~= caps[1] then
  return {0}
end
local reply = {1}
for i = 2, #ARGV + 1 do
  local cap, h, p = caps[i], tonumber(held[i]), tonumber(paid[i])
  if not cap or not h or not p then
    cap, h, p = -2, 0, 0
  elseif cap == '*' then
    cap = -1
  end
  reply[#reply + 1] = tonumber(cap)
  reply[#reply + 1] = h
  reply[#reply + 1] = p
end
return reply

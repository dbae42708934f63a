#!lua
-- LOAD: writes one part of the snapshot that was read from SQL after BEGIN. It overwrites existing records.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid  4 rsv:due  5.. one ord:resv per hold (no hold twice)
-- ARGV  1 epoch  2 branch  3 business date  4 TTL of the records (ms)  5 number of counters  6 number of holds
--       then per counter: item, cap or *, held, used
--       then per hold: id, state, number of lines, and its lines: item, quantity
-- Returns 1, or 0 if another rebuild has begun since: nothing was written
-- Cost  O(counters + holds + lines); commands: 9, two more per hold
-- Creates q:rsv, q:paid and ord:resv with the TTL of ARGV[4]
if redis.call('HGET', KEYS[1], 'bld') ~= ARGV[1] then
  return 0
end
local counters, holds = tonumber(ARGV[5]), tonumber(ARGV[6])
local at = 7

if counters > 0 then
  local caps, held, paid = {}, {}, {}
  for i = 1, counters do
    local item = ARGV[at]
    caps[2 * i - 1], caps[2 * i] = item, ARGV[at + 1]
    held[2 * i - 1], held[2 * i] = item, ARGV[at + 2]
    paid[2 * i - 1], paid[2 * i] = item, ARGV[at + 3]
    at = at + 4
  end
  redis.call('HSET', KEYS[1], unpack(caps))
  redis.call('HSET', KEYS[2], unpack(held))
  redis.call('HSET', KEYS[3], unpack(paid))
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
end

if holds > 0 then
  local ids = {}
  redis.call('DEL', unpack(KEYS, 5))
  for h = 1, holds do
    local key, state, lines = KEYS[4 + h], ARGV[at + 1], tonumber(ARGV[at + 2])
    ids[h] = ARGV[at]
    if state == 'HELD' or state == 'CONFIRMED' then
      redis.call('HSET', key, 's', state .. ' ' .. ARGV[1], '__bizDate', ARGV[3], '__branchId', ARGV[2],
        unpack(ARGV, at + 3, at + 2 + 2 * lines))
    else
      redis.call('HSET', key, 's', state)
    end
    redis.call('PEXPIRE', key, ARGV[4])
    at = at + 3 + 2 * lines
  end
  redis.call('ZREM', KEYS[4], unpack(ids))
end
return 1

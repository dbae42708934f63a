#!lua
-- TRY: takes provisional holds for many reservations of one scope, in the order given. Each takes all its lines or none.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid  4 rsv:due  5 rsv:no of this span  6 rsv:no of the span before
--       7.. one ord:resv per reservation
-- ARGV  1 branch  2 business date  3 end of the provisional holds  4 now (both unix ms)  5 TTL of KEYS[5] (ms)
--       6 number of items  7 number of reservations
--       then the items (none twice), then the ids (none twice), then per reservation its number of lines and
--       its lines: place of the item in the list, quantity (no item twice)
-- Returns {0} if the scope is unknown, else {1, ...} with one answer per reservation, numbered as in package stock:
--       0 cold (an item is unknown), 1 admitted, 2 duplicate, 4 conflict, 5 terminal, or 3 refused, followed by the
--       number of short lines and, for each, its place in the reservation and the units left
-- Fails on quantities that are not whole numbers from 1, before it writes anything.
-- Cost  O(items + lines); commands: 5, 2 for admitted and 2 for refused reservations together, 2 per admitted one;
--       2 when ids were refused lately; one per reservation when any of them has a record
-- Creates ord:resv with the TTL of its scope, members of rsv:due, and rsv:no with a TTL of at most two spans
local branch, date = ARGV[1], ARGV[2]
local item_count, try_count = tonumber(ARGV[6]), tonumber(ARGV[7])
local items_at = 7
local ids_at = items_at + item_count
local lines_at = ids_at + try_count
local records_at = 6

-- The scope is known if its three hashes have the same epoch. A missing field never counts as zero.
local caps = redis.call('HMGET', KEYS[1], 'ep', 'end', unpack(ARGV, items_at + 1, ids_at))
local held = redis.call('HMGET', KEYS[2], 'ep', unpack(ARGV, items_at + 1, ids_at))
local paid = redis.call('HMGET', KEYS[3], 'ep', unpack(ARGV, items_at + 1, ids_at))
local epoch = caps[1]
if not epoch or held[1] ~= epoch or paid[1] ~= epoch then
  return {0}
end

-- left[i] is the units of item i that are left; false if the item is unknown.
local left, total = {}, {}
for i = 1, item_count do
  local cap, h, p = caps[i + 2], tonumber(held[i + 1]), tonumber(paid[i + 1])
  if not cap or not h or not p then
    left[i] = false
  elseif cap == '*' then
    left[i] = math.huge
  else
    left[i] = tonumber(cap) - h - p
  end
  total[i] = h
end

-- Most reservations are new: one EXISTS for all saves a read of each record.
local any_record = redis.call('EXISTS', unpack(KEYS, records_at + 1)) > 0
local refused_now, refused_before = {}, {}
if redis.call('EXISTS', KEYS[5], KEYS[6]) > 0 then
  refused_now = redis.call('SMISMEMBER', KEYS[5], unpack(ARGV, ids_at + 1, lines_at))
  refused_before = redis.call('SMISMEMBER', KEYS[6], unpack(ARGV, ids_at + 1, lines_at))
end

-- known returns the answer for a reservation with a record, or nil if the reservation counts as new: the units of a record
-- of another epoch were counted into counters that no longer exist.
local stale = {}
local function known(r, at, lines)
  local flat = redis.call('HGETALL', KEYS[records_at + r])
  local record, size = {}, 0
  for i = 1, #flat, 2 do
    record[flat[i]] = flat[i + 1]
    size = size + 1
  end
  local state = record.s
  if not state then
    return nil
  end
  if state == 'RELEASED' or state == 'RETURNED' then
    return 5
  end
  if state ~= 'HELD ' .. epoch and state ~= 'CONFIRMED ' .. epoch then
    stale[#stale + 1] = KEYS[records_at + r]
    return nil
  end
  if record.__bizDate ~= date or size ~= lines + 3 then
    return 4
  end
  for l = 1, lines do
    if record[ARGV[items_at + tonumber(ARGV[at + 2 * l - 1])]] ~= ARGV[at + 2 * l] then
      return 4
    end
  end
  return 2
end

local reply = {1}
local writes, leases, refused, touched = {}, {}, {}, {}
local item, qty = {}, {}
local at = lines_at + 1
for r = 1, try_count do
  local lines = tonumber(ARGV[at])
  local id = ARGV[ids_at + r]
  local answer = nil
  if any_record then
    answer = known(r, at, lines)
  end
  if not answer and (refused_now[r] == 1 or refused_before[r] == 1) then
    answer = 5
  end
  if not answer then
    answer = 1
    local short = 0
    for l = 1, lines do
      local i, q = tonumber(ARGV[at + 2 * l - 1]), tonumber(ARGV[at + 2 * l])
      if not q or q < 1 or q % 1 ~= 0 then
        return redis.error_reply('ERR a quantity is not a whole number from 1')
      end
      item[l], qty[l] = i, q
      if not left[i] then
        answer = 0
      elseif left[i] < q then
        short = short + 1
      end
    end
    if answer == 1 and short > 0 then
      answer = 3
      refused[#refused + 1] = id
      reply[#reply + 1] = 3
      reply[#reply + 1] = short
      for l = 1, lines do
        if left[item[l]] < qty[l] then
          reply[#reply + 1] = l
          reply[#reply + 1] = math.max(left[item[l]], 0)
        end
      end
    elseif answer == 1 then
      local w = {'HSET', KEYS[records_at + r], 's', 'HELD ' .. epoch, '__bizDate', date, '__branchId', branch}
      for l = 1, lines do
        local i = item[l]
        left[i] = left[i] - qty[l]
        total[i] = total[i] + qty[l]
        touched[i] = true
        w[7 + 2 * l] = ARGV[items_at + i]
        w[8 + 2 * l] = ARGV[at + 2 * l]
      end
      writes[#writes + 1] = w
      leases[#leases + 1] = ARGV[3]
      leases[#leases + 1] = id
    end
  end
  if answer ~= 3 then
    reply[#reply + 1] = answer
  end
  at = at + 1 + 2 * lines
end

-- From here on only writes, none of which can be refused.
if #stale > 0 then
  redis.call('DEL', unpack(stale))
end
if #writes > 0 then
  local counts = {}
  for i in pairs(touched) do
    counts[#counts + 1] = ARGV[items_at + i]
    counts[#counts + 1] = total[i]
  end
  redis.call('HSET', KEYS[2], unpack(counts))
  for i = 1, #writes do
    redis.call(unpack(writes[i]))
    redis.call('PEXPIRE', writes[i][2], caps[2] - ARGV[4])
  end
  redis.call('ZADD', KEYS[4], unpack(leases))
end
if #refused > 0 then
  redis.call('SADD', KEYS[5], unpack(refused))
  redis.call('PEXPIRE', KEYS[5], ARGV[5])
end
return reply

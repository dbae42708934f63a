#!lua
-- APPLY: applies changes that SQL has committed, for many holds of one scope, in the order given. Idempotent per hold.
--
-- KEYS  1 q:cap  2 q:rsv  3 q:paid  4 rsv:due  5.. one ord:resv per hold (no hold twice)
-- ARGV  1 branch  2 business date  3 now (unix ms)  4 number of holds, then the ids of the holds, then per operation:
--       kind (H held, C confirm, X cancel, R return, F forget, Q cap), place of the hold in the list (0 for Q),
--       number of lines, and its lines: item, quantity (for Q one line: item, new cap or *)
-- Returns {0} if the scope is unknown: nothing was applied; else {1, ...} with one outcome per operation:
--       1 changed, 2 already applied, 3 the hold has ended in another state
-- A hold's units are those of its record; an operation's lines count only if there is no record.
-- A counter that would fall below zero proves that the scope is wrong. The script then makes the scope unknown, so that
-- it is rebuilt from SQL.
-- Cost  O(operations + lines + items); commands: 8 and up to 3 per hold
-- Creates ord:resv with the TTL of its scope
local branch, date = ARGV[1], ARGV[2]
local hold_count = tonumber(ARGV[4])
local ids_at, records_at = 4, 4

local scope = redis.call('HMGET', KEYS[1], 'ep', 'end')
local epoch = scope[1]
if not epoch or redis.call('HGET', KEYS[2], 'ep') ~= epoch or redis.call('HGET', KEYS[3], 'ep') ~= epoch then
  return {0}
end

-- An open record of another epoch counts as none: its units were counted into counters that no longer exist. Final states
-- count under every epoch.
local function record_of(h)
  local found = redis.call('HGET', KEYS[records_at + h], 's')
  local r = {state = 'NONE', found = found}
  if found == 'RELEASED' or found == 'RETURNED' then
    r.state = found
  elseif found == 'HELD ' .. epoch then
    r.state = 'HELD'
  elseif found == 'CONFIRMED ' .. epoch then
    r.state = 'CONFIRMED'
  end
  return r
end

local function lines_of(h)
  local lines, flat = {}, redis.call('HGETALL', KEYS[records_at + h])
  for i = 1, #flat, 2 do
    local name = flat[i]
    if name ~= 's' and name ~= '__bizDate' and name ~= '__branchId' then
      lines[#lines + 1] = name
      lines[#lines + 1] = flat[i + 1]
    end
  end
  return lines
end

-- steps[operation][state] is the next state, and the change of held and used units per unit; true if
-- nothing is left to do. A missing entry means that the hold has ended in another state.
local steps = {
  H = {NONE = {'HELD', 1, 0}, HELD = true, CONFIRMED = true},
  C = {NONE = {'CONFIRMED', 0, 1}, HELD = {'CONFIRMED', -1, 1}, CONFIRMED = true},
  X = {NONE = {'RELEASED', 0, 0}, HELD = {'RELEASED', -1, 0}, RELEASED = true, RETURNED = true},
  R = {NONE = {'RETURNED', 0, -1}, CONFIRMED = {'RETURNED', 0, -1}, RELEASED = true, RETURNED = true},
  F = {NONE = true, HELD = {'NONE', -1, 0}, CONFIRMED = true, RELEASED = true, RETURNED = true},
}

local records, caps, items, held, used = {}, {}, {}, {}, {}
local function touch(item)
  if not held[item] then
    items[#items + 1] = item
    held[item], used[item] = 0, 0
  end
end

local reply = {1}
local at = ids_at + hold_count + 1
while ARGV[at] do
  local kind, h, lines = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local outcome = 1
  if kind == 'Q' then
    touch(ARGV[at + 3])
    caps[#caps + 1] = ARGV[at + 3]
    caps[#caps + 1] = ARGV[at + 4]
  else
    local r = records[h] or record_of(h)
    records[h] = r
    local step = steps[kind][r.state]
    if step == true then
      outcome = 2
    elseif not step then
      outcome = 3
    else
      if r.state == 'NONE' then
        r.fresh, r.lines = true, {}
        for l = 1, 2 * lines do
          r.lines[l] = ARGV[at + 2 + l]
        end
      end
      if not r.lines then
        r.lines = lines_of(h)
      end
      for l = 1, (step[2] ~= 0 or step[3] ~= 0) and #r.lines or 0, 2 do
        local item, q = r.lines[l], tonumber(r.lines[l + 1])
        if not q or q < 1 or q % 1 ~= 0 then
          return redis.error_reply('ERR a quantity is not a whole number from 1')
        end
        touch(item)
        held[item] = held[item] + step[2] * q
        used[item] = used[item] + step[3] * q
      end
      r.state, r.dirty = step[1], true
    end
  end
  reply[#reply + 1] = outcome
  at = at + 3 + 2 * lines
end

local new_held, new_used = {}, {}
if #items > 0 then
  local h, u = redis.call('HMGET', KEYS[2], unpack(items)), redis.call('HMGET', KEYS[3], unpack(items))
  for i = 1, #items do
    local a, b = (tonumber(h[i]) or 0) + held[items[i]], (tonumber(u[i]) or 0) + used[items[i]]
    if a < 0 or b < 0 then
      redis.call('HDEL', KEYS[1], 'ep')
      return {0}
    end
    new_held[2 * i - 1], new_held[2 * i] = items[i], a
    new_used[2 * i - 1], new_used[2 * i] = items[i], b
  end
end

-- From here on only writes, none of which can be refused.
if #items > 0 then
  redis.call('HSET', KEYS[2], unpack(new_held))
  redis.call('HSET', KEYS[3], unpack(new_used))
end
if #caps > 0 then
  redis.call('HSET', KEYS[1], unpack(caps))
end
for h, r in pairs(records) do
  if r.dirty and r.state == 'NONE' then
    redis.call('DEL', KEYS[records_at + h])
  elseif r.dirty then
    local key, state = KEYS[records_at + h], r.state
    if state == 'HELD' or state == 'CONFIRMED' then
      state = state .. ' ' .. epoch
    end
    if not r.fresh then
      redis.call('HSET', key, 's', state)
    else
      if r.found then
        redis.call('DEL', key)
      end
      if r.state == 'RELEASED' or r.state == 'RETURNED' then
        redis.call('HSET', key, 's', state)
      else
        redis.call('HSET', key, 's', state, '__bizDate', date, '__branchId', branch, unpack(r.lines))
      end
      redis.call('PEXPIRE', key, scope[2] - ARGV[3])
    end
  end
end
if hold_count > 0 then
  redis.call('ZREM', KEYS[4], unpack(ARGV, ids_at + 1, ids_at + hold_count))
end
return reply

#!lua
-- COUNT_ACTIVE: counts the members of a date and of the dates before it. Bit 0 says that a date is complete, so it is
-- set in every union and not counted.
--
-- KEYS  1, 2 app:analytics:union  then app:analytics:daily of 31 dates, the newest first
-- ARGV  none
-- Returns 1, then the members of the date, of 7 dates, of 30 dates, and of the date and one of the 30 before it; or 0,
--         then the numbers of the dates that are not complete, from 1
-- Cost  O(31 * bytes)
-- Creates app:analytics:union, which is deleted again
local missing = {0}
for i = 3, #KEYS do
  if redis.call('GETBIT', KEYS[i], 0) == 0 then
    missing[#missing + 1] = i - 2
  end
end
if #missing > 1 then
  return missing
end
local function count(operation, first, last)
  local of = {}
  for i = first, last do
    of[#of + 1] = KEYS[i]
  end
  redis.call('BITOP', operation, KEYS[1], unpack(of))
  return redis.call('BITCOUNT', KEYS[1]) - 1
end
local daily = redis.call('BITCOUNT', KEYS[3]) - 1
local weekly = count('OR', 3, 9)
local monthly = count('OR', 3, 32)
count('OR', 4, 33)
redis.call('BITOP', 'AND', KEYS[2], KEYS[1], KEYS[3])
local returning = redis.call('BITCOUNT', KEYS[2]) - 1
redis.call('DEL', KEYS[1], KEYS[2])
return {1, daily, weekly, monthly, returning}

#!lua
-- MARK_ACTIVE: adds members to a date.
--
-- KEYS  1 app:analytics:daily
-- ARGV  1 the TTL (ms)  2 0 if some members cannot be added: the date is then not complete  then ids of members
-- Returns 1
-- Cost  O(n)
-- Creates app:analytics:daily with the TTL of ARGV[1]
for i = 3, #ARGV do
  redis.call('SETBIT', KEYS[1], ARGV[i], 1)
end
if ARGV[2] == '0' then
  redis.call('SETBIT', KEYS[1], 0, 0)
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

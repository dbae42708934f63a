#!lua
-- FORGET: sets the version of a document's memo to 0, older than every version. Its entries stay, as entries to be removed.
--
-- KEYS  1 memo
-- Returns 1: done, 0: there is none
-- Cost  O(entries); changes the memo only, and removes its TTL
local memo = redis.pcall('GET', KEYS[1])
if type(memo) ~= 'string' then
  return 0
end
local pending = ''
for e in string.gmatch(string.match(memo, '\n.*$') or '', '[^\n]+') do
  pending = pending .. '\n-' .. string.gsub(e, '^-', '')
end
redis.call('SET', KEYS[1], '0' .. pending)
return 1

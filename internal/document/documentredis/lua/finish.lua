#!lua
-- FINISH: the index entries that BEGIN had returned are removed; the memo need not know them any more.
--
-- KEYS  1 memo
-- ARGV  1 the memo as it must become: version, " x" when deleted, entries, one a line each  2 life of a tombstone (ms)
-- Returns + : done; else the memo, which is another writer's, or an empty text when there is none
-- Cost  O(entries); changes the memo only
local memo = redis.call('GET', KEYS[1]) or ''
local head = string.match(ARGV[1], '^[^\n]*')
if string.match(memo, '^[^\n]*') ~= head then
  return memo
end
if string.sub(head, -1) == 'x' then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[1])
end
return '+'

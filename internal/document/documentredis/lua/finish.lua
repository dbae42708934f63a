#!lua
-- FINISH: the index entries that BEGIN had returned are removed; memos need not know them any more. A deleted document has
-- no use for it: its memo goes with its time. A series (MustSeries) of groups of
--
-- KEYS  1 memo
-- ARGV  1 the memo as it must become: version and entries, one a line each
-- Returns of each + : done; else the memo, which is another writer's, or an empty text when there is none
-- Cost  O(entries); changes the memos only
local replies = {}
for i, key in ipairs(KEYS) do
  local memo = redis.pcall('GET', key)
  if type(memo) ~= 'string' then
    memo = ''
  end
  if string.match(memo, '^[^\n]*') == string.match(ARGV[i], '^[^\n]*') then
    redis.call('SET', key, ARGV[i])
    memo = '+'
  end
  replies[i] = memo
end
return replies

#!lua
-- FINISH: drops from memos the index entries that BEGIN had returned and that are removed by now. A deleted document has
-- no need of it: its memo expires. A series (MustSeries) of groups of
--
-- KEYS  1 memo
-- ARGV  1 the memo as it must become: version and entries, one a line each
-- Returns of each + : done; else another writer's memo, or an empty text if there is none
-- Cost  O(entries); changes the memos only
local memos, set, replies = redis.call('MGET', unpack(KEYS)), {}, {} -- of what is no text: false
for i, key in ipairs(KEYS) do
  local memo = memos[i] or ''
  if string.match(memo, '^[^\n]*') == string.match(ARGV[i], '^[^\n]*') then
    local n = #set
    set[n + 1], set[n + 2] = key, ARGV[i]
    memo = '+'
  end
  replies[i] = memo
end
if #set > 0 then
  redis.call('MSET', unpack(set))
end
return replies

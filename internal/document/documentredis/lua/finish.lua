#!lua
-- FINISH: drops from memos the index entries that BEGIN returned and that are removed by now. A deleted document does not
-- need it, because its memo expires. The script runs as a series (MustBatchScript) of groups, one per memo.
--
-- KEYS  1 memo
-- ARGV  1 the new memo: version and entries, one per line
-- Returns per group + : done; else another writer's memo, or an empty text if there is none
-- Cost  O(entries); changes the memos only
local memos, set, replies = redis.call('MGET', unpack(KEYS)), {}, {} -- false for a value that is not a string
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

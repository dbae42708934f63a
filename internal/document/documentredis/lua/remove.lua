#!lua
-- REMOVE: removes documents from unique indexes, unless another document has taken the entry. The script runs as a series
-- (MustBatchScript) of groups, one per entry.
--
-- KEYS  1 index
-- ARGV  1 id of the document
-- Returns per group 1: removed, 0: the entry belongs to another document, is not a string, or is missing
-- Cost  O(1) each; creates no key
local ids, gone, replies = redis.call('MGET', unpack(KEYS)), {}, {} -- false for a value that is not a string
for i, key in ipairs(KEYS) do
  replies[i] = 0
  if ids[i] == ARGV[i] then
    replies[i] = 1
    gone[#gone + 1] = key
  end
end
if #gone > 0 then
  redis.call('DEL', unpack(gone))
end
return replies

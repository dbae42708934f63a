#!lua
-- REMOVE: removes documents from unique indexes, unless another one has the entry by now. A series (MustSeries) of groups of
--
-- KEYS  1 index
-- ARGV  1 id of the document
-- Returns of each 1: removed, 0: another document's, or no text, or missing
-- Cost  O(1) each; creates no key
local ids, gone, replies = redis.call('MGET', unpack(KEYS)), {}, {} -- of what is no text: false
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

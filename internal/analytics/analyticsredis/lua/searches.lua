#!lua
-- SEARCHES: reads the stream of a business date after a position. As a script the reply is one flat list in every
-- protocol.
--
-- KEYS  1 events:search
-- ARGV  1 the position, or - for the begin  2 the maximum number of searches
-- Returns per search its id and the values of branch, text, found and visitor
-- Cost  O(searches)
local all = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
  all[#all + 1] = entry[1]
  for i = 2, #entry[2], 2 do
    all[#all + 1] = entry[2][i]
  end
end
return all

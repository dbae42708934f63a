#!lua
-- SEARCH: appends searches to the stream of a business date. Ids are in the order of time; an id that was read stays below
-- all later ones, so it is a position.
--
-- KEYS  1 events:search
-- ARGV  1 the TTL (ms)  2 the maximum length  then per search: the branch, the text, 1 if it was found, the visitor
-- Returns 1
-- Cost  O(searches)
-- Creates events:search with the TTL of ARGV[1]
for i = 3, #ARGV, 4 do
  redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], '*',
    'branch', ARGV[i], 'text', ARGV[i + 1], 'found', ARGV[i + 2], 'visitor', ARGV[i + 3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

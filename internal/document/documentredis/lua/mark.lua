#!lua
-- MARK: ends a rebuild on one marker, if the marker has existed throughout.
--
-- KEYS  1 marker: epoch|build
-- ARGV  1 build, which becomes the epoch
-- Returns 1: done, 0: the marker is missing or belongs to another build
-- Cost  O(1); changes the marker only
local mark = redis.call('GET', KEYS[1])
if not mark or (string.match(mark, '|(.*)$') ~= ARGV[1] and mark ~= ARGV[1] .. '|') then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1] .. '|')
return 1

#!lua
-- REMOVE: takes a document out of a unique index, unless another one stands there by now.
--
-- KEYS  1 index
-- ARGV  1 id of the document
-- Returns 1: removed, 0: it was another's, or there was none
-- Cost  O(1); creates no key
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0

#!lua
-- SCORES: reads a sorted set, the lowest score first. As a script the reply is one flat list in every protocol.
--
-- KEYS  1 app:rank or views:user
-- ARGV  none
-- Returns members and scores in turn
-- Cost  O(n)
return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')

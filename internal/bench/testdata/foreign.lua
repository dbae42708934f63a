#!lua
-- Writes an undeclared key, as another program would.
return redis.call('SET', 'another:program', '1')

#!lua
-- Writes a key that nobody has declared, as another program's would be.
return redis.call('SET', 'another:program', '1')

#!lua flags=no-writes
return redis.call('DBSIZE')

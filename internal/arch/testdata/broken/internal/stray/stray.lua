-- A script
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
-- of four lines
-- in all

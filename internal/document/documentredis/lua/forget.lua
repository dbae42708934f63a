#!lua
-- FORGET: sets the version of a document's memo to 0, older than every version. Its entries stay, as entries to be removed.
--
-- KEYS  1 memo  2 document
-- ARGV  1 index=field, one per line, of an entity whose documents show their entries in their JSON; empty for others
-- Returns 1: done, 0: there is neither a memo nor such a document
-- Cost  O(entries), and reading the JSON if there is no memo; changes the memo only, and removes its TTL
local memo = redis.pcall('GET', KEYS[1])
local pending = ''
if type(memo) == 'string' then
  for e in string.gmatch(string.match(memo, '\n.*$') or '', '[^\n]+') do
    pending = pending .. '\n-' .. string.gsub(e, '^-', '')
  end
else
  local doc = ARGV[1] ~= '' and redis.pcall('GET', KEYS[2])
  if type(doc) ~= 'string' then
    return 0
  end
  for index, field in string.gmatch(ARGV[1], '([^=\n]+)=([^\n]+)') do
    local value = string.match(doc, '"' .. field .. '":"([^"\\]+)"')
    if value then
      pending = pending .. '\n-' .. index .. '=' .. value
    end
  end
end
redis.call('SET', KEYS[1], '0' .. pending)
return 1

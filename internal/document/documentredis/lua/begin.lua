#!lua
-- BEGIN: writes a document, or deletes it, unless something newer is there. The memo notes at once that the document
-- owns the new index entries beside the old ones, so that whoever comes next knows all that may be there.
--
-- KEYS  1 document  2 its memo
-- ARGV  1 version (0 with a deletion: not known, then the next one)  2 JSON, empty: deleted
--       3 index entries, one a line  4 life of a tombstone (ms)
-- Returns - : dropped, what is there is newer; else + and the version, and behind a line break the entries to remove
-- Memo  version, " x" when deleted, and the entries, one a line each
-- Cost  O(entries); creates the document and the memo without TTL, or the memo of a deleted one with TTL
local version, body, owned = ARGV[1], ARGV[2], ARGV[3]
local memo = redis.call('GET', KEYS[2])
local dead, entries = '', ''
if memo then
  local have
  have, dead, entries = string.match(memo, '^(%d+)( ?x?)\n?(.*)$')
  if body == '' and version == '0' then
    version = have
    if dead == '' then
      version = string.format('%.0f', tonumber(have) + 1)
    end
  end
  local is, was = tonumber(version), tonumber(have)
  if is < was or (is == was and dead ~= '' and body ~= '') then
    return '-'
  end
end

local removed = ''
if entries ~= '' and entries ~= owned then
  local own = {}
  for e in string.gmatch(owned, '[^\n]+') do
    own[e] = true
  end
  for e in string.gmatch(entries, '[^\n]+') do
    if not own[e] then
      removed = removed .. '\n' .. e
    end
  end
end

if body == '' then
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[2], version .. ' x' .. removed, 'PX', ARGV[4])
else
  redis.call('SET', KEYS[1], body)
  redis.call('SET', KEYS[2], version .. '\n' .. owned .. removed)
end
return '+' .. version .. removed

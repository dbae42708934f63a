#!lua
-- BEGIN: writes documents, or deletes them, unless something newer is there. The memo notes at once that the document
-- owns the new index entries, and which old ones are still to be removed, so that whoever comes next knows all that may
-- be there. The two are told apart: a writer that is overtaken takes back what the newer one does not own. A series
-- (MustSeries) of groups of
--
-- KEYS  1 document  2 its memo
-- ARGV  1 version (0 with a deletion: not known, then the next one)  2 JSON, empty: deleted
--       3 index entries, one a line  4 life of a tombstone (ms)
-- Returns of each - : dropped, what is there is newer; else + and the version, and behind a line break the entries to
--         remove. A memo that is none, or no text at all, is somebody else's doing and goes for no memo.
-- Memo  version, " x" when deleted, and the entries, one a line each, behind a "-" those to be removed; of a deleted
--       document they stay, and who brings it back removes once more what it does not own
-- Cost  O(entries); creates the document and the memo without TTL, or the memo of a deleted one with TTL
local function to_remove(entries, owned)
  local own, removed, pending = {}, '', ''
  for e in string.gmatch(owned, '[^\n]+') do
    own[e] = true
  end
  for e in string.gmatch(entries, '[^\n]+') do
    e = string.gsub(e, '^-', '')
    if not own[e] then
      removed = removed .. '\n' .. e
      pending = pending .. '\n-' .. e
    end
  end
  return removed, pending
end

local function begin(key, memo_key, version, body, owned, life)
  local memo = redis.pcall('GET', memo_key)
  local have, dead, entries = nil, '', ''
  if type(memo) == 'string' then
    have, dead, entries = string.match(memo, '^(%d+)( ?x?)\n?(.*)$')
  end
  if have then
    if body == '' and version == '0' then
      version = have
      if dead == '' and have ~= '0' then -- a forgotten memo stays older than every version
        version = string.format('%.0f', tonumber(have) + 1)
      end
    end
    local is, was = tonumber(version), tonumber(have)
    if is < was or (is == was and dead ~= '' and body ~= '') then
      return '-'
    end
  end

  local removed, pending = '', ''
  if have and entries ~= '' and entries ~= owned then
    removed, pending = to_remove(entries, owned)
  end
  if body == '' then
    redis.call('DEL', key)
    redis.call('SET', memo_key, version .. ' x' .. pending, 'PX', life)
  else
    redis.call('SET', key, body)
    redis.call('SET', memo_key, version .. '\n' .. owned .. pending)
  end
  return '+' .. version .. removed
end

local replies = {}
for i = 1, #KEYS / 2 do
  local a = 4 * i
  replies[i] = begin(KEYS[2 * i - 1], KEYS[2 * i], ARGV[a - 3], ARGV[a - 2], ARGV[a - 1], ARGV[a])
end
return replies

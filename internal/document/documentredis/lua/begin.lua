#!lua
-- BEGIN: writes or deletes documents, unless Redis has a newer version. In the same step the memo lists the new index
-- entries that the document owns, and the old ones that are still to be removed. The memo lists both, because an
-- overtaken writer removes those that the newer writer does not own.
-- The script runs as a series (MustBatchScript) of groups, one per document. It reads and writes all groups together, which
-- saves most of the commands.
--
-- KEYS  1 document  2 its memo
-- ARGV  1 version (0 for a deletion of unknown version: the next one)  2 JSON, empty: deleted
--       3 index entries, one per line  4 TTL of a tombstone (ms)
--       5 index=field, one per line, of an entity whose documents show their entries in their JSON; empty for others
--       6 1: this JSON shows exactly the entries in 3
-- Returns per group - : dropped, Redis has a newer version; else + and the version, and after a line break the entries to
--         remove. * in place of + : Redis had neither a memo nor JSON that shows the entries, so entries of an earlier version
--         are unknown. A value of another format, written by another program, counts as no memo.
-- Memo  version, " x" if deleted, and the entries, one per line; entries to be removed begin with "-". A deleted
--       document's memo keeps them, so that a writer that restores the document removes those that it does not own. A
--       document that shows its entries has no memo, unless entries are still to be removed
-- Cost  O(entries), and reading the old JSON if there is no memo; creates the document and the memo without TTL, or the memo
--       of a deleted one with TTL
local function to_remove(entries, owned)
  if owned == '' then
    local all = string.gsub('\n' .. entries, '\n%-', '\n')
    return all, (string.gsub(all, '\n', '\n-'))
  end
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

-- shown returns the version and entries that a document's JSON shows. A quotation mark in a value is escaped, so that a
-- value cannot contain the name of a field with its marks.
local function shown(doc, fields)
  local version, entries = string.match(doc, '"version":(%d+)}$'), {}
  for index, field in string.gmatch(fields, '([^=\n]+)=([^\n]+)') do
    local value = string.match(doc, '"' .. field .. '":"([^"\\]+)"')
    if value then
      entries[#entries + 1] = index .. '=' .. value
    end
  end
  return version, table.concat(entries, '\n')
end

local function begin(memo, doc, version, body, owned, fields)
  local have, dead, entries = nil, '', ''
  if memo then
    have, dead, entries = string.match(memo, '^(%d+)( ?x?)\n?(.*)$')
  elseif doc then
    have, entries = shown(doc, fields)
  end
  if have then
    if body == '' and version == '0' then
      version = have
      if dead == '' and have ~= '0' then -- after FORGET (version 0) the memo stays older than every version
        version = string.format('%.0f', tonumber(have) + 1)
      end
    end
    local is, was = tonumber(version), tonumber(have)
    if is < was or (is == was and dead ~= '' and body ~= '') then
      return nil
    end
  end
  if have and entries ~= '' and entries ~= owned then
    return '+' .. version, to_remove(entries, owned)
  end
  return (have and '+' or '*') .. version, '', ''
end

local memo_keys, set, gone, replies = {}, {}, {}, {}
for i = 1, #KEYS / 2 do
  memo_keys[i] = KEYS[2 * i]
end
local memos = redis.call('MGET', unpack(memo_keys)) -- false for a value that is not a string
local doc_keys, without = {}, {}
for i, memo in ipairs(memos) do
  if not memo and ARGV[6 * i - 1] ~= '' then
    doc_keys[#doc_keys + 1], without[#without + 1] = KEYS[2 * i - 1], i
  end
end
local docs = {}
if #doc_keys > 0 then
  for j, doc in ipairs(redis.call('MGET', unpack(doc_keys))) do
    docs[without[j]] = doc
  end
end
for i, memo_key in ipairs(memo_keys) do
  local key, a = KEYS[2 * i - 1], 6 * i
  local body, owned = ARGV[a - 4], ARGV[a - 3]
  local version, removed, pending = begin(memos[i], docs[i], ARGV[a - 5], body, owned, ARGV[a - 1])
  if not version then
    replies[i] = '-'
  else
    replies[i], version = version .. removed, string.sub(version, 2)
    if body == '' then
      gone[#gone + 1] = key
      redis.call('SET', memo_key, version .. ' x' .. pending, 'PX', ARGV[a - 2])
    else
      local n = #set
      set[n + 1], set[n + 2] = key, body
      if ARGV[a] ~= '1' or pending ~= '' then
        set[n + 3], set[n + 4] = memo_key, version .. '\n' .. owned .. pending
      elseif memos[i] then
        gone[#gone + 1] = memo_key
      end
    end
  end
end
if #set > 0 then
  redis.call('MSET', unpack(set))
end
if #gone > 0 then
  redis.call('DEL', unpack(gone))
end
return replies

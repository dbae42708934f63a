package documentredis

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"comanda/internal/clock"
	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// indexOps collects additions to and removals from indexes. Members of one set share a command.
type indexOps struct {
	add, remove sets
	unique      []uniqueClaim
	cmds        []redisdb.Cmd
}

// sets groups members by key. Keys keep the order in which they were added, so replies can be matched by index.
type sets struct {
	at   map[keyspace.Key]int
	keys []keyspace.Key
	ids  [][]string
}

// uniqueClaim is a unique value that a document takes, with the index of its command.
type uniqueClaim struct {
	ref document.Ref
	at  int
}

func newIndexOps() *indexOps {
	return &indexOps{add: sets{at: map[keyspace.Key]int{}}, remove: sets{at: map[keyspace.Key]int{}}}
}

// put adds a member to a set and returns the index of the set.
func (s *sets) put(k keyspace.Key, member string) (at int) {
	i, ok := s.at[k]
	if !ok {
		i = len(s.keys)
		s.at[k] = i
		s.keys, s.ids = append(s.keys, k), append(s.ids, nil)
	}
	s.ids[i] = append(s.ids[i], member)
	return i
}

// list adds a document to the list of all of its entity, or removes it.
func (o *indexOps) list(r document.Ref, present bool) {
	if present {
		o.add.put(r.Entity.Keys.List(), r.ID)
	} else {
		o.remove.put(r.Entity.Keys.List(), r.ID)
	}
}

// entry adds or removes an entry under all of its keys.
func (o *indexOps) entry(r document.Ref, e document.IndexEntry, present bool) {
	for _, family := range e.Index.Keys {
		key, member := keyAndMember(family, r.ID, e.Value)
		if !key.Valid() { // from a memo that another program has written
			continue
		}
		switch {
		case e.Index.Unique && present:
			o.unique = append(o.unique, uniqueClaim{r, len(o.cmds)})
			// GET returns the former owner, which has lost its entry and must be projected again.
			o.cmds = append(o.cmds, redisdb.Command("SET", key, member, "GET"))
		case e.Index.Unique:
			o.cmds = append(o.cmds, removeScript.Command([]keyspace.Key{key}, member))
		case present:
			o.add.put(key, member)
		default:
			o.remove.put(key, member)
		}
	}
}

// keyAndMember returns the key of an entry and the value stored there.
func keyAndMember(family *keyspace.DocumentIndex, id, value string) (key keyspace.Key, member string) {
	if family.Own {
		return family.Key(id), value
	}
	return family.Key(value), id
}

// commands returns the set operations first; offsets from the end stay valid for commands appended to cmds.
func (o *indexOps) commands() []redisdb.Cmd {
	var cmds []redisdb.Cmd
	for i, k := range o.add.keys {
		cmds = append(cmds, redisdb.Command("SADD", k, o.add.ids[i]...))
	}
	for i, k := range o.remove.keys {
		cmds = append(cmds, redisdb.Command("SREM", k, o.remove.ids[i]...))
	}
	for i := range o.unique {
		o.unique[i].at += len(cmds)
	}
	o.cmds = append(cmds, o.cmds...)
	return o.cmds
}

// listChanges returns how many documents the commands have added to an entity's list, and how many they have removed.
func (o *indexOps) listChanges(e *document.Entity, replies []redisdb.Reply) (added, removed int64, err error) {
	list := e.Keys.List()
	if i, ok := o.add.at[list]; ok {
		if added, err = replies[i].Int(); err != nil {
			return 0, 0, err
		}
	}
	if i, ok := o.remove.at[list]; ok {
		removed, err = replies[len(o.add.keys)+i].Int()
	}
	return added, removed, err
}

// displaced returns the documents whose unique values another document has taken.
func (o *indexOps) displaced(replies []redisdb.Reply) []document.Ref {
	var refs []document.Ref
	for _, t := range o.unique {
		if id, ok, err := replies[t.at].Text(); err == nil && ok && id != t.ref.ID {
			refs = append(refs, document.Ref{Entity: t.ref.Entity, ID: id})
		}
	}
	return refs
}

// countShare limits the share of time, to 1 in countShare, in which the members of the embedded store's lists are counted. A
// Redis server counts a list of any size at once. The embedded store sorts all members to count them, and executes nothing
// else meanwhile.
const countShare = 100

// listSizes caches the sizes of the embedded store's lists, so that not every batch has to query them. Between two queries
// it adds the changes of this process.
type listSizes struct {
	// shared reports that other processes add documents too, so that every batch queries the sizes. A cached size lacks the
	// documents of other processes. A counter raised to it stays too low, which the sampler takes for a lost key.
	shared bool

	mu      sync.Mutex
	known   map[*document.Entity]*listSize
	running int // batches that are being written
	started int // batches so far
}

// listSize is the last known size of one list. It is queried again after pause.
type listSize struct {
	n     int64
	age   clock.Stopwatch
	pause time.Duration
}

// countRun is one batch. It uses the cached sizes only if no other batch is written at the same time. Otherwise the
// members that a size includes are unknown.
type countRun struct {
	sizes *listSizes
	alone bool
	nth   int
	since clock.Stopwatch
}

func (s *listSizes) begin() countRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	s.started++
	return countRun{s, s.running == 1, s.started, clock.Start()}
}

// due reports whether the batch must query the size of an entity's list.
func (c *countRun) due(e *document.Entity) bool {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	k := c.sizes.known[e]
	return c.sizes.shared || !c.alone || k == nil || k.age.Elapsed() >= k.pause
}

// changed returns the size of a list after the batch has added and removed members, for a list that was not due. It
// returns 0, which raises no counter, if another batch has made the size unknown since.
func (c *countRun) changed(e *document.Entity, added, removed int64) int64 {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	k := c.sizes.known[e]
	if k == nil {
		return 0
	}
	k.n += added - removed
	return k.n
}

// counted caches the size of a list that the batch has queried.
func (c *countRun) counted(e *document.Entity, n int64) {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	c.sizes.known[e] = &listSize{n, clock.Start(), countShare * c.since.Elapsed()}
}

// end drops the cached sizes of the batch's entities if they may be wrong: after a failure, or if another batch was
// written at the same time.
func (c *countRun) end(entities []*document.Entity, err error) {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	c.sizes.running--
	if err == nil && c.alone && c.sizes.started == c.nth {
		return
	}
	for _, e := range entities {
		delete(c.sizes.known, e)
	}
}

// A document of an entity with ShowsEntries needs no memo: its JSON shows its version and its index entries. The functions
// of this file read it exactly as the scripts BEGIN and FORGET do.

// shows reports whether a document's JSON shows exactly these entries, so that it needs no memo. It does not if a value is
// encoded in its index or escaped in JSON.
func shows(e *document.Entity, doc, entries string) bool {
	return e.ShowsEntries && shownEntries(e, doc) == entries
}

// shownEntries returns the entries that a document's JSON shows, in the form of memos.
func shownEntries(e *document.Entity, doc string) string {
	var b strings.Builder
	for _, x := range e.Indexes {
		_, rest, found := strings.Cut(doc, `"`+x.Field+`":"`)
		value, _, closed := strings.Cut(rest, `"`)
		if !found || !closed || value == "" || strings.Contains(value, `\`) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(x.Name)
		b.WriteByte('=')
		b.WriteString(value)
	}
	return b.String()
}

// shownMemo returns the memo that a document's JSON shows, or "" for a text that is no such document.
func shownMemo(e *document.Entity, doc string) string {
	at := strings.LastIndex(doc, versionField)
	version, closed := strings.CutSuffix(doc[max(at, 0):], "}")
	version = strings.TrimPrefix(version, versionField)
	if _, err := strconv.ParseUint(version, 10, 63); at < 0 || !closed || err != nil {
		return ""
	}
	return version + "\n" + shownEntries(e, doc)
}

const versionField = `"version":`

// shownFields returns the argument with which the scripts read entries: index=field, one per line.
func shownFields(e *document.Entity) string {
	if !e.ShowsEntries {
		return ""
	}
	lines := make([]string, len(e.Indexes))
	for i, x := range e.Indexes {
		lines[i] = x.Name + "=" + x.Field
	}
	return strings.Join(lines, "\n")
}

// flag returns a boolean argument of a script.
func flag(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

// Package documentredis stores documents in Redis: the JSON of each, its index entries, and a memo. The memo is a key
// with the document's version and the list of its index entries. An order and its lines have none as long as their JSON
// shows both; then "memo" below means what the JSON shows.
//
// A document is written in three round trips, each shared by hundreds of documents. BEGIN writes the JSON and the memo,
// unless the memo has a newer version, and returns the index entries that the document had before. Then entries are
// added and removed, on all nodes that have them. FINISH checks the memo once more. If it has another version by then,
// a newer writer has overtaken this one: the entries that the newer memo does not list are removed, and the document
// is projected again.
//
// Invariants:
//
//	D1  a document is never replaced by an older version of it, nor a deleted one by any version before its deletion
//	D2  every index entry of a document is listed in its memo from before it is added until after it is removed
//	D3  an entry of a unique index is removed only while it still leads to the document that releases it
//	D4  writing a version that is there already restores everything that belongs to it
//	D5  when no change is pending, documents, memos and entries are those that SQL implies
package documentredis

import (
	"context"
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
)

//go:embed lua/*.lua
var files embed.FS

var (
	beginScript  = redisdb.MustBatchScript(files, "lua/begin.lua")
	finishScript = redisdb.MustBatchScript(files, "lua/finish.lua")
	removeScript = redisdb.MustBatchScript(files, "lua/remove.lua")
	raiseScript  = redisdb.MustScript(files, "lua/raise.lua")
	markScript   = redisdb.MustScript(files, "lua/mark.lua")
	repairScript = redisdb.MustScript(files, "lua/repair.lua")
	forgetScript = redisdb.MustScript(files, "lua/forget.lua")
)

// Store implements document.Writer, document.Cache, document.Markers and document.Mirror on Redis.
type Store struct {
	db          *redisdb.DB
	step        int // most commands of one round trip
	markerSlots [keyspace.MarkerCount]int

	lists listSizes

	mu     sync.Mutex
	doubts map[document.Ref][]document.IndexEntry // entries that may have to be removed, see applyRun.rememberUncertain
}

// A round trip is bounded in commands and bytes, so that it ends well within the time-out of package redisdb. Guests'
// calls wait behind round trips, so all workers of a rebuild together must occupy a server for less than that time-out.
// The embedded store runs a script in a tenth of a millisecond, a Redis server in some ten microseconds.
const (
	stepServer   = 256
	stepEmbedded = 100
	stepBytes    = 512 << 10
)

// New returns a store.
func New(db *redisdb.DB) *Store {
	s := &Store{db: db, step: stepServer, doubts: map[document.Ref][]document.IndexEntry{}}
	s.lists.known, s.lists.shared = map[*document.Entity]*listSize{}, !db.Embedded()
	if db.Embedded() {
		s.step = stepEmbedded
	}
	for i, k := range markerKeys {
		s.markerSlots[i] = int(db.Slot(k))
	}
	return s
}

// Up reports whether Redis is likely to answer.
func (s *Store) Up() bool { return s.db.Up() }

// send is DoMulti in round trips of bounded size. After an error, later round trips are not sent.
func (s *Store) send(ctx context.Context, cmds []redisdb.Cmd) ([]redisdb.Reply, error) {
	all := make([]redisdb.Reply, 0, len(cmds))
	for len(cmds) > 0 {
		n := s.exchangeSize(cmds)
		replies, err := s.db.DoMulti(ctx, cmds[:n]...)
		all = append(all, replies...)
		if err != nil {
			return all, err
		}
		cmds = cmds[n:]
	}
	return all, nil
}

// exchangeSize returns how many of the commands share a round trip, at least one.
func (s *Store) exchangeSize(cmds []redisdb.Cmd) int {
	bytes := 0
	for i, c := range cmds {
		if bytes += c.Size(); i == s.step || bytes > stepBytes && i > 0 {
			return i
		}
	}
	return len(cmds)
}

// texts reads the values of keys like redisdb.DB.Texts, in round trips of bounded size.
func (s *Store) texts(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	all := make([]string, 0, len(keys))
	for batch := range slices.Chunk(keys, s.step) {
		texts, err := s.db.Texts(ctx, batch)
		if err != nil {
			return nil, err
		}
		all = append(all, texts...)
	}
	return all, nil
}

// lenient is send for commands on keys that other programs may have written: a key of another type fails in its own
// reply only.
func (s *Store) lenient(ctx context.Context, cmds []redisdb.Cmd) ([]redisdb.Reply, error) {
	all := make([]redisdb.Reply, 0, len(cmds))
	for batch := range slices.Chunk(cmds, s.step) {
		replies, err := s.db.DoMulti(ctx, batch...)
		if err != nil && !isWrongType(err) {
			return nil, err
		}
		for _, r := range replies {
			if err := r.Err(); err != nil && !isWrongType(err) {
				return nil, err
			}
		}
		all = append(all, replies...)
	}
	return all, nil
}

// membership returns for each set which of the ids are members, as 1 and 0. It returns none for a key of another type.
func (s *Store) membership(ctx context.Context, of sets) (present [][]int64, err error) {
	cmds := make([]redisdb.Cmd, len(of.keys))
	for i, k := range of.keys {
		cmds[i] = redisdb.Command("SMISMEMBER", k, of.ids[i]...)
	}
	replies, err := s.lenient(ctx, cmds)
	if err != nil {
		return nil, err
	}
	present = make([][]int64, len(replies))
	for i, r := range replies {
		if present[i], err = r.Ints(); err != nil && !isWrongType(err) {
			return nil, err
		}
	}
	return present, nil
}

// lenientTexts reads like texts, but returns "" for keys of another type.
func (s *Store) lenientTexts(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	texts, err := s.texts(ctx, keys)
	if !isWrongType(err) {
		return texts, err
	}
	replies, err := s.lenient(ctx, commands("GET", keys))
	if err != nil {
		return nil, err
	}
	texts = make([]string, len(keys))
	for i, r := range replies {
		texts[i], _, _ = r.Text() // empty for a value of another type
	}
	return texts, nil
}

// commands returns a command without arguments for each key.
func commands(verb string, keys []keyspace.Key) []redisdb.Cmd {
	return seq.Map(keys, func(k keyspace.Key) redisdb.Cmd { return redisdb.Command(verb, k) })
}

// entriesText returns entries in the form of memos.
func entriesText(entries []document.IndexEntry) string {
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	for i, e := range entries {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Index.Name)
		b.WriteByte('=')
		b.WriteString(e.Value)
	}
	return b.String()
}

// parseEntries skips lines of indexes that this release does not have.
func parseEntries(e *document.Entity, lines string) []document.IndexEntry {
	var entries []document.IndexEntry
	for line := range strings.SplitSeq(lines, "\n") {
		if entry, ok := e.ParseEntry(line); ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

// memo is the version and the index entries that Redis has of a document.
type memo struct {
	version int64
	dead    bool
	entries []document.IndexEntry // listed as its own; entries that are still to be removed are left out
}

// parseMemo parses a memo; ok is false if there is none.
func parseMemo(e *document.Entity, text string) (m memo, ok bool) {
	if text == "" {
		return m, false
	}
	head, lines, _ := strings.Cut(text, "\n")
	version, dead := strings.CutSuffix(head, " x")
	m.version, _ = strconv.ParseInt(version, 10, 64) // text that is not a number counts as older than any version
	m.dead, m.entries = dead, parseEntries(e, lines)
	return m, true
}

// Server implements document.Markers.
func (s *Store) Server(ctx context.Context) (string, error) { return s.db.Identity(ctx) }

var markerKeys = func() (keys [keyspace.MarkerCount]keyspace.Key) {
	for i := range keys {
		keys[i] = keyspace.Marker(i)
	}
	return keys
}()

// Markers implements document.Markers.
func (s *Store) Markers(ctx context.Context) ([]document.Marker, error) {
	texts, err := s.texts(ctx, markerKeys[:])
	if err != nil {
		return nil, err
	}
	markers := make([]document.Marker, len(texts))
	for i, text := range texts {
		markers[i].Epoch, markers[i].Building, _ = strings.Cut(text, "|")
	}
	return markers, nil
}

// MarkBuilding implements document.Markers. The old epoch stays readable until the rebuild ends. Reading and writing
// are two steps; only the builder with the claim writes markers.
func (s *Store) MarkBuilding(ctx context.Context, building string) error {
	markers, err := s.Markers(ctx)
	if err != nil {
		return err
	}
	cmds := make([]redisdb.Cmd, len(markers))
	for i, m := range markers {
		cmds[i] = redisdb.Command("SET", markerKeys[i], m.Epoch+"|"+building)
	}
	_, err = s.send(ctx, cmds)
	return err
}

// MarkBuilt implements document.Markers. Each marker is checked and set by one script. After a failure some markers may
// have the new epoch already; SQL does not name it, so no reader trusts them.
func (s *Store) MarkBuilt(ctx context.Context, building string) (ok bool, err error) {
	replies, err := s.send(ctx, seq.Map(markerKeys[:], func(k keyspace.Key) redisdb.Cmd {
		return markScript.Command([]keyspace.Key{k}, building)
	}))
	if err != nil {
		return false, err
	}
	for _, r := range replies {
		done, err := r.Int()
		if err != nil || done == 0 {
			return false, err
		}
	}
	return true, nil
}

// isCurrent reports whether the markers that are likely to be on the nodes of keys have an epoch. A node owns ranges
// of slots, so the marker nearest to a key's slot is on the key's node, except for keys at the ends of a range. On a
// single server, any marker is.
func (s *Store) isCurrent(ctx context.Context, epoch string, keys []keyspace.Key) (bool, error) {
	markers := seq.Map(keys, func(k keyspace.Key) keyspace.Key { return markerKeys[s.nearestMarker(k)] })
	texts, err := s.texts(ctx, markers)
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		if shown, _, _ := strings.Cut(text, "|"); shown != epoch || epoch == "" {
			return false, nil
		}
	}
	return true, nil
}

// nearestMarker returns the marker whose slot is nearest to the key's.
func (s *Store) nearestMarker(k keyspace.Key) int {
	slot, best := int(s.db.Slot(k)), 0
	for i, at := range s.markerSlots {
		if abs(at-slot) < abs(s.markerSlots[best]-slot) {
			best = i
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

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
)

//go:embed lua/*.lua
var files embed.FS

var (
	beginScript  = redisdb.MustBatchScript(files, "lua/begin.lua")
	finishScript = redisdb.MustBatchScript(files, "lua/finish.lua")
	removeScript = redisdb.MustBatchScript(files, "lua/remove.lua")
	raiseScript  = redisdb.MustScript(files, "lua/raise.lua")
	markScript   = redisdb.MustScript(files, "lua/mark.lua")
	mendScript   = redisdb.MustScript(files, "lua/mend.lua")
	forgetScript = redisdb.MustScript(files, "lua/forget.lua")
)

// Store implements document.Writer, document.Cache, document.Markers and document.Mirror on Redis.
type Store struct {
	db          *redisdb.DB
	step        int // commands in one exchange
	markerSlots [keyspace.EpochMarks]int

	mu     sync.Mutex
	doubts map[document.Ref][]document.IndexEntry // entries that may be left over, see applyRun.rememberUncertain
}

// An exchange is bounded in commands and bytes, so that it ends well within the patience of package redisdb, and so
// that all workers of a rebuild together keep a server busy for less than that: guests' calls wait behind theirs. The
// store inside the process runs a script in a tenth of a millisecond, a server in some ten microseconds.
const (
	stepServer   = 256
	stepEmbedded = 100
	stepBytes    = 512 << 10
)

// New returns a store.
func New(db *redisdb.DB) *Store {
	s := &Store{db: db, step: stepServer, doubts: map[document.Ref][]document.IndexEntry{}}
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

// send is DoMulti in exchanges of bounded size. After an error, later exchanges are not sent.
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

// exchangeSize returns how many of the commands share an exchange, at least one.
func (s *Store) exchangeSize(cmds []redisdb.Cmd) int {
	bytes := 0
	for i, c := range cmds {
		if bytes += c.Size(); i == s.step || bytes > stepBytes && i > 0 {
			return i
		}
	}
	return len(cmds)
}

// texts is Texts in exchanges of bounded size.
func (s *Store) texts(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	all := make([]string, 0, len(keys))
	for some := range slices.Chunk(keys, s.step) {
		texts, err := s.db.Texts(ctx, some)
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
	for some := range slices.Chunk(cmds, s.step) {
		replies, err := s.db.DoMulti(ctx, some...)
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

// lenientTexts is texts with "" for keys of another type.
func (s *Store) lenientTexts(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	texts, err := s.texts(ctx, keys)
	if !isWrongType(err) {
		return texts, err
	}
	cmds := make([]redisdb.Cmd, len(keys))
	for i, k := range keys {
		cmds[i] = redisdb.Command("GET", k)
	}
	replies, err := s.lenient(ctx, cmds)
	if err != nil {
		return nil, err
	}
	texts = make([]string, len(keys))
	for i, r := range replies {
		texts[i], _, _ = r.Text() // of another type: nothing
	}
	return texts, nil
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
	entries []document.IndexEntry // that it owns; those that are still to be removed are left out
}

// parseMemo parses a memo; ok is false if there is none.
func parseMemo(e *document.Entity, text string) (m memo, ok bool) {
	if text == "" {
		return m, false
	}
	head, lines, _ := strings.Cut(text, "\n")
	version, dead := strings.CutSuffix(head, " x")
	m.version, _ = strconv.ParseInt(version, 10, 64) // what is no number is older than everything
	m.dead, m.entries = dead, parseEntries(e, lines)
	return m, true
}

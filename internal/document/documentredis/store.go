package documentredis

import (
	"context"
	"embed"
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
	beginScript  = redisdb.MustScript(files, "lua/begin.lua")
	finishScript = redisdb.MustScript(files, "lua/finish.lua")
	removeScript = redisdb.MustScript(files, "lua/remove.lua")
	raiseScript  = redisdb.MustScript(files, "lua/raise.lua")
	markScript   = redisdb.MustScript(files, "lua/mark.lua")
)

// Store is document.Writer, document.Cache, document.Marks and document.Mirror on a Redis.
type Store struct {
	db        *redisdb.DB
	step      int // commands in one exchange
	markSlots [keyspace.EpochMarks]int

	mu     sync.Mutex
	doubts map[document.Ref][]document.Entry // entries that may have been added for nothing, see round.doubt
}

// The store inside the process runs a script in a tenth of a millisecond, a server in some microseconds; an exchange must
// end well within the patience of package redisdb.
const (
	stepServer   = 2000
	stepEmbedded = 100
)

// New makes a store.
func New(db *redisdb.DB) *Store {
	s := &Store{db: db, step: stepServer, doubts: map[document.Ref][]document.Entry{}}
	if db.Embedded() {
		s.step = stepEmbedded
	}
	for i, k := range markKeys {
		s.markSlots[i] = int(db.Slot(k))
	}
	return s
}

// Up tells whether Redis is being asked.
func (s *Store) Up() bool { return s.db.Up() }

// send is DoMulti in steps.
func (s *Store) send(ctx context.Context, cmds []redisdb.Cmd) ([]redisdb.Reply, error) {
	if len(cmds) <= s.step {
		return s.db.DoMulti(ctx, cmds...)
	}
	all := make([]redisdb.Reply, 0, len(cmds))
	for from := 0; from < len(cmds); from += s.step {
		replies, err := s.db.DoMulti(ctx, cmds[from:min(from+s.step, len(cmds))]...)
		all = append(all, replies...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// texts is Texts in steps.
func (s *Store) texts(ctx context.Context, keys []keyspace.Key) ([]string, error) {
	if len(keys) <= s.step {
		return s.db.Texts(ctx, keys)
	}
	all := make([]string, 0, len(keys))
	for from := 0; from < len(keys); from += s.step {
		texts, err := s.db.Texts(ctx, keys[from:min(from+s.step, len(keys))])
		if err != nil {
			return nil, err
		}
		all = append(all, texts...)
	}
	return all, nil
}

// entriesText is entries as memos keep them.
func entriesText(entries []document.Entry) string {
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

func parseEntries(e *document.Entity, lines string) []document.Entry {
	var entries []document.Entry
	for line := range strings.SplitSeq(lines, "\n") {
		if entry, ok := e.ParseEntry(line); ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

// memo is what is remembered about a document.
type memo struct {
	version int64
	dead    bool
	entries []document.Entry
}

// parseMemo reads a memo; ok is false when there is none.
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

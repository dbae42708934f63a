package stockredis

import (
	"cmp"
	"embed"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
	"comanda/internal/stock"
	"comanda/internal/stock/stockmetrics"
)

// Config is the configuration of a Cache. Only Now is required.
type Config struct {
	Now            func() time.Time      // clock of time-outs and TTLs; required
	ProvisionalTTL time.Duration         // lifetime of a provisional hold without a commit; default 30 s
	Timeout        time.Duration         // after which Reserve returns Cold; default 100 ms, 500 ms for the embedded store
	Log            *slog.Logger          // default: discard
	Metrics        prometheus.Registerer // default: none
}

// Cache implements stock.AdmissionCache on Redis. It is safe for concurrent use. It has no state that must survive a
// restart.
type Cache struct {
	db       *redisdb.DB
	cfg      Config
	metrics  *stockmetrics.Metrics
	maxCalls int

	lastLogged atomic.Int64 // unix second of the last logged rejection

	mu     sync.Mutex
	queues map[stock.Scope]*queue // scopes with waiting or running calls
}

// New returns a cache on a connection.
func New(db *redisdb.DB, cfg Config) *Cache {
	timeout, calls := 100*time.Millisecond, maxCallsPerScope
	if db.Embedded() { // the embedded store is never out of reach, only as busy as this process
		timeout, calls = 500*time.Millisecond, maxCallsEmbedded
	}
	cfg.ProvisionalTTL = cmp.Or(cfg.ProvisionalTTL, stock.ProvisionalTTL)
	cfg.Timeout = cmp.Or(cfg.Timeout, timeout)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Cache{db: db, cfg: cfg, metrics: stockmetrics.New(cfg.Metrics), maxCalls: calls, queues: map[stock.Scope]*queue{}}
}

// maxLoggedHolds is the maximum number of holds that the log record of a rejected call names.
const maxLoggedHolds = 20

// logRejected logs a rejection by the server, at most one per second: a fault usually affects all orders. The metrics
// of package redisdb count all of them. A call serves the requests of many guests. The record has the request id of the
// first of them, by its context, and the ids of the holds, which are the ids of the orders that met the failure.
func (ac *Cache) logRejected(what string, s stock.Scope, batch []*waiter, err error) {
	now := ac.cfg.Now().Unix()
	if ac.lastLogged.Swap(now) == now {
		return
	}
	ids := seq.Map(batch[:min(len(batch), maxLoggedHolds)], func(w *waiter) string { return w.hold.ID })
	ac.cfg.Log.ErrorContext(batch[0].ctx, "redis rejected a call of the admission cache", "what", what, "branch", s.Branch,
		"date", s.Date, "requests", len(batch), "holds", strings.Join(ids, " "), "err", err)
}

// counterKeys returns the three hashes of a scope, the first keys of every script, with room for more.
func counterKeys(s stock.Scope, more int) []keyspace.Key {
	keys := make([]keyspace.Key, 0, 3+more)
	if s.IsStock() {
		return append(keys, keyspace.StockCap(s.Branch), keyspace.StockReserved(s.Branch), keyspace.StockSold(s.Branch))
	}
	return append(keys,
		keyspace.QuotaCap(s.Branch, s.Date), keyspace.QuotaHeld(s.Branch, s.Date), keyspace.QuotaPaid(s.Branch, s.Date))
}

// recordKey returns the key of a hold's record, or of the part of it in the scope.
func recordKey(s stock.Scope, id string) keyspace.Key {
	if s.IsStock() {
		return keyspace.Reservation(s.Branch, id)
	}
	return keyspace.HoldRecord(s.Branch, id)
}

// provisionalKey returns the key of the provisional holds of a branch's stock, or of the quotas on all of its dates.
func provisionalKey(s stock.Scope) keyspace.Key {
	if s.IsStock() {
		return keyspace.ReservationsDue(s.Branch)
	}
	return keyspace.LeasesDue(s.Branch)
}

// errHold reports a defect of the caller: hold ids are created by this program and never chosen by a client.
var errHold = errors.New("stockredis: the hold's id or branch cannot stand in a key")

// check rejects an invalid hold and returns the key of its record. One invalid hold would make the shared script call
// fail for all reservations in it.
func check(h stock.Hold) (keyspace.Key, error) {
	record := recordKey(h.Scope, h.ID)
	if !record.Valid() {
		return record, errHold
	}
	return record, h.ValidatePart()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func capText(c int64) string {
	if c == stock.Unlimited {
		return "*"
	}
	return decimal(c)
}

func millis(t time.Time) string { return decimal(t.UnixMilli()) }

// ttlMillis formats a TTL. Scripts receive durations and no instants, because Redis has its own clock.
func ttlMillis(d time.Duration) string { return decimal(d.Milliseconds()) }

//go:embed lua/*.lua
var files embed.FS

var (
	tryScript      = redisdb.MustScript(files, "lua/try.lua")
	applyScript    = redisdb.MustScript(files, "lua/apply.lua")
	beginScript    = redisdb.MustScript(files, "lua/begin.lua")
	loadScript     = redisdb.MustScript(files, "lua/load.lua")
	finishScript   = redisdb.MustScript(files, "lua/finish.lua")
	readScript     = redisdb.MustScript(files, "lua/read.lua")
	snapshotScript = redisdb.MustScript(files, "lua/snapshot.lua")
	hotScript      = redisdb.MustScript(files, "lua/hot.lua")
)

// Limits of one script call. They bound how long a call blocks the server, and the arguments that Lua can unpack at
// once (about 8,000 in Redis, 5,000 in the embedded store).
const (
	maxBatch    = 128  // holds
	maxLines    = 1000 // lines of all holds together
	maxCounters = 1000 // counters in one piece of a snapshot, items in one read
)

// scopeUnknown is the first element of a reply about a scope that the cache lacks, 1 that of any other.
const scopeUnknown = 0

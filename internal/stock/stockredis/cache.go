package stockredis

import (
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
)

// Config says how the gate waits. The zero value is right for production but for Now.
type Config struct {
	Now            func() time.Time      // the clock of leases and lives; required
	ProvisionalTTL time.Duration         // how long a TRY holds before SQL must have confirmed it; default 30 s
	Timeout        time.Duration         // after which a TRY answers Cold; default 100 ms, 500 ms for the embedded store
	Log            *slog.Logger          // default: discard
	Metrics        prometheus.Registerer // default: none
}

// Gate is the gate. It is safe for concurrent use and holds nothing that a restart would lose.
type Cache struct {
	db       *redisdb.DB
	cfg      Config
	metrics  metrics
	maxCalls int

	lastLogged atomic.Int64 // the second of the last complaint

	mu     sync.Mutex
	queues map[stock.Scope]*queue // scopes with reservations under way
}

// New makes a gate over a connection.
func New(db *redisdb.DB, cfg Config) *Cache {
	if cfg.ProvisionalTTL <= 0 {
		cfg.ProvisionalTTL = 30 * time.Second
	}
	if cfg.Timeout <= 0 && db.Embedded() { // it cannot be out of reach, only as busy as we are ourselves
		cfg.Timeout = 500 * time.Millisecond
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 100 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	g := &Cache{
		db: db, cfg: cfg, metrics: newMetrics(cfg.Metrics), maxCalls: maxCallsPerScope, queues: map[stock.Scope]*queue{},
	}
	if db.Embedded() {
		g.maxCalls = maxCallsEmbedded
	}
	return g
}

// complain logs a refusal of the server, at most one a second: what fails once fails for every order alike.
func (g *Cache) logRejected(what string, s stock.Scope, err error) {
	now := g.cfg.Now().Unix()
	if g.lastLogged.Swap(now) != now {
		g.cfg.Log.Error("the gate was refused", "what", what, "branch", s.Branch, "date", s.Date, "err", err)
	}
}

// counterKeys are the three hashes of a scope, first in the keys of every script.
func counterKeys(s stock.Scope, more int) []keyspace.Key {
	keys := make([]keyspace.Key, 0, 3+more)
	if s.IsStock() {
		return append(keys, keyspace.StockCap(s.Branch), keyspace.StockReserved(s.Branch), keyspace.StockSold(s.Branch))
	}
	return append(keys,
		keyspace.QuotaCap(s.Branch, s.Date), keyspace.QuotaHeld(s.Branch, s.Date), keyspace.QuotaPaid(s.Branch, s.Date))
}

// recordKey is the key of a hold's record, or of that part of it which is in the scope.
func recordKey(s stock.Scope, id string) keyspace.Key {
	if s.IsStock() {
		return keyspace.Reservation(s.Branch, id)
	}
	return keyspace.HoldRecord(s.Branch, id)
}

// leasesKey is the key of the leases of a branch's stock, or of the quotas of all of its dates.
func provisionalKey(s stock.Scope) keyspace.Key {
	if s.IsStock() {
		return keyspace.ReservationsDue(s.Branch)
	}
	return keyspace.LeasesDue(s.Branch)
}

// errHold is a defect of the caller: ids are ours, never a stranger's.
var errHold = errors.New("stockredis: the hold's id or branch cannot stand in a key")

// check refuses a hold that no script may see, because it would spoil the call that it shares with others, and gives
// the key of the hold's record.
func check(h stock.Hold) (keyspace.Key, error) {
	record := recordKey(h.Scope, h.ID)
	if !record.Valid() || len(h.Stock) > 0 { // a call is about one scope
		return record, errHold
	}
	most := stock.MaxLines
	if h.Scope.IsStock() {
		most = stock.MaxStockLines
	}
	if len(h.Lines) == 0 || len(h.Lines) > most {
		return record, stock.ErrInvalidLines
	}
	for i, l := range h.Lines {
		if l.Qty < 1 || l.Qty > stock.MaxUnits || l.Item < 1 || i > 0 && l.Item <= h.Lines[i-1].Item {
			return record, stock.ErrInvalidLines
		}
	}
	return record, nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func capText(c int64) string {
	if c == stock.Unlimited {
		return "*"
	}
	return decimal(c)
}

func millis(t time.Time) string { return decimal(t.UnixMilli()) }

// lasting is a TTL. Redis has a clock of its own, so it is given spans and no instants.
func ttlMillis(d time.Duration) string { return decimal(d.Milliseconds()) }

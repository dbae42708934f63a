package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// floorSuffix ends the name of the floor's SQLite file, beside the product's (B3).
const floorSuffix = ".floor"

// Limits of the floor's group commit, the same as the ledger's.
const (
	floorBatch = 512
	floorQueue = 8192
)

// floor is the smallest program that stores an order: it decodes the request that the product receives, and responds
// when the order, its lines, its counters and one event are on disk. A counter never exceeds its cap. It has no
// guests, menus, prices, repetitions, holds, documents or deadlines. The difference to the product's rate is the cost
// of those.
//
// It is an http.Handler, safe for concurrent use.
type floor struct {
	db     *sqldb.DB
	remove func() error
	group  *sqldb.Group[floorOrder, struct{}]
	most   int64 // units of every dish
}

// floorOrder is an order as it is written. Everything is computed before it is queued, because the group's goroutine is
// the only one that writes.
type floorOrder struct {
	id, key, method, event string
	total                  int64
	lines                  []floorLine
}

type floorLine struct{ item, qty int64 }

// floorPlaced is the response to an order.
type floorPlaced struct {
	ID         string `json:"id"`
	TotalPrice int64  `json:"totalPrice"`
}

// floorCounts is the response to every request that is not an order.
type floorCounts struct {
	Orders  int64 `json:"orders"` // committed
	Commits int64 `json:"commits"`
}

// openFloor creates the floor's tables: in the product's PostgreSQL database, or in a file beside the SQLite one. It
// first removes tables that a killed run has left. The caller must call close.
func openFloor(ctx context.Context, address string, maxUnits int64) (*floor, error) {
	remove := func() error { return nil }
	if strings.HasPrefix(address, string(sqldb.SQLite)) {
		address += floorSuffix
		remove = func() error { return removeFile(address) }
		if err := remove(); err != nil {
			return nil, fmt.Errorf("bench: floor: %w", err)
		}
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address, MaxConns: 2})
	if err != nil {
		return nil, err
	}
	f := &floor{db: db, remove: remove, most: maxUnits}
	if err = db.Durable(ctx); err == nil {
		err = f.create(ctx)
	}
	if err != nil {
		db.Close()
		return nil, errors.Join(err, remove())
	}
	f.group = sqldb.NewGroup(db, sqldb.GroupConfig[floorOrder, struct{}]{Run: f.write, Max: floorBatch, Queue: floorQueue})
	return f, nil
}

func (f *floor) create(ctx context.Context) error {
	return f.run(ctx, "floor_order_drop", "floor_line_drop", "floor_counter_drop", "floor_event_drop",
		"floor_order_create", "floor_line_create", "floor_counter_create", "floor_event_create")
}

func (f *floor) run(ctx context.Context, statements ...string) error {
	for _, name := range statements {
		if _, err := f.db.Exec(ctx, floorStmt(name)); err != nil {
			return err
		}
	}
	return nil
}

// close drops the tables, even after an interrupt. Orders that arrive meanwhile are refused.
func (f *floor) close() error {
	f.group.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
	defer cancel()
	err := f.run(ctx, "floor_order_drop", "floor_line_drop", "floor_counter_drop", "floor_event_drop")
	f.db.Close()
	return errors.Join(err, f.remove())
}

// ServeHTTP places an order. Any request but a POST returns the counts.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost {
		var n floorCounts
		n.Commits, n.Orders = f.group.Stats()
		_ = json.NewEncoder(w).Encode(n) // the client may have disconnected
		return
	}
	var in orderBody
	err := json.NewDecoder(r.Body).Decode(&in)
	var o floorOrder
	if err == nil {
		o, err = newFloorOrder(in, f.db.Now())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch _, err := f.group.Do(r.Context(), o); {
	case errors.Is(err, sqldb.ErrCheck):
		http.Error(w, "sold out", http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(floorPlaced{o.id, o.total}) // likewise
	}
}

var errFloorOrder = errors.New("an order has a clientTxnId and lines of at least one unit of a dish")

// newFloorOrder checks an order. All dishes have the benchmark's price.
func newFloorOrder(in orderBody, now time.Time) (floorOrder, error) {
	o := floorOrder{id: uid.New(now), key: in.ClientTxnID, method: in.PaymentMethod, lines: make([]floorLine, len(in.Items))}
	if len(in.Items) == 0 || in.ClientTxnID == "" {
		return o, errFloorOrder
	}
	for i, it := range in.Items {
		item, err := strconv.ParseInt(it.ItemID, 10, 64)
		if err != nil || it.Qty < 1 {
			return o, errFloorOrder
		}
		o.lines[i] = floorLine{item, it.Qty}
		o.total += it.Qty * itemPrice
	}
	o.event = `{"orderId":"` + o.id + `","totalAmount":` + strconv.FormatInt(o.total, 10) + `,"currency":"VND"}`
	return o, nil
}

// write runs a batch in one round trip: the statements travel with their commit. A counter that would exceed its cap
// fails the batch, and the group then halves it until the orders that exceed it are alone.
func (f *floor) write(_ context.Context, tx sqldb.Tx, orders []floorOrder) ([]struct{}, error) {
	type row struct {
		order string
		n     int
		floorLine
	}
	lines := make([]row, 0, len(orders)*lineCount)
	sums := map[int64]int64{}
	for _, o := range orders {
		for n, l := range o.lines {
			lines = append(lines, row{o.id, n + 1, l})
			sums[l.item] += l.qty
		}
	}
	items := slices.Sorted(maps.Keys(sums)) // locks in one order
	at := f.db.Now().UnixMilli()
	tx.Queue(floorStmt("floor_counter_add"), sqldb.NewRowSet(len(items)).
		Int("item", func(i int) int64 { return items[i] }).
		Int("qty", func(i int) int64 { return sums[items[i]] }), f.most)
	tx.Queue(floorStmt("floor_order_insert"), sqldb.NewRowSet(len(orders)).
		Text("id", func(i int) string { return orders[i].id }).
		Text("key", func(i int) string { return orders[i].key }).
		Text("method", func(i int) string { return orders[i].method }).
		Int("total", func(i int) int64 { return orders[i].total }), at)
	tx.Queue(floorStmt("floor_line_insert"), sqldb.NewRowSet(len(lines)).
		Text("order_id", func(i int) string { return lines[i].order }).
		Int("line", func(i int) int64 { return int64(lines[i].n) }).
		Int("item", func(i int) int64 { return lines[i].item }).
		Int("qty", func(i int) int64 { return lines[i].qty }), int64(itemPrice))
	tx.Queue(floorStmt("floor_event_insert"), sqldb.NewRowSet(len(orders)).
		Text("id", func(i int) string { return orders[i].id }).
		Text("payload", func(i int) string { return orders[i].event }), at)
	return make([]struct{}, len(orders)), nil
}

// ServeFloor serves the floor on a local address until ctx ends, on the database of the product that it is compared
// with. It runs in a process of its own, like the server.
func ServeFloor(ctx context.Context, listen, databaseURL string) error {
	f, err := openFloor(ctx, databaseURL, catalog.MaxQuota)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return errors.Join(fmt.Errorf("bench: floor: %w", err), f.close())
	}
	mux := http.NewServeMux()
	mux.Handle("/", f)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile) // compared with the server's
	stop := serve(l, mux)
	<-ctx.Done()
	stop()
	return f.close()
}

// Statements of the floor. They are loaded separately, because they can be prepared only if the floor's tables exist.
var (
	floorStatements = func() *sqldb.Stmts {
		sub, err := fs.Sub(files, "sql")
		if err != nil {
			panic(err) // the files are embedded
		}
		return sqldb.Load(sub)
	}()
	floorStmt = floorStatements.Must
)

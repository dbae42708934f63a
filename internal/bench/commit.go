package bench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// maxCommits is the maximum number of orders of one measurement, so that a fast machine does not fill its disk: an order
// takes a few kilobytes in tables and indexes.
const maxCommits = 2_000_000

// Values that all raw orders share. They are as long as the product's, because the size of rows and indexes decides
// how fast they are written.
const (
	rawVisit = "00000000000000000000000000"
	rawGuest = "00000000000000000000"
	rawLife  = 16*time.Minute + 30*time.Second
)

// commitLimit measures how many orders per second one writer can commit when it only writes their rows, batch orders
// per transaction. There is one writer, because the product's ledger is one. The next page is built while the previous
// one is committed, so that the measurement is of the database and not of building rows. It writes to a scratch
// database.
func commitLimit(ctx context.Context, db *sqldb.DB, batch int, warmup, d time.Duration) (Rate, error) {
	ctx, stop := context.WithCancel(ctx)
	// One page ahead lets building and committing overlap. More would only take memory.
	pages := make(chan page, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(pages)
		for first := 0; first < maxCommits; first += batch {
			select {
			case pages <- newPage(db.Now(), first, batch):
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		stop()
		<-done
	}()
	r := Rate{Batch: float64(batch)}
	from := time.Now().Add(warmup)
	var counted int64
	var took time.Duration
	for p := range pages {
		if err := db.Write(ctx, p.write); err != nil {
			return r, err
		}
		// A transaction that ends within the warm-up is not counted.
		if took = time.Since(from); took < 0 {
			continue
		}
		counted += int64(batch)
		if took >= d {
			break
		}
	}
	r.PerSecond = perSecond(counted, took)
	return r, ctx.Err()
}

func perSecond(n int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// page contains the rows of the orders of one transaction, as statements with their arguments. It is built outside the
// transaction and written once.
type page []statement

type statement struct {
	sql  *sqldb.Stmt
	args []any
}

// rawDate is the business date of all raw orders; any date will do.
const rawDate = "2026-02-26"

// newPage returns the rows of n orders, with the numbers first+1 to first+n. Every order has its own id and key, and
// the dishes rotate, so that orders share counters.
func newPage(now time.Time, first, n int) page {
	ids := make([]string, n)
	dishes := make([]int64, 0, n*lineCount)
	for i := range n {
		ids[i] = uid.New(now)
		for _, l := range rawLines(int64((first + i) * lineCount)) {
			dishes = append(dishes, l.Item)
		}
	}
	id := func(i int) string { return ids[i] }
	fresh := func(int) string { return uid.New(now) }
	key := func(i int) string { return "bench-" + ids[i] }
	line := func(i int) string { return ids[i/lineCount] }
	item := func(i int) int64 { return dishes[i] }
	at, expires := now.UnixMilli(), now.Add(rawLife).UnixMilli()
	orders := sqldb.NewRowSet(n).Text("id", id).Text("key", key).
		Text("digest", func(i int) string { return ids[i][:24] }).
		Int("number", func(i int) int64 { return int64(first + i + 1) })
	items := sqldb.NewRowSet(n*lineCount).Text("id", line).
		Int("line", func(i int) int64 { return int64(i%lineCount + 1) }).Int("item", item)
	events := sqldb.NewRowSet(n).Text("id", fresh).Text("order_id", id).
		Text("payload", func(i int) string {
			return fmt.Sprintf(`{"orderId":"%s","branchId":"%d","bizDate":"%s","totalAmount":%d,"currency":"VND","payBy":"%s"}`,
				ids[i], branchID, rawDate, lineCount*itemPrice, "2026-02-26T05:15:00.123Z")
		})
	return page{
		{stmt("counter_add"), []any{counted(dishes)}},
		{stmt("hold_insert"), []any{sqldb.NewRowSet(n).Text("id", id).
			Text("lines", func(i int) string { return heldLines(dishes[i*lineCount : (i+1)*lineCount]) }), rawDate, at, expires}},
		{stmt("order_insert"), []any{orders, rawDate, at, expires, rawVisit, rawGuest}},
		{stmt("order_item_insert"), []any{items}},
		{stmt("event_insert"), []any{events, at}},
		{stmt("ops_insert"), []any{uid.New(now), rawDate, rawOps(ids, item, expires), at}},
	}
}

// heldLines returns one unit of each dish in the form of hold.lines.
func heldLines(dishes []int64) string {
	lines := make([]string, len(dishes))
	for i, d := range dishes {
		lines[i] = strconv.FormatInt(d, 10) + ":1"
	}
	return strings.Join(lines, " ")
}

// counted sums the units per item, so that each counter is written once per transaction. The product sums them as well:
// two rows for one counter in one UPDATE would apply only one of them.
func counted(dishes []int64) *sqldb.RowSet {
	sums := map[int64]int64{}
	var items []int64
	for _, d := range dishes {
		if sums[d] == 0 {
			items = append(items, d)
		}
		sums[d]++
	}
	return sqldb.NewRowSet(len(items)).Int("branch_id", func(int) int64 { return branchID }).
		Text("stat_date", func(int) string { return rawDate }).
		Int("item", func(i int) int64 { return items[i] }).
		Int("qty", func(i int) int64 { return sums[items[i]] })
}

// rawOps returns the redis_outbox rows as the ledger writes them.
func rawOps(ids []string, item func(line int) int64, until int64) string {
	var b strings.Builder
	for i, id := range ids {
		l := i * lineCount
		fmt.Fprintf(&b, `,{"k":"HELD","id":"%s","l":[[%d,1],[%d,1],[%d,1]],"u":%d}`, id, item(l), item(l+1), item(l+2), until)
	}
	return "[" + b.String()[1:] + "]"
}

// write sends the page and its commit in one round trip, without queries in between.
func (p page) write(_ context.Context, tx sqldb.Tx) error {
	for _, s := range p {
		tx.Queue(s.sql, s.args...)
	}
	return nil
}

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// kept reads the rows that a floor has written.
var kept = sqldb.Load(fstest.MapFS{"kept.sql": {Data: []byte(`-- name: kept_orders
SELECT o.id, o.client_txn_id, o.total_amount, (SELECT count(*) FROM floor_line l WHERE l.order_id = o.id),
       (SELECT count(*) FROM floor_event e WHERE e.order_id = o.id AND e.payload LIKE '%' || o.id || '%')
FROM floor_order o
ORDER BY o.id

-- name: kept_strays
SELECT (SELECT count(*) FROM floor_line l WHERE l.order_id NOT IN (SELECT id FROM floor_order))
     + (SELECT count(*) FROM floor_event e WHERE e.order_id NOT IN (SELECT id FROM floor_order))

-- name: kept_counters
SELECT c.item_id, c.used FROM floor_counter c

-- name: kept_sums
SELECT l.item_id, sum(l.qty) /*pg: ::bigint */ FROM floor_line l GROUP BY l.item_id
`)}})

// onEngines runs a test with the address of a database of each engine that is durable.
func onEngines(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, sqldbtest.SQLiteURL(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, sqldbtest.PostgresURL(t)) })
}

func openTestFloor(t *testing.T, address string, most int64) *floor {
	t.Helper()
	f := testenv.Must(openFloor(t.Context(), address, most))(t)
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// orderOf returns the body of an order of one portion of each dish.
func orderOf(key string, dishes ...int) string {
	items := make([]string, len(dishes))
	for i, d := range dishes {
		items[i] = fmt.Sprintf(`{"itemId":"%d","qty":1}`, d)
	}
	return fmt.Sprintf(`{"items":[%s],"paymentMethod":"COUNTER","clientTxnId":"%s"}`, strings.Join(items, ","), key)
}

// checkKept compares the rows with the acknowledged orders, by id: no row is missing and, if exactly is set, there are
// no others.
func checkKept(t *testing.T, db *sqldb.DB, acknowledged map[string]string, exactly bool) {
	t.Helper()
	// One snapshot: the server may still commit a transaction of a process that was killed.
	testenv.NoError(t, db.Snapshot(t.Context(), func(ctx context.Context, at sqldb.Reader) error {
		checkKeptAt(ctx, t, at, acknowledged, exactly)
		return nil
	}))
}

func checkKeptAt(ctx context.Context, t *testing.T, at sqldb.Reader, acknowledged map[string]string, exactly bool) {
	t.Helper()
	n := 0
	err := sqldb.Each(ctx, at, func(r sqldb.Rows) error {
		var id, key string
		var total, lines, events int64
		err := r.Scan(&id, &key, &total, &lines, &events)
		want, ok := acknowledged[id]
		if ok {
			n++
		}
		if !ok && exactly || ok && want != key || total != lines*itemPrice || lines != lineCount || events != 1 {
			t.Errorf("order %s (%s) of %d has %d lines and %d events; acknowledged: %v", id, key, total, lines, events, ok)
		}
		return err
	}, kept.Must("kept_orders"))
	if err != nil || n != len(acknowledged) {
		t.Errorf("%d of %d acknowledged orders are stored, %v", n, len(acknowledged), err)
	}
	if strays, err := sqldb.Scalar[int64](ctx, at, kept.Must("kept_strays")); err != nil || strays > 0 {
		t.Errorf("%d rows of refused orders, %v", strays, err)
	}
	used := testenv.Must(sqldb.Map[int64, int64](ctx, at, kept.Must("kept_counters")))(t)
	sums, err := sqldb.Map[int64, int64](ctx, at, kept.Must("kept_sums"))
	if diff := cmp.Diff(sums, used); diff != "" || err != nil {
		t.Errorf("lines and counters differ: %s, %v", diff, err)
	}
}

// Of many orders of one scarce dish at once, exactly as many are acknowledged as there are portions, and those are the
// orders that are stored.
func TestFloor_writes_acknowledged_orders(t *testing.T) {
	const callers, each, portions = 32, 8, 100
	onEngines(t, func(t *testing.T, address string) {
		f := openTestFloor(t, address, portions)
		var mu sync.Mutex
		acknowledged, status := map[string]string{}, map[int]int{}
		var all sync.WaitGroup
		for c := range callers {
			all.Go(func() {
				for i := range each {
					key := fmt.Sprintf("%d-%d", c, i)
					w := httptest.NewRecorder()
					// The scarce dish, one of two dishes that may run out, and a dish that never does.
					body := orderOf(key, 1, 2+i%2, 1000+c)
					f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, orderPath, strings.NewReader(body)))
					mu.Lock()
					status[w.Code]++
					if w.Code == http.StatusCreated {
						var placed floorPlaced
						if err := json.Unmarshal(w.Body.Bytes(), &placed); err != nil || placed.TotalPrice != lineCount*itemPrice {
							t.Errorf("order = %s, %v, want a total of %d", w.Body, err, lineCount*itemPrice)
						}
						acknowledged[placed.ID] = key
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if status[http.StatusCreated] != portions || status[http.StatusConflict] != callers*each-portions {
			t.Errorf("by status: %v", status)
		}
		checkKept(t, f.db, acknowledged, true)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
		var n floorCounts
		if err := json.Unmarshal(w.Body.Bytes(), &n); err != nil || n.Orders != portions || n.Commits < 1 || n.Commits > portions {
			t.Errorf("counts = %s, %v, want %d orders in at most as many commits", w.Body, err, portions)
		}
	})
}

func TestFloor_refuses_invalid_orders(t *testing.T) {
	f := openTestFloor(t, sqldbtest.SQLiteURL(t), 10)
	for _, body := range []string{
		"", "{}", orderOf("", 1), orderOf("a"), `{"items":[{"itemId":"x","qty":1}],"clientTxnId":"a"}`,
		`{"items":[{"itemId":"1","qty":0}],"clientTxnId":"a"}`, `{"items":[{"itemId":"1","qty":-1}],"clientTxnId":"a"}`,
	} {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, orderPath, strings.NewReader(body)))
		if w.Code != http.StatusBadRequest {
			t.Errorf("POST %s = %d, want %d", body, w.Code, http.StatusBadRequest)
		}
	}
	checkKept(t, f.db, nil, true)
}

// B3: the floor's tables are removed, even those of an earlier run that was killed, and the product's are not touched.
func TestFloor_removes_its_data(t *testing.T) {
	onEngines(t, func(t *testing.T, address string) {
		killed := testenv.Must(openFloor(t.Context(), address, 10))(t)
		testenv.Must(killed.group.Do(t.Context(), floorOrder{id: "a", key: "a"}))(t)
		killed.group.Stop() // without close, as if the process had ended
		killed.db.Close()
		f := testenv.Must(openFloor(t.Context(), address, 10))(t)
		checkKept(t, f.db, nil, true)
		if err := f.close(); err != nil {
			t.Error(err)
		}
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: address}))(t)
		defer db.Close()
		if left := backlog(t, db); left != 0 {
			t.Errorf("%d rows in the product's tables", left)
		}
		if rows, err := db.Query(t.Context(), kept.Must("kept_counters")); err == nil {
			rows.Close()
			t.Error("the tables are still there")
		}
		if _, err := os.Stat(strings.TrimPrefix(address, "sqlite:") + floorSuffix); err == nil {
			t.Error("the file is still there")
		}
	})
}

// The statements that create the tables have run by then.
func TestFloor_statements(t *testing.T) {
	onEngines(t, func(t *testing.T, address string) {
		f := openTestFloor(t, address, 1)
		floorStatements.All(func(s *sqldb.Stmt) {
			if strings.HasSuffix(s.Name, "_create") {
				return
			}
			if err := f.db.Prepare(t.Context(), s); err != nil {
				t.Errorf("Prepare(%s) = %v", s.Name, err)
			}
		})
	})
}

// startFloor starts this test binary as the process of a floor and waits until it answers.
func startFloor(t *testing.T, address string) (base string, cmd *exec.Cmd) {
	t.Helper()
	listen := testenv.FreeAddr(t)
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), floorListen+"="+listen, floorDatabase+"="+address)
	cmd.Stderr = os.Stderr
	testenv.NoError(t, cmd.Start())
	base = "http://" + listen
	testenv.Eventually(t, 20*time.Second, func() bool {
		res, err := http.Get(base)
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	return base, cmd
}

// Each order that the process has acknowledged is stored, even if the process is killed while orders are written.
func TestServeFloor_keeps_acknowledged_orders_when_killed(t *testing.T) {
	const callers, enough = 16, 200
	onEngines(t, func(t *testing.T, address string) {
		base, cmd := startFloor(t, address)
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
		defer client.CloseIdleConnections()
		var mu sync.Mutex
		acknowledged := map[string]string{}
		var n atomic.Int64
		var all sync.WaitGroup
		for c := range callers {
			all.Go(func() {
				for i := 0; ; i++ {
					key := fmt.Sprintf("%d-%d", c, i)
					res, err := client.Post(base, "application/json", strings.NewReader(orderOf(key, 1+i%7, 11+c, 101)))
					if err != nil {
						return // it was killed
					}
					text, err := io.ReadAll(res.Body)
					res.Body.Close()
					var placed floorPlaced
					if err != nil || res.StatusCode != http.StatusCreated || json.Unmarshal(text, &placed) != nil {
						return
					}
					mu.Lock()
					acknowledged[placed.ID] = key
					mu.Unlock()
					if n.Add(1) == enough {
						_ = cmd.Process.Kill()
					}
				}
			})
		}
		all.Wait()
		_ = cmd.Wait() // killed
		if len(acknowledged) < enough {
			t.Errorf("it ended after %d orders", len(acknowledged))
		}
		file := address
		if strings.HasPrefix(address, "sqlite:") {
			file += floorSuffix
		}
		db := testenv.Must(sqldb.Open(t.Context(), sqldb.Config{URL: file}))(t)
		checkKept(t, db, acknowledged, false)
		db.Close()
		if err := openTestFloor(t, address, 1).db.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A process that is interrupted removes its tables.
func TestServeFloor_interrupt_removes_tables(t *testing.T) {
	address := sqldbtest.SQLiteURL(t)
	_, cmd := startFloor(t, address)
	testenv.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if err := ServeFloor(t.Context(), "127.0.0.1:none", address); err == nil {
		t.Error("it listens nowhere")
	}
	if _, err := os.Stat(strings.TrimPrefix(address, "sqlite:") + floorSuffix); err == nil {
		t.Error("the file is still there")
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{3: {9, 3, 1}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := median(slices.Clone(values)); got != want {
			t.Errorf("the median of %v is %v", values, got)
		}
	}
}

func BenchmarkFloor(b *testing.B) {
	for name, address := range map[string]func(testing.TB) string{
		"sqlite": sqldbtest.SQLiteURL, "postgres": sqldbtest.PostgresURL,
	} {
		b.Run(name, func(b *testing.B) {
			f := testenv.Must(openFloor(b.Context(), address(b), 1<<40))(b)
			defer f.close()
			var turn atomic.Int64
			b.SetParallelism(128)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := int(turn.Add(lineCount))
					w := httptest.NewRecorder()
					body := orderOf("key", n%199, (n+1)%199, (n+2)%199)
					f.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodPost, orderPath, strings.NewReader(body)))
					if w.Code != http.StatusCreated {
						b.Error(w.Code)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
		})
	}
}

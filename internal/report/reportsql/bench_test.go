package reportsql_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"comanda/internal/catalog"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// A busy restaurant has 300,000 orders a year. Inserting them takes half a minute.
var (
	orders  = flag.Int("report.orders", 30_000, "orders of the year that is reported on")
	explain = flag.Bool("report.explain", false, "show how PostgreSQL goes about each report")
)

// year has the statements that insert the orders of a year into one branch, and a tenth as many into another one. Each
// order has three lines, every tenth is unpaid, every fiftieth is refunded, and all paid ones are cooked.
//
//nolint:dupword // columns
var year = []string{
	`INSERT INTO order_info (id, branch_id, kind, visit_id, guest_hash, menu_version_id, hold_id, client_txn_id, biz_date, number,
	   status, payment_status, payment_method, cancel_reason, total_amount, currency, pay_by, expires_at, paid_at, canceled_at,
	   created_at, updated_at, refunded_amount)
	 SELECT b.id || 'o' || lpad(n::text, 22, '0'), b.id, 'DINE_IN', 'visit' || n / 3, md5(n::text), 1, b.id || 'o' || lpad(n::text, 22, '0'), md5('t' || n || b.id),
	   to_char(DATE '2025-01-01' + (n * 365::bigint / $1)::int, 'YYYY-MM-DD'), n,
	   CASE WHEN n % 10 = 0 THEN 'CANCELED' ELSE 'SERVED' END, CASE WHEN n % 10 = 0 THEN 'CANCELED' ELSE 'PAID' END, 'VNPAY',
	   CASE WHEN n % 10 = 0 THEN 'EXPIRED' END, 150000, 'VND', 0, 0,
	   CASE WHEN n % 10 > 0 THEN t.at + 60000 END, CASE WHEN n % 10 = 0 THEN t.at + 900000 END, t.at, t.at,
	   CASE WHEN n % 50 = 1 THEN 50000 ELSE 0 END
	 FROM generate_series(1, $1::int) n, (VALUES (1), (2)) AS b (id),
	   LATERAL (SELECT (extract(epoch FROM TIMESTAMPTZ '2025-01-01 04:00:00+00') * 1000)::bigint + n * 365::bigint * 86400000 / $1 AS at) t
	 WHERE b.id = 1 OR n % 10 = 3 ORDER BY n`,
	`INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty)
	 SELECT o.id, l, 1 + (o.number * 7 + l * 13) % 60, 1 + (o.number * 7 + l * 13) % 60, 1, 50000, 1
	 FROM order_info o, generate_series(1, 3) l WHERE $1 > 0 ORDER BY o.created_at`,
	`INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, created_at, redirect_url)
	 SELECT 'p' || o.id, o.id, 'VNPAY', 150000, 'VND', CASE WHEN o.paid_at IS NULL THEN 'REDIRECTED' ELSE 'PAID' END, o.created_at,
	   'https://pay.example/' || repeat('x', 200) FROM order_info o WHERE $1 > 0 ORDER BY o.created_at`,
	`INSERT INTO payment_event (id, attempt_id, order_id, method, source, raw, verdict, received_at)
	 SELECT 'e' || o.id, 'p' || o.id, o.id, 'VNPAY', 'CALLBACK', 'vnp_ResponseCode=24&' || repeat('x', 400),
	   CASE WHEN o.number % 20 = 0 THEN 'FAILED' ELSE 'PAID' END, o.created_at FROM order_info o WHERE $1 > 0 ORDER BY o.created_at`,
	`INSERT INTO refund (id, order_id, attempt_id, method, amount, currency, state, reason, created_at)
	 SELECT 'r' || o.id, o.id, 'p' || o.id, 'VNPAY', 50000, 'VND', 'DONE', 'STAFF', o.created_at FROM order_info o
	 WHERE o.refunded_amount > 0 AND $1 > 0`,
	`INSERT INTO order_step (order_id, version, at, from_status, to_status, actor)
	 SELECT o.id, 2 + s.n, o.paid_at + s.n * (60000 + o.number % 300 * 1000), s.a, s.b, 'user:1' FROM order_info o,
	   (VALUES (1, 'PLACED', 'ACCEPTED'), (2, 'ACCEPTED', 'PREPARING'), (3, 'PREPARING', 'READY'), (4, 'READY', 'SERVED')) AS s (n, a, b)
	 WHERE o.paid_at IS NOT NULL AND $1 > 0 ORDER BY o.created_at`,
	`INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap, used_qty)
	 SELECT 1, to_char(DATE '2025-01-01' + d, 'YYYY-MM-DD'), i, 40, i FROM generate_series(0, 364) d, generate_series(1, 60) i WHERE $1 > 0`,
}

func BenchmarkYear(b *testing.B) {
	address := sqldbtest.PostgresURL(b)
	conn := testenv.Must(pgx.Connect(b.Context(), address))(b)
	defer conn.Close(context.Background())
	for _, q := range year {
		if _, err := conn.Exec(b.Context(), q, pgx.QueryExecModeExec, *orders); err != nil {
			b.Fatalf("run %.60s: %v", q, err)
		}
	}
	testenv.Must(conn.Exec(b.Context(), "VACUUM ANALYZE"))(b)
	db := testenv.Must(sqldb.Open(b.Context(), sqldb.Config{URL: address, MaxConns: 4}))(b)
	defer db.Close()
	branch := testenv.Must(catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Test", Currency: "VND", Timezone: "America/New_York", DayStart: 4, Locales: []catalog.Locale{catalog.English},
		AutoClose: time.Hour,
	}))(b)
	span, store := report.Span{Branch: branch, From: "2025-01-01", To: "2025-12-31"}, reportsql.New(db)
	if *explain {
		explainAll(b, conn)
	}
	for _, c := range []struct {
		name string
		read func(context.Context, report.Span) (int, error)
	}{
		{"cells", count(store.Cells)}, {"days", count(store.Days)}, {"dishes", count(store.Dishes)}, {"quotas", count(store.Quotas)},
		{"attempts", count(store.Attempts)}, {"refunds", count(store.Refunds)}, {"ended", count(store.Ended)},
		{"failures", func(ctx context.Context, s report.Span) (int, error) {
			all, err := store.Failures(ctx, s, 20_000)
			return len(all), err
		}},
		{"tickets", func(ctx context.Context, s report.Span) (int, error) {
			all, err := store.Tickets(ctx, s)
			return len(report.PhaseStatsByDay(all)) + len(report.PhaseStatsByHour(all, s.Branch.Calendar().Zone())), err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if n, err := c.read(b.Context(), span); err != nil || n == 0 {
					b.Fatalf("%d rows, %v", n, err)
				}
			}
		})
	}
}

func count[T any](
	read func(context.Context, report.Span) ([]T, error),
) func(context.Context, report.Span) (int, error) {
	return func(ctx context.Context, s report.Span) (int, error) {
		all, err := read(ctx, s)
		return len(all), err
	}
}

func explainAll(b *testing.B, conn *pgx.Conn) {
	reportsql.Statements.All(func(s *sqldb.Stmt) {
		text := "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) " + strings.NewReplacer(
			"$1", "1", "$2", "'2025-01-01'", "$3", "'2025-12-31'", "$4::bigint[]", "ARRAY[0]", "$5::bigint[]", "ARRAY[9223372036854775807]",
			"$6::bigint[]", "ARRAY[-18000000]", "$4", "20000").Replace(s.Text(sqldb.Postgres))
		rows := testenv.Must(conn.Query(b.Context(), text))(b)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			b.Fatalf("plan of %s: %v", s.Name, err)
		}
		fmt.Printf("%s\n%s\n\n", s.Name, strings.Join(lines, "\n"))
	})
}

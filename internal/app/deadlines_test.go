package app

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// times are statements for rows with instants that move with the clock's steps and others that do not; $1 is an
// instant.
var times = sqldb.Load(fstest.MapFS{
	"holds.sql": {Data: []byte(`
		INSERT INTO hold (id, branch_id, biz_date, state, digest, expires_at, created_at, updated_at)
		VALUES ('unpaid', 1, '2026-02-26', 'HELD', '', $1, $1, $1), ('confirming', 1, '2026-02-26', 'HELD', '', $1, $1, $1),
		       ('paid', 1, '2026-02-26', 'CONFIRMED', '', $1, $1, $1), ('over', 1, '2026-02-26', 'RELEASED', '', $1, $1, $1),
		       ('x-other', 1, '', 'HELD', '', $1, $1, $1)`)},
	"orders.sql": {Data: []byte(`
		INSERT INTO order_info (id, branch_id, kind, menu_version_id, hold_id, client_txn_id, biz_date, number, status,
		                        payment_status, payment_method, total_amount, currency, pay_by, expires_at, created_at, updated_at)
		VALUES ('unpaid', 1, 'PICKUP', 1, 'unpaid', '1', '2026-02-26', 1, 'PLACED', 'UNPAID', 'VNPAY', 1, 'VND', $1, $1, $1, $1),
		       ('confirming', 1, 'PICKUP', 1, 'confirming', '2', '2026-02-26', 2, 'PLACED', 'CONFIRMING', 'VNPAY', 1, 'VND', $1, $1, $1, $1),
		       ('paid', 1, 'PICKUP', 1, 'paid', '3', '2026-02-26', 3, 'PLACED', 'PAID', 'VNPAY', 1, 'VND', $1, $1, $1, $1),
		       ('over', 1, 'PICKUP', 1, 'over', '4', '2026-02-26', 4, 'CANCELED', 'CANCELED', 'VNPAY', 1, 'VND', $1, $1, $1, $1)`)},
	"attempts.sql": {Data: []byte(`
		INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, redirect_url, created_at, check_at)
		VALUES ('fresh', 'unpaid', 'VNPAY', 1, 'VND', 'CREATED', '', $1, NULL),
		       ('told', 'unpaid', 'VNPAY', 1, 'VND', 'REDIRECTED', 'https://gateway', $1, $1),
		       ('closed', 'over', 'VNPAY', 1, 'VND', 'CREATED', '', $1, NULL)`)},
	"refunds.sql": {Data: []byte(`
		INSERT INTO refund (id, order_id, attempt_id, method, amount, currency, state, reason, send_at, created_at)
		VALUES ('sending', 'over', 'told', 'VNPAY', 1, 'VND', 'SENDING', 'STAFF', $1, $1),
		       ('done', 'over', 'told', 'VNPAY', 1, 'VND', 'DONE', 'STAFF', NULL, $1)`)},
	"visits.sql": {Data: []byte(`
		INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at, closed_at, called_help)
		VALUES ('open', 1, 1, '2026-02-26', 'OPEN', $1, $1, NULL, $1), ('closed', 1, 2, '2026-02-26', 'CLOSED', $1, $1, $1, NULL)`)},
	"letters.sql": {Data: []byte(`
		INSERT INTO mail_outbox (id, recipient, template, locale, fields, created_at, available_at, expires_at, dead)
		VALUES ('waits', 'a@example', 't', 'en', '{}', $1, $1, $1, 0), ('dead', 'a@example', 't', 'en', '{}', $1, $1, $1, 1)`)},
	"roles.sql": {Data: []byte(`INSERT INTO role (id, name, description, created_at, updated_at) VALUES (9001, 'TIMES', '', $1, $1)`)},
	"users.sql": {Data: []byte(`
		INSERT INTO app_user (id, role_id, status, created_at, updated_at) VALUES (9001, 9001, 'ACTIVE', $1, $1)`)},
	"codes.sql": {Data: []byte(`
		INSERT INTO auth_otp (purpose, user_id, code_hash, attempts, sent_at, expires_at, used_at)
		VALUES ('VERIFY', 9001, '', 0, $1, $1, NULL), ('RESET', 9001, '', 0, $1, $1, $1)`)},
	"ops.sql": {Data: []byte(`
		INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at, attempts, due_at, dead_at)
		VALUES ('new', 1, '', '[]', $1, 0, 0, NULL), ('later', 1, '', '[]', $1, 1, $1, NULL), ('dead', 1, '', '[]', $1, 9, $1, $1)`)},
	"events.sql": {Data: []byte(`
		INSERT INTO event_retry (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
		                         available_at, attempts)
		VALUES ('new', 'order', '1', 1, 1, 'order.placed', '{}', $1, 0, 0), ('later', 'order', '1', 2, 1, 'order.placed', '{}', $1, $1, 1)`)},
	"documents.sql": {Data: []byte(`
		INSERT INTO document_outbox (id, entity, ids, created_at, claimed_until, dead)
		VALUES ('0', 'order', '["x"]', $1, 0, ''), ('1', 'order', '["x"]', $1, $1, '')`)},

	"instants.sql": {Data: []byte(`
		SELECT 'hold ' || id, expires_at FROM hold
		UNION ALL SELECT 'order ' || id || ' pay_by', pay_by FROM order_info
		UNION ALL SELECT 'order ' || id || ' expires', expires_at FROM order_info
		UNION ALL SELECT 'order ' || id || ' created', created_at FROM order_info
		UNION ALL SELECT 'attempt ' || id || ' check', check_at FROM payment_attempt WHERE check_at IS NOT NULL
		UNION ALL SELECT 'attempt ' || id || ' created', created_at FROM payment_attempt
		UNION ALL SELECT 'refund ' || id || ' send', send_at FROM refund WHERE send_at IS NOT NULL
		UNION ALL SELECT 'refund ' || id || ' created', created_at FROM refund
		UNION ALL SELECT 'visit ' || id || ' seen', last_seen_at FROM visit
		UNION ALL SELECT 'visit ' || id || ' opened', opened_at FROM visit
		UNION ALL SELECT 'visit ' || id || ' called', called_help FROM visit WHERE called_help IS NOT NULL
		UNION ALL SELECT 'letter ' || id || ' due', available_at FROM mail_outbox
		UNION ALL SELECT 'letter ' || id || ' expires', expires_at FROM mail_outbox
		UNION ALL SELECT 'code ' || purpose || ' sent', sent_at FROM auth_otp
		UNION ALL SELECT 'code ' || purpose || ' expires', expires_at FROM auth_otp
		UNION ALL SELECT 'op ' || id || ' created', created_at FROM redis_outbox
		UNION ALL SELECT 'op ' || id || ' due', due_at FROM redis_outbox
		UNION ALL SELECT 'event ' || id || ' due', available_at FROM event_retry
		UNION ALL SELECT 'document ' || id || ' claimed', claimed_until FROM document_outbox WHERE length(id) = 1`)},
	"versions.sql":  {Data: []byte(`SELECT id, version FROM order_info`)},
	"projected.sql": {Data: []byte(`SELECT min(ids), count(*) FROM document_outbox WHERE entity = 'order' AND length(id) > 1 GROUP BY length(ids)`)},
})

func instants(t *testing.T, db *sqldb.DB, name string) map[string]int64 {
	t.Helper()
	type pair struct {
		name string
		ms   int64
	}
	all, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (p pair, err error) { return p, r.Scan(&p.name, &p.ms) },
		times.Must(name))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]int64{}
	for _, p := range all {
		m[p.name] = p.ms
	}
	return m
}

// Open deadlines move with the clock, in both directions. Times of past events do not move, and neither do times that a
// gateway stores.
func TestCore_moveDeadlines(t *testing.T) {
	moves := map[string]bool{
		"hold unpaid": true, "hold confirming": true, "hold x-other": true,
		"order unpaid pay_by": true, "order unpaid expires": true, "order unpaid created": true,
		"order confirming pay_by": true, "order confirming expires": true, "order confirming created": true,
		"attempt fresh created": true, "attempt told check": true, "refund sending send": true,
		"visit open seen": true, "visit open opened": true, "visit open called": true,
		"letter waits due": true, "letter waits expires": true, "code VERIFY sent": true, "code VERIFY expires": true,
		"op new created": true, "op later created": true, "op later due": true, "event later due": true,
		"document 1 claimed": true,
	}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		for _, table := range []string{
			"holds", "orders", "attempts", "refunds", "visits", "letters", "roles", "users", "codes", "ops", "events", "documents",
		} {
			if _, err := db.Exec(t.Context(), times.Must(table), db.Now().UnixMilli()); err != nil {
				t.Fatal(table, err)
			}
		}
		woken, end := k.Ledger.Subscribe("unpaid")
		defer end()
		for version, by := range []time.Duration{time.Hour, -2 * time.Hour, 3 * time.Second} {
			before, set := instants(t, db, "instants"), 0
			if err := k.moveDeadlines(t.Context(), by, func() { set++ }); err != nil || set != 1 {
				t.Fatalf("the time was set %d times, %v", set, err)
			}
			seen := 0
			for name, ms := range instants(t, db, "instants") {
				want := int64(0)
				if moves[name] {
					want, seen = by.Milliseconds(), seen+1
				}
				if moved := ms - before[name]; moved != want {
					t.Errorf("by %v: %s has moved by %d ms, want %d", by, name, moved, want)
				}
			}
			if seen != len(moves) {
				t.Errorf("%d of %d instants were seen", seen, len(moves))
			}
			versions := instants(t, db, "versions")
			if versions["unpaid"] != int64(version+2) || versions["confirming"] != int64(version+2) || versions["paid"] != 1 {
				t.Errorf("the versions are %v", versions)
			}
			select {
			case <-woken:
			default:
				t.Error("who follows an order was not woken")
			}
		}
		if shown := instants(t, db, "projected"); len(shown) != 1 || shown[`["confirming","unpaid"]`]+shown[`["unpaid","confirming"]`] != 3 {
			t.Errorf("documents that are written anew: %v", shown)
		}
		moved := exportedValues(t, k.Metrics.moved)
		if moved["clock_deadlines_moved_total orders"] != 6 || moved["clock_deadlines_moved_total holds"] != 9 {
			t.Errorf("shown is %v", moved)
		}
	})
}

// A failed move changes nothing.
func TestCore_moveDeadlines_fails(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		for _, table := range []string{"holds", "orders"} {
			testenv.Must(db.Exec(t.Context(), times.Must(table), db.Now().UnixMilli()))(t)
		}
		before := instants(t, db, "instants")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := k.moveDeadlines(ctx, time.Hour, func() { t.Error("the time was set") }); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for name, ms := range instants(t, db, "instants") {
			if ms != before[name] {
				t.Errorf("%s has moved", name)
			}
		}
	})
}

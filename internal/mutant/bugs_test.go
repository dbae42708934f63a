package mutant

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// mistake is a bug: a replacement of a text in a file.
type mistake struct {
	name string
	file string // from the root of the module
	old  string
	new  string
	pkg  string // package whose tests must find the bug
	run  string // pattern of those tests
}

const root = "../.."

var mistakes = []mistake{
	{
		name: "no tombstone", file: "internal/stock/command.go",
		old: "\t\tb.tombstone(d, ReasonCanceled)\n", new: "",
		pkg: "internal/stock/stocksql", run: "TestLinearizable_sql/sqlite|TestMistake_try_after_cancel/sqlite",
	},
	{
		name: "TTL on holds", file: "internal/stock/stockredis/lua/try.lua",
		old: "redis.call('PEXPIRE', writes[i][2], caps[2] - ARGV[4])", new: "redis.call('PEXPIRE', writes[i][2], ARGV[3] - ARGV[4])",
		pkg: "internal/stock/stockredis", run: "TestMistake_record_expires_before_its_effect",
	},
	{
		name: "admission in memory oversells", file: "internal/stock/stockmemory/branch.go",
		old: "left < l.Qty {", new: "left < l.Qty-1 {",
		pkg: "internal/stock/stockmemory", run: "TestCache",
	},
	{
		name: "admission in memory forgets ended holds", file: "internal/stock/stockmemory/branch.go",
		old: "r.state == stock.Released || r.state == stock.Returned || r.epoch == epoch", new: "r.epoch == epoch",
		pkg: "internal/stock/stockmemory", run: "TestCache",
	},
	{
		name: "missing is zero", file: "internal/stock/stockredis/lua/try.lua",
		old: "  if not cap or not h or not p then\n    left[i] = false\n  elseif",
		new: "  cap, h, p = cap or '0', h or 0, p or 0\n  if",
		pkg: "internal/stock/stockredis", run: "TestMistake_missing_counts_as_zero|TestCache/redis/against_model",
	},
	{
		name: "check, then insert", file: "internal/event/inbox/inbox.sql",
		old: "INSERT INTO consumer_dedupe (consumer_name, message_id, processed_at)\n" +
			"SELECT $2, r.id, $3 FROM @rows($1: id text) AS r\nWHERE true\n" +
			"ON CONFLICT (consumer_name, message_id) DO NOTHING\nRETURNING message_id",
		new: "WITH made AS (\n" +
			"    INSERT INTO consumer_dedupe (consumer_name, message_id, processed_at)\n" +
			"    SELECT CAST($2 AS TEXT), r.id, $3 FROM @rows($1: id text) AS r\n" +
			"    ON CONFLICT (consumer_name, message_id) DO NOTHING\n)\n" +
			"SELECT r.id FROM @rows($1: id text) AS r WHERE NOT EXISTS (\n" +
			"    SELECT 1 FROM consumer_dedupe d WHERE d.consumer_name = CAST($2 AS TEXT) AND d.message_id = r.id\n)",
		pkg: "internal/event/inbox", run: "TestHandle_the_same_batch_at_once/postgres",
	},
	{
		name: "relay passes open transactions", file: "internal/event/outbox/outbox.sql",
		old: "least((SELECT", new: "greatest((SELECT",
		pkg: "internal/event/outbox", run: "TestRelay_waits_for_open_transactions",
	},
	{
		name: "local delivery trusts the cursor", file: "internal/event/outbox/source.go",
		old: "batch[0].position <= until, nil", new: "batch[0].position < at, nil",
		pkg: "internal/event/bus", run: "TestBus_after_a_broker/sqlite",
	},
	{
		name: "publish before commit", file: "internal/stock/stocksql/reservations.go",
		old: "tx.OnCommit(func() { r.cache.EnqueueCommitted(entries) })", new: "r.cache.EnqueueCommitted(entries)",
		pkg: "internal/stock/stocksql", run: "TestReservations_cache_receives_after_commit/sqlite",
	},
	{
		name: "ack before commit", file: "internal/event/rabbit/session.go",
		old: "\toutcomes := l.handle(ctx, batch)\n\tfailed :=",
		new: "\tif err := batch[len(batch)-1].Ack(true); err != nil || l.handle(ctx, batch) != nil {\n\t\treturn err\n\t}\n" +
			"\tvar outcomes []inbox.Outcome\n\tfailed :=",
		pkg: "internal/event/rabbit", run: "TestSubscription_acknowledges_after_the_work",
	},
	{
		name: "confirm trusts the caller's quantity", file: "internal/stock/command.go",
		old: "\tid := HoldID(d.ID)\n\tswitch b.Balances.Confirm(id) {",
		new: "\tid := HoldID(d.ID)\n\tif e := b.Balances.holds[id]; e != nil && len(d.Hold.Lines) > 0 {\n\t\te.hold.Lines = d.Hold.Lines\n\t}\n" +
			"\tswitch b.Balances.Confirm(id) {",
		pkg: "internal/stock/stocksql", run: "TestLinearizable_sql/sqlite|TestMistake_confirm_with_foreign_quantity/sqlite",
	},
	{
		name: "release without state check", file: "internal/stock/balances.go",
		old: "func (b *Balances) Release(id string) Outcome { return b.step(id, Held, Released, -1, 0) }",
		new: "func (b *Balances) Release(id string) Outcome {\n\tif e, ok := b.holds[id]; ok {\n\t\te.state = Held\n\t}\n" +
			"\treturn b.step(id, Held, Released, -1, 0)\n}",
		pkg: "internal/stock/stocksql", run: "TestLinearizable_sql/sqlite|TestMistake_cancel/sqlite",
	},
	{
		name: "retry without id", file: "internal/stock/balances.go",
		old: "\tif e, ok := b.holds[h.ID]; ok {\n\t\tif (e.state == Held || e.state == Confirmed) && h.Digest() == e.hold.Digest() {",
		new: "\tif e, ok := b.holds[h.ID]; ok && e.state != Held {\n" +
			"\t\tif (e.state == Held || e.state == Confirmed) && h.Digest() == e.hold.Digest() {",
		pkg: "internal/stock/stocksql", run: "TestLinearizable_sql/sqlite|TestMistake_retried_reserve/sqlite",
	},
	{
		name: "counters read outside the lock", file: "internal/stock/stocksql/inventory.sql",
		old: "/*pg: FOR UPDATE OF v*/", new: "",
		pkg: "internal/stock/stocksql", run: "TestReservations_exactly_n_winners/postgres|TestLinearizable_sql/postgres",
	},
	{
		name: "run again after an unanswered commit", file: "internal/sqldb/db.go",
		old: "errors.Is(err, ErrRetry) {", new: "(errors.Is(err, ErrRetry) || IsUnavailable(err)) {",
		pkg: "internal/sqldb", run: "TestDB_Write_unansweredCommit|TestGroup_unansweredCommit",
	},
	{
		name: "a member's watch never ends", file: "internal/ordering/orderinghttp/events.go",
		old: `by.Session, End: end, Run:`, new: `by.Session, Run:`,
		pkg: "internal/ordering/orderinghttp", run: "TestEvents_watchEndsWithTheClient/sqlite",
	},
	{
		name: "a stream goes on after the logout", file: "internal/ordering/orderinghttp/events.go",
		old: "changed, s.Admitted, httpapi", new: "changed, func(ctx context.Context) (context.Context, error) { return ctx, nil }, httpapi",
		pkg: "internal/ordering/orderinghttp", run: "TestEvents_endWithTheSessionAndTheVisit/sqlite",
	},
}

// apply returns the file's text with the bug in it.
func (m mistake) apply(t *testing.T) string {
	t.Helper()
	text := testenv.Must(os.ReadFile(filepath.Join(root, m.file)))(t)
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("%s has the text that the bug changes %d times", m.file, n)
	}
	return strings.Replace(string(text), m.old, m.new, 1)
}

// The code that a bug replaces, and the tests that find it, must exist.
func TestMistakes_apply_to_the_source(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if m.apply(t) == "" {
				t.Error("nothing is left of the file")
			}
		})
	}
}

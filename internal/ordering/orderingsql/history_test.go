package orderingsql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/document/documenttest"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var historyStmts = sqldb.Load(fstest.MapFS{
	"retired.sql": {Data: []byte(`
		INSERT INTO dish (id, category_id, names, descriptions, retired_at) VALUES ($1, 1, '{"vi":"Bún chả","en":"Old dish"}', '{}', 1)`)},
	"queued.sql": {Data: []byte(`SELECT count(*) FROM document_outbox WHERE entity IN ('order', 'orderDetail')`)},
	"key.sql":    {Data: []byte(`SELECT client_txn_id FROM order_info WHERE digest = 'imported' AND client_txn_id LIKE 'user:import:%' || $1`)},
	"events.sql": {Data: []byte(`SELECT count(*) FROM event_log`)},
})

// pastOrder returns a line of a file.
func pastOrder(id, fields string) string {
	return fmt.Sprintf(`{"id":%q,"branchId":"1","kind":"PICKUP","currency":"VND","totalPrice":130000,`+
		`"createdAt":"2025-11-03T11:20:00+07:00",%s,"items":[{"dishId":"101","quantity":2,"price":50000},{"name":"bun cha","quantity":1,"price":30000,"notes":"hot"}]}`, id, fields)
}

const (
	paidFields     = `"paymentStatus":"PAID","paidAt":"2025-11-03T11:40:00+07:00"`
	refundedFields = paidFields2 + `,"endedAt":"2025-11-04T09:00:00+07:00"`
	paidFields2    = `"paymentStatus":"REFUNDED","paidAt":"2025-11-03T11:41:00+07:00"`
	canceledFields = `"paymentStatus":"CANCELED","endedAt":"2025-11-03T11:30:00+07:00"`
)

// history opens a restaurant with a dish that was never on its menu, and returns an import.
func history(t *testing.T, db *sqldb.DB) (*orderingtest.Restaurant, func(lines ...string) (ordering.HistoryResult, error), *ordering.HistoryImport) {
	t.Helper()
	r := orderingtest.Open(t, db, 1, 5)
	testenv.Must(db.Exec(t.Context(), historyStmts.Must("retired"), 900))(t)
	people := documenttest.Writer{DB: db}
	testenv.NoError(t, people.PutRole(t.Context(), 1, "USER"), people.PutUser(t.Context(), documenttest.User{ID: 12, Email: "a@example.com", Role: 1}))
	im := &ordering.HistoryImport{Store: orderingsql.NewHistory(db), Branches: r.Catalog(t), Now: db.Now}
	return r, func(lines ...string) (ordering.HistoryResult, error) {
		return im.Run(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n\n"))
	}, im
}

// TestReference_000_D12 is row D12 of the reference on documents: orders and their lines are imported as closed history.
// Reports, members and the consistency check see them like orders that were placed here.
func TestReference_000_D12(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, im := history(t, db)
		lines := []string{
			pastOrder("pos-1", paidFields+`,"userId":"12","receiverName":"Lan","number":7`),
			pastOrder("pos-2", refundedFields), pastOrder("pos-3", canceledFields+`,"bizDate":"2025-11-04"`),
			pastOrder("06gvt0kfe5o015mr0000000000", paidFields+`,"paymentMethod":"VNPAY"`),
		}
		im.Check = true
		result := testenv.Must(run(lines...))(t)
		testenv.Equal(t, ordering.HistoryResult{
			Orders: 4, Lines: 8, Totals: map[string]int64{"VND": 260000}, FirstDay: "2025-11-03", LastDay: "2025-11-04",
		}, result)
		span := report.Span{From: "2025-11-01", To: "2025-11-30", Branch: testenv.Must(r.Catalog(t).Branch(t.Context(), 1))(t)}
		if days := testenv.Must(reportsql.New(db).Days(t.Context(), span))(t); len(days) != 0 {
			t.Errorf("a check has written %+v", days)
		}
		im.Check = false
		testenv.Equal(t, result, testenv.Must(run(lines...))(t))

		testenv.Equal(t, []report.Day{
			{Date: "2025-11-03", Placed: 3, Sales: 3, Gross: 390000, Refunded: 130000}, {Date: "2025-11-04", Placed: 1, Canceled: 1},
		}, testenv.Must(reportsql.New(db).Days(t.Context(), span))(t))
		dishes := map[int64]int64{} // also of the order that was refunded, as for orders that were placed here
		for _, d := range testenv.Must(reportsql.New(db).Dishes(t.Context(), span))(t) {
			dishes[d.ID] = d.Qty
		}
		testenv.Equal(t, map[int64]int64{101: 6, 900: 3}, dishes)
		refunds := testenv.Must(reportsql.New(db).Refunds(t.Context(), span))(t)
		if len(refunds) != 1 {
			t.Errorf("refunds = %+v, want one", refunds)
		}
		mine, _ := testenv.Must2(orderingsql.NewOrders(db).OfMember(t.Context(), 12, 10, 0))(t)
		if len(mine) != 1 || mine[0].Number != 7 || mine[0].Status != ordering.Completed || mine[0].Receiver.Name != "Lan" ||
			len(mine[0].Items) != 2 || mine[0].Items[1].Name != "bun cha" || mine[0].Items[1].Notes != "hot" || mine[0].Items[1].DishID != 900 {
			t.Errorf("the member's orders = %+v", mine)
		}
		// Numbers continue after the highest one, and today's quota of five is untouched.
		numbers := map[int64]bool{}
		page, _, err := orderingsql.NewOrders(db).Listed(t.Context(), ordering.OrderFilter{Branch: 1, Dates: ordering.Dates{From: "2025-11-03", To: "2025-11-03"}, Limit: 10})
		testenv.NoError(t, err)
		for _, o := range page {
			numbers[o.Number] = true
		}
		testenv.Equal(t, map[int64]bool{7: true, 8: true, 9: true}, numbers)
		l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer l.Stop()
		testenv.Must(l.Do(t.Context(), r.Place("today", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 5})))(t)
		found := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2025-01-01", db.Now()))(t)
		if len(found) > 0 {
			t.Errorf("the consistency check found %v", found)
		}
		checkDrift(t, db)
		testenv.Equal(t, 1, testenv.Must(sqldb.Scalar[int](t.Context(), db, historyStmts.Must("events")))(t))
		if n := testenv.Must(sqldb.Scalar[int](t.Context(), db, historyStmts.Must("queued")))(t); n < 2 {
			t.Errorf("%d changes are queued for documents", n)
		}

		// A second import changes nothing.
		if _, err := run(lines...); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "Line 1") {
			t.Errorf("a second import: error %v, want a conflict in line 1", err)
		}
		im.SkipExisting = true
		again := testenv.Must(run(append(lines, pastOrder("pos-5", paidFields))...))(t)
		if again.Skipped != 4 || again.Orders != 1 {
			t.Errorf("with --skip-existing %+v, want 4 skipped and 1 imported", again)
		}
		checkDrift(t, db)
	})
}

// An order that was placed here is never changed by an import.
func TestHistory_own_orders(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, im := history(t, db)
		l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer l.Stop()
		own := testenv.Must(l.Do(t.Context(), r.Place("own", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})))(t)
		for _, im.SkipExisting = range []bool{false, true} {
			if _, err := run(pastOrder("pos-1", paidFields), pastOrder(own.Order.ID, paidFields)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Line 2") {
				t.Errorf("skip %t: error %v, want a refusal of line 2", im.SkipExisting, err)
			}
		}
	})
}

// A guest cannot send the idempotency key of an imported order, so orders of guests and imports never collide.
func TestHistory_keys_of_guests(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, _ := history(t, db)
		l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer l.Stop()
		place := func(key string) {
			t.Helper()
			testenv.Must(l.Do(t.Context(), r.Place(key, db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})))(t)
		}
		place("import:pos-1")
		testenv.Must(run(pastOrder("pos-1", paidFields), pastOrder("pos-2", paidFields)))(t)
		place("import:pos-2")

		own := ordering.Guest{Branch: 1, VisitID: r.Visit}
		request := ordering.Request{Items: []ordering.RequestItem{{ItemID: 101, Qty: 1}}, Method: payment.Counter}
		s := ordering.Service{Settings: func() ordering.Settings { return ordering.Settings{Methods: payment.NewMethods()} }}
		for _, id := range []string{"pos-1", "pos-2"} {
			stored := testenv.Must(sqldb.Scalar[string](t.Context(), db, historyStmts.Must("key"), id))(t)
			if request.ClientTxnID = stored; s.CheckRequest(own, request) == nil {
				t.Errorf("a guest can send the key %s of an imported order", stored)
			}
		}
	})
}

// stopping is a store that fails in its second batch.
type stopping struct {
	ordering.HistoryStore
	batches int
}

func (s *stopping) AddHistory(ctx context.Context, orders []*ordering.Order, highest map[stock.Scope]int64) error {
	if s.batches++; s.batches == 2 {
		return errors.New("killed")
	}
	return s.HistoryStore.AddHistory(ctx, orders, highest)
}

// An interrupted import is continued, and each order is imported once.
func TestHistory_continues(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, im := history(t, db)
		var lines []string
		for i := range 450 {
			lines = append(lines, pastOrder(fmt.Sprintf("pos-%d", i), paidFields))
		}
		im.Store = &stopping{HistoryStore: im.Store}
		if _, err := run(lines...); err == nil || !strings.Contains(err.Error(), "lines 201 to 400") {
			t.Fatalf("error %v, want that of the second batch", err)
		}
		im.SkipExisting = true
		result := testenv.Must(run(lines...))(t)
		if result.Skipped != 200 || result.Orders != 250 {
			t.Errorf("the second import: %+v", result)
		}
		span := report.Span{From: "2025-11-03", To: "2025-11-03", Branch: testenv.Must(r.Catalog(t).Branch(t.Context(), 1))(t)}
		if days := testenv.Must(reportsql.New(db).Days(t.Context(), span))(t); len(days) != 1 || days[0].Sales != 450 {
			t.Errorf("days = %+v, want 450 sales", days)
		}
		found := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2025-01-01", db.Now()))(t)
		if len(found) > 0 {
			t.Errorf("the consistency check found %v", found)
		}
	})
}

// Two branches may have used the same ids, also for orders of the same member.
func TestHistory_ids_of_branches(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, im := history(t, db)
		im.Branches = branches{1: r.Catalog(t), 2: orderingtest.Open(t, db, 2, 5).Catalog(t)}
		one := pastOrder("1001", paidFields+`,"userId":"12"`)
		two := strings.Replace(one, `"branchId":"1"`, `"branchId":"2"`, 1)
		if got := testenv.Must(run(one, two))(t); got.Orders != 2 {
			t.Errorf("%+v, want 2 orders", got)
		}
		im.SkipExisting = true
		if got := testenv.Must(run(two, one))(t); got.Skipped != 2 {
			t.Errorf("a second import: %+v, want 2 skipped", got)
		}
	})
}

// branches are the catalogs of several branches.
type branches map[int64]orderingtest.Catalog

func (b branches) Branch(ctx context.Context, id int64) (catalog.Branch, error) {
	return b[id].Branch(ctx, id)
}

// An order whose time was corrected is the same order.
func TestHistory_corrected_time(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		_, run, im := history(t, db)
		before := pastOrder("pos-1", paidFields)
		after := strings.Replace(before, "T11:20:00", "T11:25:00", 1)
		_, err := run(before, after)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Line 2: the order is that of line 1 too.") {
			t.Errorf("the order twice: error %v, want a refusal of line 2", err)
		}
		testenv.Must(run(before))(t)
		_, err = run(after)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "Line 1: the order was imported before.") {
			t.Errorf("a second import: error %v, want a refusal of line 1", err)
		}
		im.SkipExisting = true
		if got := testenv.Must(run(after, pastOrder("pos-2", paidFields)))(t); got.Skipped != 1 || got.Orders != 1 {
			t.Errorf("a second import: %+v, want 1 skipped and 1 order", got)
		}
	})
}

// Orders without a number get one that no order of the date has, also not one of a later batch. The same number on another
// date is another one.
func TestHistory_numbers(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		_, run, _ := history(t, db)
		var lines []string
		for i := range 210 {
			fields := paidFields
			switch i {
			case 0:
				fields += `,"number":5,"bizDate":"2025-11-04"`
			case 205:
				fields += `,"number":5`
			}
			lines = append(lines, pastOrder(fmt.Sprintf("pos-%d", i), fields))
		}
		testenv.Must(run(lines...))(t)
		testenv.Must(run(pastOrder("later", paidFields)))(t)
		page, _, err := orderingsql.NewOrders(db).Listed(t.Context(), ordering.OrderFilter{
			Branch: 1, Dates: ordering.Dates{From: "2025-11-03", To: "2025-11-03"}, Limit: 300,
		})
		numbers, highest := map[int64]bool{}, int64(0)
		for _, o := range page {
			numbers[o.Number], highest = true, max(highest, o.Number)
		}
		if err != nil || len(numbers) != 210 || !numbers[5] || highest != 214 {
			t.Errorf("%d numbers up to %d, %v; want 210 up to 214 with 5", len(numbers), highest, err)
		}
	})
}

// A number of a date is refused if an order of an earlier import or one that was placed here has it, and nothing is written.
func TestHistory_taken_numbers(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, im := history(t, db)
		l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer l.Stop()
		first := pastOrder("pos-1", paidFields+`,"number":5`)
		testenv.Must(run(first))(t)
		own := r.Place("own", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})
		own.Order.Scope.Date = "2025-11-03"
		placed := testenv.Must(l.Do(t.Context(), own))(t).Order
		_, err := run(pastOrder("pos-0", paidFields+fmt.Sprintf(`,"number":%d`, placed.Number)))
		if placed.Number == 5 || fault.KindOf(err) != fault.Conflict {
			t.Errorf("number %d of an order placed here: error %v, want a conflict", placed.Number, err)
		}
		same := pastOrder("pos-3", paidFields+`,"number":5`)
		for _, im.Check = range []bool{true, false} {
			_, err := run(pastOrder("pos-2", paidFields), same)
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "Line 2: number 5 of 2025-11-03 is that of an existing order.") {
				t.Errorf("check %t: error %v, want a conflict in line 2", im.Check, err)
			}
		}
		// The same number on another date, and the same order again, are not refused.
		im.SkipExisting = true
		done := testenv.Must(run(first, pastOrder("pos-4", paidFields+`,"number":5,"bizDate":"2025-11-04"`)))(t)
		if done.Skipped != 1 || done.Orders != 1 {
			t.Errorf("%+v, want one order skipped and one imported", done)
		}
		// An import that began before is refused when it writes.
		err = im.Store.AddHistory(t.Context(), []*ordering.Order{{
			ID: "late", HoldID: "late", ClientTxnID: "late", Number: 5, Scope: stock.Scope{Branch: 1, Date: "2025-11-03"},
			Items: []ordering.Item{{ItemID: 101, DishID: 101, Qty: 1}},
		}}, nil)
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("a late import: error %v, want a conflict", err)
		}
	})
}

// A paid order of which a part was refunded stays paid. Its refund is in the reports, and the rest can be refunded here.
func TestHistory_partial_refund(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, _ := history(t, db)
		id := "06gvt0kfe5o015mr0000000000"
		const part = `,"refundedAmount":30000,"endedAt":"2025-11-05T09:00:00+07:00"`
		result := testenv.Must(run(pastOrder(id, paidFields+part), pastOrder("pos-2", refundedFields+`,"refundedAmount":130000`)))(t)
		testenv.Equal(t, map[string]int64{"VND": 130000}, result.Totals)

		d, _, err := orderingsql.NewOrders(db).Order(t.Context(), id)
		testenv.NoError(t, err)
		refundedAt := time.Date(2025, 11, 5, 2, 0, 0, 0, time.UTC)
		if d.PaymentStatus != ordering.Paid || d.Refunded != 30000 || len(d.Refunds) != 1 || d.Refunds[0].Amount != 30000 ||
			d.Refunds[0].State != payment.RefundDone || !d.Refunds[0].DoneAt.Equal(refundedAt) {
			t.Errorf("the order is %s with %d refunded by %+v, want PAID with one refund of 30000", d.PaymentStatus, d.Refunded, d.Refunds)
		}
		span := report.Span{From: "2025-11-01", To: "2025-11-30", Branch: testenv.Must(r.Catalog(t).Branch(t.Context(), 1))(t)}
		testenv.Equal(t, []report.Day{{Date: "2025-11-03", Placed: 2, Sales: 2, Gross: 260000, Refunded: 160000}},
			testenv.Must(reportsql.New(db).Days(t.Context(), span))(t))
		checkDrift(t, db)

		l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer l.Stop()
		rest := testenv.Must(l.Do(t.Context(), &ordering.Refund{OrderID: id, NewID: "rest", Note: "late"}))(t)
		if rest.Refund.Amount != 100000 || rest.Order.Refunded != 130000 {
			t.Errorf("the refund of the rest is %+v of an order with %d refunded", rest.Refund, rest.Order.Refunded)
		}
		found := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2025-01-01", db.Now()))(t)
		if len(found) > 0 {
			t.Errorf("the consistency check found %v", found)
		}
	})
}

// The daybook has imported orders like those that were placed here.
func TestHistory_daybook(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		_, run, _ := history(t, db)
		testenv.Must(run(pastOrder("pos-1", paidFields), pastOrder("pos-2", refundedFields),
			pastOrder("pos-3", canceledFields), pastOrder("pos-4", paidFields+`,"bizDate":"2025-11-04"`)))(t)
		for date, want := range map[string]ordering.Day{
			"2025-11-03": {Placed: 3, Paid: 2, Canceled: 1, Revenue: 260_000}, "2025-11-04": {Placed: 1, Paid: 1, Revenue: 130_000},
		} {
			want.Scope = stock.Scope{Branch: 1, Date: date}
			if got := testenv.Must(orderingsql.NewOrders(db).Day(t.Context(), want.Scope))(t); got != want {
				t.Errorf("daybook = %+v, want %+v", got, want)
			}
		}
	})
}

// The audit of prices counts imported orders and does not check them: their discounts are not known.
func TestOrders_AuditPrices_imported(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, run, _ := history(t, db)
		l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer l.Stop()
		testenv.Must(l.Do(t.Context(), r.Place("own", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})))(t)
		testenv.Must(run(strings.Replace(pastOrder("pos-1", paidFields), "130000", "117000", 1)))(t)
		got := testenv.Must(orderingsql.NewOrders(db).AuditPrices(t.Context(), ""))(t)
		testenv.Equal(t, orderingsql.PriceAudit{Orders: 2, Imported: 1, Differences: []string{}}, got)
	})
}

// The byte order mark that some programs write at the beginning of a file is not part of the first order.
func TestHistory_byte_order_mark(t *testing.T) {
	_, run, im := history(t, sqldbtest.SQLite(t))
	im.Check = true
	if got := testenv.Must(run("\ufeff"+pastOrder("pos-1", paidFields), pastOrder("pos-2", paidFields)))(t); got.Orders != 2 {
		t.Errorf("%+v, want 2 orders", got)
	}
}

// Each invalid line is refused with its number, and nothing is written.
func TestHistory_refuses(t *testing.T) {
	db := sqldbtest.SQLite(t)
	_, run, _ := history(t, db)
	ok := pastOrder("pos-1", paidFields)
	with := func(old, replacement string) string {
		line := strings.Replace(ok, old, replacement, 1)
		if line == ok {
			t.Fatalf("the line does not contain %s", old)
		}
		return line
	}
	today := db.Now().UTC().Format(time.RFC3339)
	for name, c := range map[string]struct{ line, want string }{
		"half a line":           {`{"id":`, "Line 2: column 7: the JSON is incomplete."},
		"no JSON":               {`{"id":x}`, `Line 2: column 7: expected a value, found "x".`},
		"too long":              {strings.Repeat(" ", 1<<20) + ok, "Line 2: the line has more than 1048576 bytes."},
		"unknown field":         {with(`"kind"`, `"tip":1,"kind"`), `Line 2: unknown field "tip"`},
		"no object":             {`[]`, "Line 2: an object is expected, not array"},
		"text for a number":     {with(`130000`, `"130000"`), "Line 2: a whole number is expected in totalPrice, not string"},
		"number for a text":     {with(`"branchId":"1"`, `"branchId":1`), "Line 2: a text is expected in branchId, not number"},
		"number with a power":   {with(`130000`, `13e4`), "Line 2: a whole number is expected in totalPrice, not number 13e4"},
		"number too large":      {with(`"quantity":2`, `"quantity":9223372036854775808`), "a whole number is expected in items.quantity"},
		"text for items":        {ok[:strings.Index(ok, `"items"`)] + `"items":"pho"}`, "a list is expected in items, not string"},
		"time of another form":  {with(`T11:20:00+07:00`, ` 11:20`), `Line 2: "2025-11-03 11:20" is not a time like 2025-11-03T11:20:00+07:00`},
		"number for a time":     {with(`"2025-11-03T11:20:00+07:00"`, `5`), "Line 2: a time must be a text like"},
		"two values":            {ok + "{}", "more than one value"},
		"a bracket too many":    {ok + "}", "more than one value"},
		"id with a space":       {with(`"pos-1"`, `"pos 1"`), "id has"},
		"same id twice":         {ok, "line 1"},
		"no such branch":        {with(`"branchId":"1"`, `"branchId":"9"`), "branch 9"},
		"branch without id":     {with(`"branchId":"1"`, `"branchId":""`), "not an id"},
		"other currency":        {with(`"VND"`, `"TWD"`), "currency of the branch is VND"},
		"negative total":        {with(`130000`, `-1`), "totalPrice"},
		"unknown kind":          {with(`"PICKUP"`, `"DRIVE"`), `"DRIVE"`},
		"open order":            {with(`"PAID"`, `"UNPAID"`), `"UNPAID"`},
		"refund that is due":    {with(`"PAID"`, `"REFUND_DUE"`), `"REFUND_DUE"`},
		"paid without a time":   {with(`"paidAt":"2025-11-03T11:40:00+07:00"`, `"number":1`), "paidAt"},
		"canceled, but paid":    {with(`"PAID"`, `"CANCELED"`), "paidAt"},
		"refund without a time": {with(`"PAID"`, `"REFUNDED"`), "endedAt"},
		"part without a time":   {with(`"kind"`, `"refundedAmount":1,"kind"`), "endedAt"},
		"negative part":         {with(`"kind"`, `"refundedAmount":-1,"kind"`), "refundedAmount"},
		"part that is all":      {with(`"kind"`, `"refundedAmount":130000,"endedAt":"2025-11-03T12:00:00+07:00","kind"`), "REFUNDED"},
		"refunded, but a part":  {pastOrder("pos-1", refundedFields+`,"refundedAmount":1`), "refundedAmount"},
		"canceled, but a part":  {pastOrder("pos-1", canceledFields+`,"refundedAmount":1`), "refundedAmount"},
		"paid before":           {with(`11:40`, `10:40`), "before createdAt"},
		"paid in the future":    {with(`"paidAt":"2025-11-03`, `"paidAt":"2125-11-03`), "paidAt is in the future"},
		"ended in the future":   {pastOrder("pos-1", strings.Replace(canceledFields, "2025", "2125", 1)), "endedAt is in the future"},
		"refunded before":       {pastOrder("pos-1", paidFields2+`,"endedAt":"2025-11-03T11:40:00+07:00"`), "endedAt is before paidAt"},
		"no such method":        {with(`"kind"`, `"paymentMethod":"SANDBOX","kind"`), `"SANDBOX"`},
		"no time":               {with(`"createdAt":"2025-11-03T11:20:00+07:00",`, ``), "createdAt"},
		"today":                 {with(`"createdAt":"2025-11-03T11:20:00+07:00","paymentStatus":"PAID","paidAt":"2025-11-03T11:40:00+07:00"`, `"createdAt":"`+today+`","paymentStatus":"PAID","paidAt":"`+today+`"`), "has not passed"},
		"another date":          {with(`"kind"`, `"bizDate":"2025-11-13","kind"`), "2025-11-13"},
		"no date":               {with(`"kind"`, `"bizDate":"3.11.2025","kind"`), "not a date"},
		"no such account":       {with(`"kind"`, `"userId":"77","kind"`), "account 77"},
		"account without id":    {with(`"kind"`, `"userId":"lan","kind"`), `"lan"`},
		"phone":                 {with(`"kind"`, `"receiverPhone":"none","kind"`), "receiverPhone"},
		"e-mail":                {with(`"kind"`, `"receiverEmail":"none","kind"`), "receiverEmail"},
		"long name":             {with(`"kind"`, `"receiverName":"`+strings.Repeat("x", 121)+`","kind"`), "receiverName"},
		"no items":              {ok[:strings.Index(ok, `"items"`)] + `"items":[]}`, "items"},
		"no such dish":          {with(`"101"`, `"102"`), `item 1: dish "102"`},
		"no dish of the name":   {with(`"bun cha"`, `"pizza"`), `item 2: no dish is called "pizza"`},
		"no units":              {with(`"quantity":2`, `"quantity":0`), "quantity"},
		"negative price":        {with(`50000`, `-1`), "price"},
		"negative number":       {with(`"kind"`, `"number":-1,"kind"`), "number"},
		"same number twice":     {with(`"kind"`, `"number":7,"kind"`), "number 7 of 2025-11-03 is that of line 1 too"},
	} {
		first := pastOrder("first", canceledFields)
		switch name {
		case "same id twice":
			first = ok
		case "same number twice":
			first = pastOrder("first", canceledFields+`,"number":7`)
		}
		_, err := run(first, c.line)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Line 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want a refusal of line 2 that contains %s", name, err, c.want)
		}
	}
	page, total, err := orderingsql.NewOrders(db).Listed(t.Context(), ordering.OrderFilter{Branch: 1, Limit: 10})
	if len(page) != 0 || total != 0 || err != nil {
		t.Errorf("refused imports have written %d orders, %v", total, err)
	}
}

package orderingsql

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/tagcache"
	"comanda/internal/text"
)

// Orders reads orders. It implements ordering.Reader.
type Orders struct {
	db *sqldb.DB

	// Counts caches the totals of long lists; nil counts for each page. Set it before the first call.
	Counts *tagcache.Cache
}

// NewOrders returns a reader of db.
func NewOrders(db *sqldb.DB) *Orders { return &Orders{db: db} }

// Order reads one order with its items, attempts, refunds and steps. Its statements do not share a snapshot. The
// version is read first: a change after that raises the version, and streams read the order again.
func (s *Orders) Order(ctx context.Context, id string) (ordering.Detail, bool, error) {
	orders, err := selectOrders(ctx, s.db, stmt("order_select"), []string{id})
	if err != nil || len(orders) == 0 {
		return ordering.Detail{}, false, err
	}
	if err := loadItems(ctx, s.db, orders); err != nil {
		return ordering.Detail{}, false, err
	}
	d := ordering.Detail{Order: orders[0]}
	if d.Attempts, err = paymentsql.Attempts(ctx, s.db, []string{id}); err != nil {
		return d, false, err
	}
	if len(d.Attempts) == 0 {
		d.Attempts = append(d.Attempts, d.FirstAttempt())
	}
	if d.Refunds, err = paymentsql.Refunds(ctx, s.db, []string{id}); err != nil {
		return d, false, err
	}
	d.Steps, err = selectSteps(ctx, s.db, []string{id})
	return d, err == nil, err
}

// TableOf returns a visit's table; for a closed visit, its last table.
func (s *Orders) TableOf(ctx context.Context, visit string) (ordering.Table, error) {
	tables, err := s.tables(ctx, []string{visit})
	return tables[visit], err
}

// OfVisit reads a page of a visit's orders with their items, newest first, and their total number.
func (s *Orders) OfVisit(ctx context.Context, visit string, limit, offset int) ([]ordering.Order, int64, error) {
	return s.page(ctx, stmt("order_select_visit"), stmt("order_count_visit"), visit, limit, offset)
}

// Phones returns the hashes of the phones of a visit that ordered or added to its shared cart, in the order in which they
// first did.
func (s *Orders) Phones(ctx context.Context, visit string) ([]string, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[string], stmt("visit_phones"), visit)
}

// OfMember reads a page of a member's orders with their items, newest first, and their total number.
func (s *Orders) OfMember(ctx context.Context, user int64, limit, offset int) ([]ordering.Order, int64, error) {
	return s.page(ctx, stmt("order_select_member"), stmt("order_count_member"), user, limit, offset)
}

// page reads a page of orders, their items, and the total number. whose is the argument of both statements.
func (s *Orders) page(
	ctx context.Context, list, count *sqldb.Stmt, whose any, limit, offset int,
) ([]ordering.Order, int64, error) {
	orders, err := sqldb.Collect(ctx, s.db, scanOrder, list, whose, limit, offset)
	if err != nil {
		return nil, 0, err
	}
	if err := loadItems(ctx, s.db, orders); err != nil {
		return nil, 0, err
	}
	total, err := sqldb.Scalar[int64](ctx, s.db, count, whose)
	return orders, total, err
}

// Overdue returns the ids of up to limit unpaid orders whose deadline has passed, oldest first.
func (s *Orders) Overdue(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[string], stmt("overdue_select"), now.UnixMilli(), limit)
}

// selectOrders reads orders without their items, in no particular order.
func selectOrders(ctx context.Context, c sqldb.Conn, q *sqldb.Stmt, ids []string) ([]ordering.Order, error) {
	return sqldb.Collect(ctx, c, scanOrder, q, sqldb.IDs(ids))
}

// scanOrder reads the columns of the fragment order_columns, in their order. Statements return 0 for missing times.
var scanOrder = sqldb.Row(func(o *ordering.Order) []any {
	return []any{
		&o.ID, &o.Scope.Branch, &o.Scope.Date, &o.VisitID, &o.GuestHash, &o.MenuVersionID, &o.HoldID, &o.ClientTxnID,
		&o.Digest, &o.Number, &o.Status, &o.PaymentStatus, &o.Method, &o.CancelReason, &o.Total, &o.Currency, &o.Refunded,
		&o.PaymentRef, &o.Kind, &o.UserID, &o.Receiver.Name, &o.Receiver.Phone, &o.Receiver.Address, &o.Receiver.Email,
		&o.Receiver.Note,
		sqldb.Time(&o.PayBy), sqldb.Time(&o.ExpiresAt), sqldb.Time(&o.PaidAt), sqldb.Time(&o.CanceledAt),
		sqldb.Time(&o.CreatedAt), sqldb.Time(&o.UpdatedAt), &o.Version, sqldb.Time(&o.SteppedAt), sqldb.Bool(&o.VoidSeen),
		&o.Extensions, &o.Quote, &o.Discount, &o.Service, &o.Tax, &o.Voucher,
	}
})

// loadItems loads the items of orders. One statement reads the items of all orders.
func loadItems(ctx context.Context, c sqldb.Reader, orders []ordering.Order) error {
	if len(orders) == 0 {
		return nil
	}
	index := make(map[string]int, len(orders))
	ids := make([]string, len(orders))
	for i := range orders {
		index[orders[i].ID], ids[i] = i, orders[i].ID
	}
	return sqldb.Each(ctx, c, func(rows sqldb.Rows) error {
		id, it, err := scanItem(rows)
		if err != nil {
			return err
		}
		o := &orders[index[id]]
		o.Items = append(o.Items, it)
		return nil
	}, stmt("item_select"), sqldb.IDs(ids))
}

// scanItem reads a row of item_select: the order and one line. Lines of an order arrive in the order of Order.Items.
func scanItem(r sqldb.Rows) (order string, it ordering.Item, err error) {
	err = r.Scan(&order, &it.ItemID, &it.DishID, &it.NameID, &it.Name, &it.Names, &it.Price, &it.Qty, &it.Notes,
		sqldb.Time(&it.DoneAt), &it.Options)
	return order, it, err
}

// versions reads the current version of each order; 0 for an unknown order. It returns one version per id in the same
// order, as sqldb.ReadGroup requires.
func versions(ctx context.Context, db sqldb.Conn, ids []string) ([]int64, error) {
	byID, err := sqldb.Map[string, int64](ctx, db, stmt("version_select"), sqldb.IDs(ids))
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = byID[id]
	}
	return all, err
}

// selectSteps reads the steps of orders, in ascending order of version within each order.
func selectSteps(ctx context.Context, c sqldb.Conn, ids []string) ([]ordering.StepTaken, error) {
	return sqldb.Collect(ctx, c, sqldb.Row(func(s *ordering.StepTaken) []any {
		return []any{&s.OrderID, &s.Version, sqldb.Time(&s.At), &s.From, &s.To, &s.By}
	}), stmt("step_select"), sqldb.IDs(ids))
}

// Exceptions reads the payments and refunds of a branch that need attention, oldest first, at most limit per kind.
func (s *Orders) Exceptions(ctx context.Context, branch int64, limit int) (e ordering.Exceptions, err error) {
	e.Attempts, err = sqldb.Collect(ctx, s.db, sqldb.Row(func(x *ordering.Exception) []any {
		return []any{
			&x.ID, &x.OrderID, &x.Number, &x.BizDate, &x.Method, &x.Amount, &x.Currency, &x.State, &x.Ref, sqldb.Time(&x.At),
		}
	}), stmt("exception_attempts"), branch, limit, payment.StuckSince(s.db.Now()).UnixMilli())
	if err != nil {
		return e, err
	}
	e.Refunds, err = sqldb.Collect(ctx, s.db, sqldb.Row(func(x *ordering.Exception) []any {
		return []any{&x.ID, &x.OrderID, &x.Number, &x.BizDate, &x.Method, &x.Amount, &x.Currency, &x.State, &x.Reason, &x.Ref,
			sqldb.Time(&x.At)}
	}), stmt("exception_refunds"), branch, limit)
	if err != nil {
		return e, err
	}
	e.Mismatches, err = sqldb.Collect(ctx, s.db, sqldb.Row(func(x *ordering.Exception) []any {
		return []any{&x.ID, &x.OrderID, &x.Number, &x.BizDate, &x.Method, &x.Amount, &x.Currency, &x.State, &x.Ref,
			&x.Captured, &x.CapturedIn, sqldb.Time(&x.At)}
	}), stmt("exception_mismatches"), branch, limit)
	return e, err
}

// lastDate sorts after every business date. It is used if a period has no end.
const lastDate = "9999-12-31"

// Listed reads a page of a branch's orders with their items, newest first, and the total number of matches.
func (s *Orders) Listed(ctx context.Context, f ordering.OrderFilter) ([]ordering.ListedOrder, int64, error) {
	list, count, args := stmt("listing_orders"), stmt("listing_orders_count"), []any{
		f.Branch, f.Dates.From, cmp.Or(f.Dates.To, lastDate), string(f.Status), string(f.PaymentStatus),
		string(f.CancelReason), f.Number.Whole, f.Number.Digits,
	}
	// The plain statement reads the index in the order of the page. A search collects the matches first and sorts
	// them.
	if f.Search != nil || f.Visit != "" {
		tables, err := s.labelled(ctx, f)
		if err != nil {
			return nil, 0, err
		}
		list, count, args = stmt("listing_found"), stmt("listing_found_count"), append(args, searchArgs(f, tables)...)
	}
	page, total, err := sqldb.CountedPage(ctx, s.db, sqldb.Row(func(l *ordering.ListedOrder) []any {
		return []any{&l.ID, &l.Table}
	}), func(ctx context.Context) (int64, error) {
		return s.total(ctx, f, count, args)
	}, list, f.Limit, f.Offset, args...)
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	return page, total, s.listed(ctx, page)
}

// countLife is the life of a cached total that new orders change; see report.Service.Cached.
const countLife = 2 * time.Second

// total returns the number of orders that match a filter, from the cache or by its statement. With a year of orders the
// statement takes far longer than a page. Totals of past dates are invalidated by a changed order of these dates.
func (s *Orders) total(ctx context.Context, f ordering.OrderFilter, count *sqldb.Stmt, args []any) (int64, error) {
	dates, life := tagcache.OnlyExpires, countLife
	// Before yesterday in UTC is before the current business date of every time zone.
	if to := f.Dates.To; to != "" && to < s.db.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly) {
		dates, life = tagcache.DateRange{From: f.Dates.From, To: to}, tagcache.CountLife
	}
	var search ordering.Search
	if f.Search != nil {
		search = *f.Search
	}
	searched := f.Search != nil
	f.Limit, f.Offset, f.Search = 0, 0, nil // the total is the same on every page; a pointer would be printed as an address
	// %#v quotes texts, so that no two filters have one name.
	e := tagcache.NewEntry(tagcache.Orders, tagcache.Count, f.Branch, dates, fmt.Sprintf("%#v %t %#v", f, searched, search))
	return tagcache.Value(ctx, s.Counts, e, life, func(ctx context.Context) (int64, error) {
		return sqldb.Scalar[int64](ctx, s.db, count, args...)
	})
}

// labelled returns the ids of the branch's tables with the searched label. Labels are compared in Go, because SQLite's
// lower changes only A to Z, and a branch has few tables.
func (s *Orders) labelled(ctx context.Context, f ordering.OrderFilter) ([]int64, error) {
	if f.Search == nil || f.Search.Table == "" {
		return nil, nil
	}
	all, err := sqldb.Map[int64, string](ctx, s.db, stmt("listing_labels"), f.Branch)
	var found []int64
	for id, label := range all {
		if text.Fold(label) == f.Search.Table {
			found = append(found, id)
		}
	}
	return found, err
}

// afterWords is the highest code point. The range from a prefix to the prefix plus afterWords contains every word with
// that prefix, so the index on words serves prefix searches.
const afterWords = "\U0010FFFF"

// searchArgs returns the arguments of the search statement that follow the filter's other arguments. Empty parts of the
// search match no order.
func searchArgs(f ordering.OrderFilter, tables []int64) []any {
	s := f.Search
	if s == nil {
		s = &ordering.Search{}
	}
	return []any{
		sqldb.NewRowSet(len(s.Numbers)).Int("id", func(i int) int64 { return s.Numbers[i] }),
		sqldb.IDs(tables), s.PhoneEnd(), "%" + s.Phone,
		sqldb.NewRowSet(len(s.Words)).
			Text("low", func(i int) string { return s.Words[i] }).
			Text("high", func(i int) string { return s.Words[i] + afterWords }),
		len(s.Words), f.Visit,
	}
}

// listed loads the orders of a page and keeps the page's order. Every id still exists, because orders are never
// deleted.
func (s *Orders) listed(ctx context.Context, page []ordering.ListedOrder) error {
	ids, at := make([]string, len(page)), make(map[string]int, len(page))
	for i, l := range page {
		ids[i], at[l.ID] = l.ID, i
	}
	orders, err := selectOrders(ctx, s.db, stmt("order_select"), ids)
	if err != nil {
		return err
	}
	if err := loadItems(ctx, s.db, orders); err != nil {
		return err
	}
	for _, o := range orders {
		page[at[o.ID]].Order = o
	}
	return nil
}

// ListedAttempts reads a page of a branch's payment attempts, those of the newest orders first, and the total number of
// matches. It does not read their payment pages and check times.
func (s *Orders) ListedAttempts(
	ctx context.Context, f ordering.AttemptFilter,
) ([]ordering.ListedAttempt, int64, error) {
	args := []any{f.Branch, f.Dates.From, cmp.Or(f.Dates.To, lastDate), string(f.Method), string(f.State)}
	return sqldb.Page(ctx, s.db, sqldb.Row(func(a *ordering.ListedAttempt) []any {
		return []any{
			&a.ID, &a.OrderID, &a.Method, &a.Amount, &a.Currency, &a.State, &a.GatewayRef, sqldb.Time(&a.CreatedAt),
			sqldb.Time(&a.SettledAt), &a.Number, &a.BizDate,
		}
	}), stmt("listing_attempts_count"), stmt("listing_attempts"), f.Limit, f.Offset, args...)
}

// namesPerTransaction is the maximum number of orders that one transaction locks. Small transactions keep the ledger's
// waits short.
const namesPerTransaction = 100

// nameWord is one word of the name of an order's receiver, or the whole name before it is split.
type nameWord struct {
	branch            int64
	word, date, order string
}

// IndexNames indexes the receivers' names of all orders not indexed yet, so that Listed finds them. It runs outside the
// ledger: orders need not wait for it, and it also indexes orders of processes of an older version. Several processes
// may run it concurrently.
func (s *Orders) IndexNames(ctx context.Context) error {
	for {
		n, err := s.indexNames(ctx)
		if err != nil || n < namesPerTransaction {
			return err
		}
	}
}

// indexNames indexes up to namesPerTransaction orders and returns the number it found.
func (s *Orders) indexNames(ctx context.Context) (int, error) {
	found, err := sqldb.Collect(ctx, s.db, sqldb.Row(func(w *nameWord) []any {
		return []any{&w.order, &w.branch, &w.date, &w.word}
	}), stmt("word_unindexed"), namesPerTransaction)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	ids := make([]string, len(found))
	var words []nameWord
	for i, f := range found {
		ids[i] = f.order
		for _, w := range ordering.NameWords(f.word) {
			words = append(words, nameWord{f.branch, w, f.date, f.order})
		}
	}
	// The search reads only the words. If this transaction fails, the orders stay unindexed and the next run finds
	// them.
	return len(found), s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The locks are taken in the ledger's order, to avoid deadlocks.
		tx.QueueQuery(func(sqldb.Rows) error { return nil }, stmt("order_lock"), sqldb.IDs(ids))
		if len(words) > 0 {
			tx.Queue(stmt("word_insert"), sqldb.NewRowSet(len(words)).
				Int("branch_id", func(i int) int64 { return words[i].branch }).
				Text("word", func(i int) string { return words[i].word }).
				Text("biz_date", func(i int) string { return words[i].date }).
				Text("order_id", func(i int) string { return words[i].order }))
		}
		// Orders whose names contain no words are marked too. Otherwise each run would find them again.
		tx.Queue(stmt("word_indexed"), sqldb.IDs(ids), s.db.Now().UnixMilli())
		return tx.Flush(ctx)
	})
}

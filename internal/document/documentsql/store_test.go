package documentsql_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// onEach runs a test on both engines.
func onEach(t *testing.T, test func(t *testing.T, s *documentsql.Store, h documenttest.Writer)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, documentsql.New(db), documenttest.Writer{DB: db}) })
}

// rowsOf formats claimed rows as text.
func rowsOf(claimed []document.Claimed) []string {
	rows := make([]string, len(claimed))
	for i, c := range claimed {
		rows[i] = fmt.Sprint(c.Entity.Name, c.IDs)
	}
	return rows
}

// Changes are claimed as they were queued. The suite of queuesql tests the claims themselves.
func TestOutbox(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx, now := t.Context(), h.DB.Now().Add(time.Second)
		testenv.NoError(t, h.PutRole(ctx, 1, "USER"), h.PutCategory(ctx, 1, "A"), h.PutDish(ctx, 1, 1, "B"))
		for _, want := range []string{"category[1] role[1]", "dish[1]", ""} {
			claimed, err := s.Claim(ctx, now, now.Add(10*time.Second), 2)
			rows := rowsOf(claimed)
			slices.Sort(rows)
			if got := strings.Join(rows, " "); got != want || err != nil {
				t.Errorf("claimed %q, want %q, %v", got, want, err)
			}
		}
		b, err := s.Backlog(ctx, h.DB.Now())
		if b.Pending != 3 || b.Age < 0 || b.Age > time.Minute || err != nil {
			t.Errorf("Backlog = %+v, %v, want 3 pending, younger than a minute", b, err)
		}
	})
}

// Rows of an entity that this release does not have stay in the outbox for a release that has it.
func TestOutbox_unknown_entity(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		testenv.NoError(t, h.Write(t.Context(), "voucher", []string{"1"}, func(context.Context, sqldb.Tx) error { return nil }))
		now := h.DB.Now().Add(time.Second)
		claimed, err := s.Claim(t.Context(), now, now.Add(time.Minute), 10)
		if err != nil || len(claimed) != 1 || claimed[0].Entity != nil {
			t.Errorf("Claim = %v, %v, want one of an unknown entity", claimed, err)
		}
	})
}

// A transaction that is rolled back leaves nothing in the outbox.
func TestOutbox_shares_the_transaction(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		failure := errors.New("no")
		err := h.DB.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			documentsql.Changed(tx, h.DB.Now(), "user", "1")
			documentsql.Deleted(tx, h.DB.Now(), "role", "7", 3)
			return failure
		})
		waiting, counted := s.Backlog(t.Context(), h.DB.Now())
		dead, read := s.Tombstones(t.Context(), document.Role)
		if !errors.Is(err, failure) || waiting.Pending != 0 || counted != nil || len(dead) != 0 || read != nil {
			t.Errorf("%v: %+v %v, tombstones %v %v", err, waiting, counted, dead, read)
		}
	})
}

// A deletion is stored with the version after the last one, per entity, until it is purged.
func TestTombstones(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		testenv.NoError(t, h.PutRole(ctx, 1, "USER"), h.PutUser(ctx, documenttest.User{ID: 5, Role: 1}),
			h.PutUser(ctx, documenttest.User{ID: 5, Role: 1}),
			h.PutUser(ctx, documenttest.User{ID: 6, Role: 1}), h.PutCart(ctx, 5, 6), h.DeleteCart(ctx, 5), h.DeleteUser(ctx, 5))
		look := func(want map[string]int64) {
			t.Helper()
			got := testenv.Must(s.Tombstones(ctx, document.User))(t)
			testenv.Equal(t, want, got)
		}
		look(map[string]int64{"5": 3})
		testenv.NoError(t, h.PutUser(ctx, documenttest.User{ID: 5, Role: 1}))
		docs, err := s.Read(ctx, document.User, []string{"5"})
		if err != nil || len(docs) != 1 || docs[0].Version != 4 {
			t.Errorf("a row that came back: %v %v", docs, err)
		}
		testenv.NoError(t, s.PurgeTombstones(ctx, h.DB.Now().Add(-time.Hour)))
		look(map[string]int64{"5": 3})
		testenv.NoError(t, s.PurgeTombstones(ctx, h.DB.Now().Add(time.Hour)))
		look(map[string]int64{})
	})
}

// A process changes the state of the generation only if it has not changed since the process read it.
func TestGeneration(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx, now := t.Context(), h.DB.Now()
		state := func(want document.GenerationState) document.GenerationState {
			t.Helper()
			got := testenv.Must(s.Generation(ctx))(t)
			testenv.Equal(t, want, got, cmp.Comparer(func(a, b *document.Entity) bool { return a == b }))
			return got
		}
		expect := func(what string, want, got bool, err error) {
			t.Helper()
			if testenv.NoError(t, err); got != want {
				t.Errorf("%s = %v, want %v", what, got, want)
			}
		}
		epoch := time.UnixMilli(0).UTC()
		seen := state(document.GenerationState{ClaimedUntil: epoch})
		until := now.Add(30 * time.Second)
		next := document.GenerationState{Building: "b1", BuildingServer: "s1", Entity: document.Role, ClaimedUntil: until}
		ok, err := s.ClaimBuild(ctx, seen, next, now)
		expect("a first claim", true, ok, err)
		state(next)
		ok, err = s.ClaimBuild(ctx, seen, document.GenerationState{Building: "b2"}, now)
		expect("a claim by what was there before", false, ok, err)
		ok, err = s.ClaimBuild(ctx, next, document.GenerationState{Building: "b2"}, now)
		expect("a claim while another runs", false, ok, err)
		next.Entity, next.After = document.User, "7"
		ok, err = s.SaveProgress(ctx, next)
		expect("progress", true, ok, err)
		ok, err = s.SaveProgress(ctx, document.GenerationState{Building: "b2", After: "9"})
		expect("another's progress", false, ok, err)
		state(next)
		later := next
		later.ClaimedUntil = until.Add(time.Minute)
		ok, err = s.ClaimBuild(ctx, next, later, until.Add(time.Second))
		expect("a claim when the first has ended", true, ok, err)
		testenv.NoError(t, s.AbandonBuild(ctx, "b2"))
		ok, err = s.FinishBuild(ctx, "b2")
		expect("another's end", false, ok, err)
		state(later)
		ok, err = s.FinishBuild(ctx, "b1")
		expect("the end", true, ok, err)
		whole := document.GenerationState{Epoch: "b1", Server: "s1", BuildingServer: "s1", ClaimedUntil: epoch}
		state(whole)
		testenv.NoError(t, s.Invalidate(ctx, "b0"))
		state(whole)
		testenv.NoError(t, s.Invalidate(ctx, "b1"))
		whole.Epoch = ""
		state(whole)
	})
}

// Find returns pages in the order of ids and the total; a value that no column can have matches nothing.
func TestFind(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		testenv.NoError(t, h.Fill(ctx, 200, 3))
		where := func(pairs ...string) (all []document.Where) {
			for i := 0; i < len(pairs); i += 2 {
				all = append(all, document.Where{Index: document.User.Index(pairs[i]), Value: pairs[i+1]})
			}
			return all
		}
		for _, q := range []struct {
			where         []document.Where
			offset, limit int
			want          string
			total         int
		}{
			{nil, 0, 3, "1 2 3", 200},
			{nil, 199, 3, "200", 200},
			{nil, 500, 3, "", 200},
			{where("province", "Province 5 "), 0, 9, "5 68 131 194", 4},
			{where("province", "province 5"), 1, 2, "68 131", 4},
			{where("province", "province 5", "registered", "no"), 0, 9, "68 194", 2},
			{where("province", "province 5", "city", "CITY 68"), 0, 9, "68", 1},
			{where("registered", "yes"), 98, 9, "197 199", 100},
			{where("registered", "maybe"), 0, 9, "", 0},
			{where("city", "  "), 0, 9, "", 0},
			{where("city", "nowhere"), 0, 9, "", 0},
		} {
			ids, total, err := s.Find(ctx, document.User, q.where, q.offset, q.limit)
			if got := strings.Join(ids, " "); got != q.want || total != q.total || err != nil {
				t.Errorf("%v: %q of %d, %v; want %q of %d", q, got, total, err, q.want, q.total)
			}
		}
		order := document.Where{Index: document.Order.Index("user"), Value: "2"}
		ids, total, err := s.Find(ctx, document.Order, []document.Where{order}, 0, 5)
		if err != nil || total != 1 || len(ids) != 1 {
			t.Error(ids, total, err)
		}
		order.Index, order.Value = document.OrderDetail.Index("order"), ids[0]
		lines, total, err := s.Find(ctx, document.OrderDetail, []document.Where{order}, 1, 5)
		if d := cmp.Diff([]string{ids[0] + "-2", ids[0] + "-3"}, lines); err != nil || total != 3 || d != "" {
			t.Error(total, err, d)
		}
	})
}

// Walking an entity returns each id once and in order; lines of orders by number.
func TestIDs(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		testenv.NoError(t, h.Fill(ctx, 25, 12))
		for e, want := range map[*document.Entity]int{document.User: 25, document.Order: 12, document.OrderDetail: 36, document.Cart: 0} {
			var all []string
			for after := ""; ; {
				ids := testenv.Must(s.IDs(ctx, e, after, 7))(t)
				if len(ids) == 0 {
					break
				}
				all, after = append(all, ids...), ids[len(ids)-1]
			}
			sorted := slices.Clone(all)
			slices.SortFunc(sorted, func(a, b string) int {
				if e.Numeric {
					x, _ := strconv.Atoi(a)
					y, _ := strconv.Atoi(b)
					return x - y
				}
				return strings.Compare(a, b)
			})
			if d := cmp.Diff(sorted, all); len(slices.Compact(sorted)) != want || d != "" {
				t.Errorf("%s: %d ids (-want +got):\n%s", e.Name, len(all), d)
			}
		}
	})
}

// Lines are read by their own ids or by their order's, other entities by their ids. Text that is not an id matches
// nothing.
func TestRead(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		testenv.NoError(t, h.Fill(ctx, 3, 2))
		orders := testenv.Must(s.IDs(ctx, document.Order, "", 9))(t)
		for _, q := range []struct {
			e    *document.Entity
			ids  []string
			want int
		}{
			{document.User, []string{"1", "3", "9", "03", "x", "", "-1", "9223372036854775808"}, 2},
			{document.Order, []string{orders[0], "x", "'"}, 1},
			{document.OrderDetail, []string{orders[0]}, 3},
			{document.OrderDetail, []string{orders[0] + "-2", orders[1] + "-3", orders[1] + "-9", orders[1] + "-x", orders[1] + "-02"}, 2},
			{document.OrderDetail, []string{orders[1], orders[1] + "-1"}, 3},
			{document.User, nil, 0},
		} {
			docs, err := s.Read(ctx, q.e, q.ids)
			if err != nil || len(docs) != q.want {
				t.Errorf("%s %v: %d documents, %v", q.e.Name, q.ids, len(docs), err)
			}
		}
	})
}

// A line whose total would overflow a column is read like the others, and does not prevent reading them.
func TestRead_total_too_large(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		insertAll(t, h)
		for _, q := range []struct{ quantity, price int64 }{
			{1 << 31, 1 << 53}, {math.MaxInt64, math.MaxInt64}, {2, 1 << 62}, {1, math.MaxInt64}, {math.MaxInt64, 0}, {20, 5},
		} {
			_, err := h.DB.Exec(ctx, documenttest.Statement("UPDATE cart_detail SET quantity = $1, price = $2 WHERE id = 8"), q.quantity, q.price)
			testenv.NoError(t, err)
			want := strconv.FormatInt(math.MaxInt64, 10)
			if q.price <= math.MaxInt64/q.quantity {
				want = strconv.FormatInt(q.quantity*q.price, 10)
			}
			docs := testenv.Must(s.Read(ctx, document.CartDetail, []string{"8", "9"}))(t)
			slices.SortFunc(docs, func(a, b document.Document) int { return strings.Compare(a.ID, b.ID) })
			if total, _ := document.PeekField(docs[0].JSON, "total"); len(docs) != 2 || total != want {
				t.Errorf("the total of %v is %q; want %s", q, total, want)
			}
		}
	})
}

// Rows are found by every unique value, under the comparison rules of its index.
func TestOwners(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		testenv.NoError(t, h.PutRole(ctx, 1, "Chef"), h.PutUser(ctx, documenttest.User{
			ID: 4, Username: "an", Email: "an@example.com", Phone: "+8490", Device: "d1", Google: "G1", Role: 1,
		}), h.PutCart(ctx, 9, 4), h.PutOrder(ctx, "06gvt0kfe5o015mr1000000001", "PLACED", 4, "VNPAYa"))
		for _, q := range []struct {
			e            *document.Entity
			index, value string
			want         map[string]string
		}{
			{document.User, "email", " AN@Example.com", map[string]string{"an@example.com": "4"}},
			{document.User, "username", "AN", map[string]string{"an": "4"}},
			{document.User, "phone", "+8490", map[string]string{"+8490": "4"}},
			{document.User, "device", "D1", map[string]string{"d1": "4"}},
			{document.User, "google", "G1", map[string]string{"G1": "4"}},
			{document.User, "google", "g1", map[string]string{}},
			{document.User, "email", "", map[string]string{}},
			{document.Role, "name", "Chef", map[string]string{"Chef": "1"}},
			{document.Role, "name", "CHEF", map[string]string{}},
			{document.Cart, "user", "4", map[string]string{"4": "9"}},
			{document.Cart, "user", "x", map[string]string{}},
			{document.Order, "paymentRef", "VNPAYa", map[string]string{"VNPAYa": "06gvt0kfe5o015mr1000000001"}},
		} {
			got, err := s.Owners(ctx, q.e, q.e.Index(q.index), []string{q.value, "nobody"})
			if d := cmp.Diff(q.want, got); err != nil || d != "" {
				t.Errorf("%s by %s %q: error %v, (-want +got):\n%s", q.e.Name, q.index, q.value, err, d)
			}
		}
	})
}

package documentredis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/queue"
	"comanda/internal/testenv"
)

// machine writes rows of all kinds at random and projects them in any order, again, or not at all, through two
// processes; it loses Redis, rebuilds, and reads. A simple model predicts every result.
type machine struct {
	*fixture
	sub   *testing.T
	other *fixture // a second process on the same stores
	keeps bool     // Redis loses no keys in this run, and nothing is rebuilt

	// the model:
	users   map[int64]documenttest.User
	dishes  map[int64]int64 // category by dish
	carts   map[int64]int64 // user by cart
	details map[int64]int64 // cart by cart line
	rights  map[int64]bool  // rights of role 2
	orders  map[string]orderRow
	delayed []func(context.Context) error // delayed projections
}

type orderRow struct {
	user int64
	ref  string
}

// TestModel checks that after any sequence of operations Redis and SQL agree, and that readers never see anything that
// is not in SQL.
func TestModel(t *testing.T) {
	testenv.SequencesOf(t, testenv.Size(12, 400)) // each empties two stores and fills them again
	each(t, func(t *testing.T, r *fixture) {
		rapid.Check(t, func(rt *rapid.T) {
			m := &machine{fixture: r, sub: t, other: newFixture(r.db, r.redis)}
			m.begin(rt)
			rt.Repeat(map[string]func(*rapid.T){
				"write": m.write, "write more": m.write, "write on": m.write, "project": m.project, "hold back": m.holdBack,
				"late": m.runDelayed, "repeat": m.repeat, "trouble": m.damage, "watch": m.reconcileAll, "read": m.readAny,
			})
			m.settle(rt)
		})
	})
}

const (
	people  = 4 // numbers of ids; few, so that operations meet on the same ids
	plates  = 4
	baskets = 4
)

// begin deletes what the previous run has left.
func (m *machine) begin(t *rapid.T) {
	ctx := m.sub.Context()
	m.users, m.dishes, m.carts = map[int64]documenttest.User{}, map[int64]int64{}, map[int64]int64{}
	m.details, m.rights, m.orders = map[int64]int64{}, map[int64]bool{}, map[string]orderRow{}
	m.keeps = rapid.Bool().Draw(t, "Redis loses nothing")
	testenv.NoError(m.sub, m.data.Clear(ctx))
	flush(m.sub, m.fixture)
	testenv.NoError(m.sub, m.data.PutRole(ctx, 1, "USER"), m.data.PutRole(ctx, 2, "CHEF"), m.data.PutCategory(ctx, 1, "A"),
		m.data.PutCategory(ctx, 2, "B"))
	for p := range int64(3) {
		testenv.NoError(m.sub, m.data.PutPermission(ctx, p+1, "right "+strconv.FormatInt(p, 10)))
	}
	m.reconcileAll(t)
}

// oneOf runs one of several actions.
func oneOf(t *rapid.T, things ...func(*rapid.T)) { rapid.SampledFrom(things).Draw(t, "what")(t) }

func (m *machine) write(t *rapid.T) {
	oneOf(t, m.putUser, m.putUser, m.putUser, m.deleteUser, m.putDish, m.putCart, m.putDetail, m.deleteDetail, m.deleteCart, m.grant,
		m.putOrder)
}

func (m *machine) damage(t *rapid.T) {
	if m.keeps {
		t.Skip("nothing is lost")
	}
	oneOf(t, m.flush, m.lose, m.build)
}

func (m *machine) readAny(t *rapid.T) { oneOf(t, m.byID, m.byValue, m.find) }

var (
	emails = rapid.SampledFrom([]string{"", "a@example.com", "b@example.com", "c@example.com", "d@example.com"})
	names  = rapid.SampledFrom([]string{"", "an", "bình", "chi"})
	places = rapid.SampledFrom([]string{"", "Huế", "Hanoi", "hanoi", "Đà Nẵng"})
)

func (m *machine) putUser(t *rapid.T) {
	u := documenttest.User{
		ID: rapid.Int64Range(1, people).Draw(t, "user"), Email: emails.Draw(t, "email"), Username: names.Draw(t, "name"), Role: 1,
		Province: places.Draw(t, "province"), City: places.Draw(t, "city"), Registered: rapid.Bool().Draw(t, "registered"),
	}
	for id, o := range m.users { // SQL would refuse a value that another account has
		if id != u.ID && (u.Email != "" && o.Email == u.Email || u.Username != "" && o.Username == u.Username) {
			t.Skip("taken")
		}
	}
	testenv.NoError(t, m.data.PutUser(m.sub.Context(), u))
	m.users[u.ID] = u
}

// anyKey draws a key of a map.
func anyKey[K int64 | string, V any](t *rapid.T, of map[K]V) K {
	if len(of) == 0 {
		t.Skip("there is none")
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(of))).Draw(t, "which")
}

func (m *machine) deleteUser(t *rapid.T) {
	id := anyKey(t, m.users)
	for _, owner := range m.carts {
		if owner == id {
			t.Skip("has a cart")
		}
	}
	testenv.NoError(t, m.data.DeleteUser(m.sub.Context(), id))
	delete(m.users, id)
}

func (m *machine) putDish(t *rapid.T) {
	id, category := rapid.Int64Range(1, plates).Draw(t, "dish"), rapid.Int64Range(1, 2).Draw(t, "category")
	testenv.NoError(t, m.data.PutDish(m.sub.Context(), id, category, "dish"))
	m.dishes[id] = category
}

func (m *machine) putCart(t *rapid.T) {
	id, owner := rapid.Int64Range(1, baskets).Draw(t, "cart"), anyKey(t, m.users)
	for c, o := range m.carts {
		if o == owner && c != id {
			t.Skip("has one")
		}
	}
	testenv.NoError(t, m.data.PutCart(m.sub.Context(), id, owner))
	m.carts[id] = owner
}

func (m *machine) putDetail(t *rapid.T) {
	cart, dish := anyKey(t, m.carts), anyKey(t, m.dishes)
	id := cart*100 + dish
	testenv.NoError(t, m.data.PutDetail(m.sub.Context(), id, cart, dish, rapid.Int64Range(1, 9).Draw(t, "quantity")))
	m.details[id] = cart
}

func (m *machine) deleteDetail(t *rapid.T) {
	id := anyKey(t, m.details)
	testenv.NoError(t, m.data.DeleteDetail(m.sub.Context(), id))
	delete(m.details, id)
}

func (m *machine) deleteCart(t *rapid.T) {
	id := anyKey(t, m.carts)
	testenv.NoError(t, m.data.DeleteCart(m.sub.Context(), id))
	delete(m.carts, id)
	maps.DeleteFunc(m.details, func(_, cart int64) bool { return cart == id })
}

func (m *machine) grant(t *rapid.T) {
	right, give := rapid.Int64Range(1, 3).Draw(t, "right"), rapid.Bool().Draw(t, "give")
	testenv.NoError(t, m.data.Grant(m.sub.Context(), 2, right, give))
	if m.rights[right] = give; !give {
		delete(m.rights, right)
	}
}

func (m *machine) putOrder(t *rapid.T) {
	ref := rapid.SampledFrom([]string{"", "A1", "a1", "B2"}).Draw(t, "ref")
	id := fmt.Sprintf("06gvt0kfe5o015mr100000000%d", rapid.IntRange(1, 3).Draw(t, "order"))
	row := orderRow{rapid.Int64Range(0, people).Draw(t, "user"), ref}
	for other, o := range m.orders {
		if ref != "" && other != id && o.ref == ref {
			t.Skip("taken")
		}
	}
	if order, ok := m.orders[id]; ok {
		row.user = order.user // an order never changes hands
	}
	testenv.NoError(t, m.data.PutOrder(m.sub.Context(), id, "PLACED", row.user, ref))
	if _, ok := m.orders[id]; !ok {
		testenv.NoError(t, m.data.PutLine(m.sub.Context(), id, 1, 1))
	}
	m.orders[id] = row
}

// project runs the projector of one of the processes once.
func (m *machine) project(t *rapid.T) {
	p := m.projector
	if rapid.Bool().Draw(t, "other process") {
		p = m.other.projector
	}
	testenv.NoError(t, p.RunOnce(m.sub.Context()))
}

// holdBack makes a process read documents and delays writing them.
func (m *machine) holdBack(t *rapid.T) {
	claimed, err := m.sql.Claim(m.sub.Context(), m.db.Now(), m.db.Now().Add(time.Millisecond), rapid.IntRange(1, 5).Draw(t, "rows"))
	testenv.NoError(t, err)
	for _, c := range claimed {
		docs := m.read(t, c.Entity, c.IDs)
		m.delayed = append(m.delayed, func(ctx context.Context) error {
			a, err := m.other.store.Apply(ctx, docs)
			m.other.projector.Touch(slices.Concat(a.Lost, a.Displaced)...)
			return err
		})
		if rapid.Bool().Draw(t, "settles at once") {
			m.delayed = append(m.delayed, func(ctx context.Context) error { return m.projector.Project(ctx, refs(c), dead(c)) })
			testenv.NoError(t, m.sql.DeleteQueued(m.sub.Context(), []string{c.ID}))
		} else {
			now := m.db.Now()
			testenv.NoError(t, m.sql.RecordFailures(m.sub.Context(), now, queue.Released(c.ID, c.Attempts, now)))
		}
	}
}

func refs(c document.Claimed) []document.Ref {
	all := make([]document.Ref, len(c.IDs))
	for i, id := range c.IDs {
		all[i] = document.Ref{Entity: c.Entity, ID: id}
	}
	return all
}

func dead(c document.Claimed) map[document.Ref]int64 {
	all := map[document.Ref]int64{}
	for id, version := range c.Deleted {
		all[document.Ref{Entity: c.Entity, ID: id}] = version
	}
	return all
}

func (m *machine) read(t *rapid.T, e *document.Entity, ids []string) []document.Document {
	docs := testenv.Must(m.sql.Read(m.sub.Context(), e, ids))(t)
	return docs
}

// runDelayed runs one of the delayed projections, in any order.
func (m *machine) runDelayed(t *rapid.T) {
	if len(m.delayed) == 0 {
		t.Skip("nothing is late")
	}
	i := rapid.IntRange(0, len(m.delayed)-1).Draw(t, "which")
	testenv.NoError(t, m.delayed[i](m.sub.Context()))
	m.delayed = slices.Delete(m.delayed, i, i+1)
}

// repeat projects documents that have not changed.
func (m *machine) repeat(t *rapid.T) {
	id := strconv.FormatInt(rapid.Int64Range(1, people).Draw(t, "id"), 10)
	e := rapid.SampledFrom([]*document.Entity{document.User, document.Cart, document.Role, document.Dish}).Draw(t, "entity")
	testenv.NoError(t, m.projector.Project(m.sub.Context(), []document.Ref{{Entity: e, ID: id}}, nil))
}

func (m *machine) flush(*rapid.T) { flush(m.sub, m.fixture) }

// lose deletes a random key, as an eviction does. The document's next reader may find nothing, but never a wrong value.
func (m *machine) lose(t *rapid.T) {
	key := fmt.Sprintf(rapid.SampledFrom([]string{"user:%d", "memo:{user:%d}", "cart:index:user:%d", "cart:%d"}).Draw(t, "key"),
		rapid.Int64Range(1, people).Draw(t, "id"))
	testenv.NoError(t, m.redis.Do(m.sub.Context(), "DEL", keyOf(m.sub, key)).Err())
}

func (m *machine) build(t *rapid.T) {
	testenv.NoError(t, m.builder().Build(m.sub.Context()))
}

func (m *machine) reconcileAll(t *rapid.T) {
	testenv.NoError(t, m.generation.Reconcile(m.sub.Context()))
	testenv.NoError(t, m.other.generation.Reconcile(m.sub.Context()))
}

// byID checks that every document that is found belongs to a row that existed.
func (m *machine) byID(t *rapid.T) {
	id := rapid.Int64Range(1, people).Draw(t, "id")
	d, found := testenv.Must2(m.reader.Get(m.sub.Context(), document.User, strconv.FormatInt(id, 10)))(t)
	if _, ok := m.users[id]; ok && !found {
		t.Fatalf("user %d is not found", id)
	}
	if got, ok := document.PeekField(d.JSON, "id"); found && (!ok || got != d.ID) {
		t.Fatalf("%s is %s", d.ID, d.JSON)
	}
}

// byValue checks that an account found by a value has it, and that an account with the value is found.
func (m *machine) byValue(t *rapid.T) {
	email := emails.Filter(func(s string) bool { return s != "" }).Draw(t, "email")
	d, found := testenv.Must2(m.reader.FindUnique(m.sub.Context(), document.User, "email", email))(t)
	if got, _ := document.PeekField(d.JSON, "email"); found && got != email {
		t.Fatalf("by %s: %s", email, d.JSON)
	}
	for id, u := range m.users {
		if u.Email == email && !found {
			t.Fatalf("user %d has %s and is not found", id, email)
		}
	}
}

// find checks that every account that a search returns has the values searched for.
func (m *machine) find(t *rapid.T) {
	f := m.filter(t)
	docs, _ := testenv.Must2(m.reader.Find(m.sub.Context(), document.User, f, document.Page{Limit: people}))(t)
	for _, d := range docs {
		for name, value := range f {
			x := document.User.Index(name)
			encoded, _ := x.Encode(value)
			if !document.HasEntry(d.JSON, document.IndexEntry{Index: x, Value: encoded}) {
				t.Fatalf("by %v: %s", f, d.JSON)
			}
		}
	}
}

func (m *machine) filter(t *rapid.T) document.Filter {
	f := document.Filter{}
	if p := places.Draw(t, "province"); p != "" {
		f["province"] = p
	}
	if c := places.Draw(t, "city"); c != "" {
		f["city"] = c
	}
	if rapid.Bool().Draw(t, "registered") {
		f["registered"] = "no"
	}
	return f
}

// settle ends the run: when nothing is pending any more, Redis equals SQL, and every reader returns the model's values.
func (m *machine) settle(t *rapid.T) {
	for len(m.delayed) > 0 {
		m.runDelayed(t)
	}
	testenv.NoError(t, m.other.projector.RunOnce(m.sub.Context()))
	testenv.NoError(t, m.projector.RunOnce(m.sub.Context()))
	if !m.keeps {
		testenv.NoError(t, m.builder().Build(m.sub.Context()))
	}
	m.reconcileAll(t)
	v := m.verify(m.sub)
	// Between two counts of a list, a process does not see what the other one adds, and may leave its counter too low. The
	// sampler finds that and has everything written again. How long the list is not counted depends on the machine.
	if v.Found[document.CounterLow] > 0 && len(v.Found) == 1 {
		testenv.NoError(t, m.builder().Build(m.sub.Context()))
		v = m.verify(m.sub)
	}
	if !v.Clean {
		t.Fatalf("found %v: %v", v.Found, v.Samples)
	}
	m.compare(t)
}

// compare reads everything from Redis and from SQL.
func (m *machine) compare(t *rapid.T) {
	f := m.filter(t)
	var want []string
	for _, id := range slices.Sorted(maps.Keys(m.users)) {
		if fits(m.users[id], f) {
			want = append(want, strconv.FormatInt(id, 10))
		}
	}
	for _, warm := range []bool{true, false} {
		if !warm {
			m.generation.Invalidate()
		}
		var got []string
		for offset := 0; offset <= len(want); offset += 2 {
			docs, total, err := m.reader.Find(m.sub.Context(), document.User, f, document.Page{Offset: offset, Limit: 2})
			testenv.NoError(t, err)
			if got = append(got, idsOf(docs)...); total != len(want) {
				t.Fatalf("warm %v: %v finds %d, want %d", warm, f, total, len(want))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("warm %v: by %v (-want +got):\n%s", warm, f, d)
		}
		for e, n := range map[*document.Entity]int{
			document.Cart: len(m.carts), document.CartDetail: len(m.details), document.Dish: len(m.dishes), document.Order: len(m.orders),
			document.OrderDetail: len(m.orders), document.Role: 2, document.Permission: 3, document.Category: 2,
		} {
			if _, total, err := m.reader.Find(m.sub.Context(), e, nil, document.Page{Limit: 1}); err != nil || total != n {
				t.Fatalf("warm %v: %d of %s, want %d, %v", warm, total, e.Name, n, err)
			}
		}
	}
}

// fits reports whether an account has all values in the model.
func fits(u documenttest.User, f document.Filter) bool {
	fold := func(s string) string { // A-Z alone, as both engines do it
		return strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}, s)
	}
	for name, value := range f {
		has := map[string]string{"province": fold(u.Province), "city": fold(u.City), "registered": "no"}[name]
		if name == "registered" && u.Registered {
			return false
		}
		if name != "registered" && has != fold(value) {
			return false
		}
	}
	return true
}

package cartsql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/cart/carttest"
	"comanda/internal/document/documentsql"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// member is the model of a member's cart.
type member struct {
	id      int64
	cart    int64 // id; 0 for none
	branch  int64
	version int64
	lines   []cart.Line // without versions
}

type model struct {
	processes   [2]*carttest.Fixture // the services of two processes
	mirror      *carttest.Documents
	members     []*member
	deletedKeys []string // keys of deleted documents
}

// TestModel changes the carts of several members concurrently in two processes, and orders delete them. After every step each
// cart equals the model; at the end the documents in Redis do too.
func TestModel(t *testing.T) {
	test := func(t *testing.T, db *sqldb.DB, redis *redisdb.DB) {
		quotas := make([]int64, cart.MaxLines+10)
		for i := range quotas {
			quotas[i] = stock.Unlimited
		}
		fixture := carttest.Open(t, db, quotas...)
		processes := [2]*carttest.Fixture{fixture, carttest.OpenProcess(t, fixture.Restaurant, fixture.Clock)}
		m, last := carttest.NewDocuments(fixture.Restaurant, redis), atomic.Int64{}
		rapid.Check(t, func(t *rapid.T) {
			s := &model{processes: processes, mirror: m}
			for range 3 {
				actor := fixture.Member(t, last.Add(1))
				s.members = append(s.members, &member{id: actor.UserID})
			}
			t.Repeat(map[string]func(*rapid.T){"change": s.change, "more": s.change, "take": s.deleteCart, "": s.check})
			s.wantDocuments(t)
		})
	}
	t.Run("sqlite,embedded", func(t *testing.T) { test(t, sqldbtest.SQLite(t), redisdbtest.Embedded(t)) })
	t.Run("postgres,redis", func(t *testing.T) {
		redis := redisdbtest.Redis(t)
		test(t, sqldbtest.Postgres(t), redis)
	})
}

// change makes one change per member, all at once.
func (s *model) change(t *rapid.T) {
	changes := make([]cart.Change, len(s.members))
	for i, m := range s.members {
		changes[i] = m.draw(t)
	}
	stores := make([]*cartsql.Store, len(changes))
	for i := range stores {
		stores[i] = s.processes[rapid.IntRange(0, 1).Draw(t, "process")].Store
	}
	carts, failures := make([]cart.Cart, len(changes)), make([]error, len(changes))
	var wg sync.WaitGroup
	for i, c := range changes {
		wg.Go(func() { carts[i], _, failures[i] = stores[i].Change(context.Background(), c) })
	}
	wg.Wait()
	for i, m := range s.members {
		before := *m
		want := m.apply(changes[i])
		if !errors.Is(failures[i], want) || (want == nil) != (failures[i] == nil) {
			t.Fatalf("%+v of %+v: %v, want %v", changes[i], before, failures[i], want)
		}
		if want == nil {
			s.adopt(t, m, before, carts[i])
		}
	}
}

// draw draws a change, sometimes of a line that does not exist.
func (m *member) draw(t *rapid.T) cart.Change {
	c := cart.Change{UserID: m.id}
	line := int64(1)
	if len(m.lines) > 0 {
		line = m.lines[rapid.IntRange(0, len(m.lines)-1).Draw(t, "line")].ID
	}
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		c.Empty = true
	case 1, 2:
		c.Remove = line
	case 3, 4:
		c.Set = &cart.Set{Line: line, Quantity: rapid.Int64Range(1, 21).Draw(t, "quantity")}
	default:
		c.Add = &cart.Add{
			DishID: 100 + rapid.Int64Range(1, 8).Draw(t, "dish"), Quantity: rapid.Int64Range(1, 9).Draw(t, "quantity"),
			Price: rapid.Int64Range(1, 3).Draw(t, "price") * 1000, BranchID: rapid.Int64Range(0, 1).Draw(t, "branch"),
		}
	}
	return c
}

// apply applies a change to the model, as plainly as possible.
func (m *member) apply(c cart.Change) error {
	at := slices.IndexFunc(m.lines, func(l cart.Line) bool {
		return c.Add != nil && l.DishID == c.Add.DishID || c.Set != nil && l.ID == c.Set.Line || c.Remove == l.ID
	})
	var units int64
	for _, l := range m.lines {
		units += l.Quantity
	}
	switch {
	case c.Empty:
		m.lines = nil
	case c.Remove != 0 && at < 0, c.Set != nil && at < 0:
		return cart.ErrLine
	case c.Remove != 0:
		m.lines = slices.Delete(slices.Clone(m.lines), at, at+1)
	case c.Set != nil:
		return m.put(at, c.Set.Quantity, m.lines[at].Price, units)
	case at < 0:
		if units+c.Add.Quantity > cart.MaxUnits {
			return cart.ErrUnits
		}
		m.lines = append(slices.Clone(m.lines), cart.Line{DishID: c.Add.DishID, Quantity: c.Add.Quantity, Price: c.Add.Price})
	default:
		if err := m.put(at, m.lines[at].Quantity+c.Add.Quantity, c.Add.Price, units); err != nil {
			return err
		}
	}
	if c.Add != nil && c.Add.BranchID != 0 {
		m.branch = c.Add.BranchID
	}
	return nil
}

func (m *member) put(at int, quantity, price, units int64) error {
	had := m.lines[at].Quantity
	switch {
	case quantity > cart.MaxQuantity:
		return cart.ErrQuantity
	case quantity > had && units+quantity-had > cart.MaxUnits:
		return cart.ErrUnits
	}
	m.lines = slices.Clone(m.lines)
	m.lines[at].Quantity, m.lines[at].Price = quantity, price
	return nil
}

// adopt compares a cart after its change, and copies the values that only the store sets: ids and the version, which
// must increase if anything changed.
func (s *model) adopt(t *rapid.T, m *member, before member, got cart.Cart) {
	for i := range got.Lines {
		if i < len(m.lines) && m.lines[i].ID == 0 {
			m.lines[i].ID = got.Lines[i].ID
		}
	}
	if m.cart == 0 {
		m.cart = got.ID
	}
	same := before.cart == got.ID && before.branch == got.BranchID && slices.Equal(before.lines, plain(got.Lines))
	if got.Version < before.version || !same && got.Version == before.version {
		t.Fatalf("version %d after %d: %+v", got.Version, before.version, got)
	}
	for _, l := range before.lines {
		if !slices.ContainsFunc(got.Lines, func(n cart.Line) bool { return n.ID == l.ID }) {
			s.deletedKeys = append(s.deletedKeys, fmt.Sprint("cartDetail:", l.ID))
		}
	}
	m.version = got.Version
	m.compare(t, got)
}

func (m *member) compare(t *rapid.T, got cart.Cart) {
	if got.UserID != m.id || got.ID != m.cart || got.BranchID != m.branch || got.Version != m.version {
		t.Fatalf("%+v, want %+v", got, m)
	}
	if diff := cmp.Diff(m.lines, plain(got.Lines)); diff != "" && len(m.lines)+len(got.Lines) > 0 {
		t.Fatal(diff)
	}
}

func plain(lines []cart.Line) []cart.Line {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Version = 0
	}
	return lines
}

func (s *model) check(t *rapid.T) {
	for _, m := range s.members {
		got := testenv.Must(s.processes[0].Store.Cart(context.Background(), m.id))(t)
		m.compare(t, got)
	}
}

// deleteCart deletes a cart as an order does.
func (s *model) deleteCart(t *rapid.T) {
	m := s.members[rapid.IntRange(0, len(s.members)-1).Draw(t, "member")]
	h := s.processes[0]
	testenv.NoError(t, h.DB.Write(context.Background(), func(ctx context.Context, tx sqldb.Tx) error {
		carts := map[int64]cart.Cart{}
		cartsql.QueueLock(tx, []int64{m.id}, carts)
		err := tx.Flush(ctx)
		if c, ok := carts[m.id]; ok {
			documentsql.Queue(tx, h.Clock.Now(), cartsql.QueueDelete(tx, []cart.Cart{c})...)
		}
		return err
	}))
	if m.cart != 0 {
		s.deletedKeys = append(s.deletedKeys, fmt.Sprint("cart:", m.cart), fmt.Sprintf("cart:%d:items", m.cart),
			fmt.Sprint("cartDetail:index:cart:", m.cart))
	}
	for _, l := range m.lines {
		s.deletedKeys = append(s.deletedKeys, fmt.Sprint("cartDetail:", l.ID))
	}
	*m = member{id: m.id}
}

// wantDocuments checks sections 2.1, 2.2 and 5.1 to 5.4 of restaurant-redis.md: the keys of every cart, and that
// removed and ordered lines have none.
func (s *model) wantDocuments(t *rapid.T) {
	s.mirror.Verify(t)
	for _, m := range s.members {
		of, byUser := fmt.Sprintf("user:%d:cart", m.id), fmt.Sprint("cart:index:user:", m.id)
		id := strconv.FormatInt(m.cart, 10)
		for _, key := range []string{of, byUser} {
			if got, missing := s.mirror.Get(t, key); missing != (m.cart == 0) || !missing && got != id {
				t.Fatalf("%s is %q, want %s", key, got, id)
			}
		}
		if m.cart == 0 {
			continue
		}
		var lines []string
		for _, l := range m.lines {
			lines = append(lines, strconv.FormatInt(l.ID, 10))
			s.line(t, m, l)
		}
		for _, key := range []string{"cart:" + id + ":items", "cartDetail:index:cart:" + id} {
			if got, _ := s.mirror.Get(t, key); got != strings.Join(lines, ",") {
				t.Fatalf("%s holds %s, want %v", key, got, lines)
			}
		}
		s.document(t, "cart:"+id, map[string]any{"id": id, "userId": strconv.FormatInt(m.id, 10), "version": float64(m.version)})
	}
	for _, key := range s.deletedKeys {
		if got, missing := s.mirror.Get(t, key); !missing {
			t.Fatalf("%s is still %s", key, got)
		}
	}
}

func (s *model) line(t *rapid.T, m *member, l cart.Line) {
	s.document(t, fmt.Sprint("cartDetail:", l.ID), map[string]any{
		"id": strconv.FormatInt(l.ID, 10), "cartId": strconv.FormatInt(m.cart, 10), "dishId": strconv.FormatInt(l.DishID, 10),
		"quantity": float64(l.Quantity), "price": float64(l.Price), "total": float64(l.Quantity * l.Price),
	})
}

func (s *model) document(t *rapid.T, key string, want map[string]any) {
	text, _ := s.mirror.Get(t, key)
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%s is %q: %v", key, text, err)
	}
	for field, v := range want {
		if got[field] != v {
			t.Fatalf("%s of %s is %v, want %v: %s", field, key, got[field], v, text)
		}
	}
}
